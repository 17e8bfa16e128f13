/** What generated types say when nothing in them is a reference: so two ways to declare the same can be compared. */
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));
const words = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Files that were read: those of the language are the same for every program. */
const parsed = new Map<string, ts.SourceFile>();

/** A program of modules that are not written yet, by their paths from the root of the repository. */
function programOf(files: ReadonlyMap<string, string>): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, types: [], paths: {} }, root);
  const texts = new Map([...files].map(([file, text]) => [resolve(root, file), text]));
  const folders = new Set([...texts.keys()].map(dirname));
  const host = ts.createCompilerHost(options);
  const isGenerated = (path: string): boolean => path.startsWith(resolve(root, 'src/generated'));
  // What is on the disk in its place does not count.
  const textOf = (path: string): string | undefined =>
    texts.get(resolve(path)) ?? (isGenerated(resolve(path)) ? undefined : ts.sys.readFile(path));
  return ts.createProgram([...texts.keys()], options, {
    ...host,
    fileExists: (path) => texts.has(resolve(path)) || (!isGenerated(resolve(path)) && ts.sys.fileExists(path)),
    directoryExists: (path) => folders.has(resolve(path)) || ts.sys.directoryExists(path),
    readFile: textOf,
    getSourceFile: (path, language) => {
      const text = textOf(path);
      if (text === undefined) return undefined;
      const found = parsed.get(path);
      if (found?.text === text) return found;
      const source = ts.createSourceFile(path, text, language, true);
      parsed.set(path, source);
      return source;
    },
  });
}

class Expander {
  readonly #checker: ts.TypeChecker;
  readonly #open = new Set<ts.Type>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  /** A type in full; the order of the members of a union, and that of fields, is no part of it. */
  type(type: ts.Type): string {
    if (type.isUnion()) return [...new Set(type.types.map((one) => this.type(one)))].sort().join(' | ');
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return this.#checker.typeToString(type);
    if (this.#open.has(type)) return `(${this.#checker.typeToString(type)})`;
    this.#open.add(type);
    const text = this.#object(type);
    this.#open.delete(type);
    return text;
  }

  /** What a declaration says of itself, with its tags. */
  about(symbol: ts.Symbol): string {
    const tags = symbol.getJsDocTags(this.#checker);
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
    return words([text, ...tags.map((tag) => `@${tag.name} ${ts.displayPartsToString(tag.text)}`)].join(' '));
  }

  #object(type: ts.Type): string {
    const checker = this.#checker;
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as ts.TypeReference);
      return `(${this.type(item!)})[]`;
    }
    const fields = checker.getPropertiesOfType(type).map((field) => {
      const isReadonly = ts.getCombinedModifierFlags(field.declarations![0]!) & ts.ModifierFlags.Readonly;
      const mark = field.flags & ts.SymbolFlags.Optional ? '?' : '';
      const start = `${isReadonly ? 'readonly ' : ''}${field.name}${mark}`;
      return `/** ${this.about(field)} */ ${start}: ${this.type(checker.getTypeOfSymbol(field))};`;
    });
    const rest = checker
      .getIndexInfosOfType(type)
      .map((one) => `[${checker.typeToString(one.keyType)}]: ${this.type(one.type)};`);
    return ['{', ...fields.sort(), ...rest, '}'].join(' ');
  }
}

/**
 * Every type that generated modules declare, in full, by its module and name: fields, which of them may be absent, their types,
 * and what is said of each.
 *
 * @throws Error if a module does not compile
 */
export function expanded(files: ReadonlyMap<string, string>): Map<string, string> {
  const program = programOf(files);
  const checker = program.getTypeChecker();
  const expander = new Expander(checker);
  const found = new Map<string, string>();
  for (const file of files.keys()) {
    const source = program.getSourceFile(resolve(root, file))!;
    const [wrong] = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    if (wrong !== undefined) throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(wrong.messageText, '\n')}`);
    for (const one of source.statements) {
      if (!ts.isInterfaceDeclaration(one) && !ts.isTypeAliasDeclaration(one)) continue;
      const symbol = checker.getSymbolAtLocation(one.name)!;
      const type = checker.getDeclaredTypeOfSymbol(symbol);
      found.set(`${file} ${one.name.text}`, `/** ${expander.about(symbol)} */ ${expander.type(type)}`);
    }
  }
  return found;
}
