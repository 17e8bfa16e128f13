/**
 * A plugin of typedoc: what is inferred from a schema is shown by its fields, each with type, default, unit and meaning, as the
 * tables of the guides have them, instead of `z.input<typeof …>`. The schemas are those of the source, which is loaded for it.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { register } from 'tsx/esm/api';
import { Comment, Converter, IntersectionType, IntrinsicType, ReferenceType, ReflectionKind } from 'typedoc';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Modules with schemas: they alone are loaded. */
const hasSchemas = /z\.(input|output|infer)<|z\.(strict|loose)?[oO]bject\(|define(Event|Decision)\(/;
const inferring = new Set(['z.input', 'z.output', 'z.infer']);

async function loadedModules() {
  const source = register({ namespace: 'schemas' });
  const at = (path) => source.import(pathToFileURL(path).href, import.meta.url);
  const { rowsOf, shapeOf, table, typeText, unitOf } = await at(`${root}scripts/tables/schema-table.ts`);
  const modules = new Map();
  for (const path of ts.sys.readDirectory(`${root}src`, ['.ts'], ['**/cli/**', '**/report/**'])) {
    if (hasSchemas.test(readFileSync(path, 'utf8'))) modules.set(path, await at(path));
  }
  return { modules, rowsOf, shapeOf, table, typeText, unitOf };
}

/** What a type is inferred from: the file of a schema's declaration, and its name. */
function inferredFrom(node, checker) {
  if (!ts.isTypeReferenceNode(node)) return undefined;
  const isReadonly = node.typeName.getText() === 'Readonly' && ts.isTypeReferenceNode(node.typeArguments[0]);
  const inferred = isReadonly ? node.typeArguments[0] : node;
  const [given] = inferred.typeArguments ?? [];
  if (!inferring.has(inferred.typeName.getText()) || given === undefined || !ts.isTypeQueryNode(given))
    return undefined;
  const found = checker.getSymbolAtLocation(given.exprName);
  const symbol = found && found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
  const declaration = symbol?.declarations?.[0];
  return declaration && { file: declaration.getSourceFile().fileName, name: symbol.name };
}

/** The schemas of an alias, some of which may be joined, or that a variable is. */
function schemasAt(node, checker) {
  if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name))
    return [{ file: node.getSourceFile().fileName, name: node.name.text }];
  if (!ts.isTypeAliasDeclaration(node)) return [];
  const { type } = node;
  const parts = ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type) ? type.types : [type];
  const schemas = parts.map((part) => inferredFrom(part, checker));
  // Of a union all of them; beside a schema an intersection may have fields that stand there.
  if (!ts.isIntersectionTypeNode(type) && schemas.includes(undefined)) return [];
  return schemas.filter((one) => one !== undefined);
}

/** The shapes that a union may have, each by itself. */
const alternativesOf = (shape) => (shape.oneOf ?? shape.anyOf)?.flatMap(alternativesOf) ?? [shape];

export async function load(app) {
  const { modules, rowsOf, shapeOf, table, typeText, unitOf } = await loadedModules();

  /** The fields of a schema, or of a word of the vocabulary; nothing where there are none. */
  function fieldsOf(value) {
    const schema = value?.schema?._zod === undefined ? value : value.schema;
    if (schema?._zod === undefined || typeof schema.safeParse !== 'function') return undefined;
    const alternatives = alternativesOf(shapeOf(schema));
    const texts = alternatives.map(textOf);
    if (texts.every((one) => !one.startsWith('|'))) return undefined;
    return texts.join('\n\nor\n\n');
  }

  function textOf(shape) {
    const rows = rowsOf(shape, '', true);
    if (rows.length === 0) return typeText(shape);
    return table(
      ['field', 'type, unit', 'default', 'meaning'],
      rows.map((row) => [
        `\`${row.name}\``,
        [row.type, unitOf(row.name.replace(/^.*\./, ''))].filter((one) => one !== '').join(', '),
        row.default === '' ? (row.required ? 'required' : '') : `\`${row.default}\``,
        row.description,
      ]),
    );
  }

  const found = new Map();
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (!reflection.kindOf(ReflectionKind.TypeAlias | ReflectionKind.Variable)) return;
    for (const node of context.getSymbolFromReflection(reflection)?.declarations ?? []) {
      const values = schemasAt(node, context.checker).map(({ file, name }) => modules.get(file)?.[name]);
      if (values.length > 0 && !values.includes(undefined)) found.set(reflection, values);
    }
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, () => {
    for (const [reflection, values] of found) {
      const parts = values.map(fieldsOf);
      if (parts.includes(undefined)) continue;
      const [value] = values;
      const fields = parts.join('\n\nor\n\n');
      reflection.comment ??= new Comment();
      reflection.comment.summary.push({ kind: 'text', text: `\n\n${fields}` });
      // What the table says is not said again, and worse, by the inferred type.
      if (reflection.type instanceof IntersectionType)
        reflection.type.types = reflection.type.types.filter((one) => !(one instanceof ReferenceType));
      else if (reflection.kindOf(ReflectionKind.TypeAlias)) reflection.type = new IntrinsicType('object');
      else if (reflection.type instanceof ReferenceType) {
        reflection.type.typeArguments =
          value.schema === undefined ? undefined : reflection.type.typeArguments?.slice(0, 1);
      }
    }
    found.clear();
  });
}
