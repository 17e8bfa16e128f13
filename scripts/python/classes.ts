/** From JSON Schema to Python: a `TypedDict` for each object, with what its fields mean. */
import { type Shape, type Side, typeText, withoutText } from '../schema-table.ts';
import { className } from '../text.ts';
import { comment, docstring, isField, itemName } from './text.ts';

/** Writes the classes of one module. */
export class ClassWriter {
  /** The source so far: one text for each class. */
  readonly sources: string[] = [];
  /** Classes that are not parts of others, in order. */
  readonly tops: string[] = [];
  /** Names of other modules that were used. */
  readonly used = new Set<string>();
  readonly #names = new Set<string>();
  readonly #side: Side;
  readonly #known: ReadonlyMap<string, string>;

  /** @param known - names of objects that have a class elsewhere, by their shapes without text */
  constructor(side: Side, known: ReadonlyMap<string, string>) {
    this.#side = side;
    this.#known = known;
  }

  /** Writes a class that is not a part of another. */
  writeTop(name: string, shape: Shape, about: string): void {
    this.tops.push(name);
    this.#write(name, shape, about);
  }

  /** Objects in it get classes too. */
  #write(name: string, shape: Shape, about: string): string {
    if (this.#names.has(name)) throw new Error(`two Python classes would be called ${name}`);
    this.#names.add(name);
    const required = new Set(shape.required ?? []);
    const fields = Object.entries(shape.properties ?? {}).map(([key, field]) => {
      const type = this.type(field, name + className(key), name, key);
      return { key, type: required.has(key) ? type : `NotRequired[${type}]`, about: fieldText(field) };
    });
    this.sources.push(
      fields.every(({ key }) => isField(key)) ? byClass(name, about, fields) : byCall(name, about, fields),
    );
    return name;
  }

  /** The type of a shape; objects in it get classes of their own. */
  type(shape: Shape, name: string, parent = name, key = ''): string {
    if (shape.const !== undefined) return literal([shape.const]);
    if (shape.enum !== undefined) return literal(shape.enum);
    const alternatives = shape.anyOf ?? shape.oneOf;
    if (alternatives !== undefined) {
      const types = alternatives.map((one, index) => this.type(one, name + alternativeName(one, index), parent, key));
      return [...new Set(types)].join(' | ');
    }
    const input = this.#side === 'input';
    switch (shape.type) {
      case 'array':
        return `${input ? 'Sequence' : 'list'}[${this.type(shape.items ?? {}, parent + itemName(key), parent, key)}]`;
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'boolean':
        return 'bool';
      case 'string':
        return 'str';
      case 'object':
        return this.#object(shape, name, parent);
      default:
        return 'Any';
    }
  }

  #object(shape: Shape, name: string, parent: string): string {
    const elsewhere = this.#known.get(withoutText(shape));
    if (elsewhere !== undefined) {
      this.used.add(elsewhere);
      return elsewhere;
    }
    if (shape.properties !== undefined) return this.#write(name, shape, shape.description ?? partOf(shape, parent));
    const { additionalProperties: values } = shape;
    const type = typeof values === 'object' ? this.type(values, `${name}Value`) : 'Any';
    return `${this.#side === 'input' ? 'Mapping' : 'dict'}[str, ${type}]`;
  }
}

interface Field {
  readonly key: string;
  readonly type: string;
  readonly about: string;
}

function byClass(name: string, about: string, fields: readonly Field[]): string {
  const lines = [`class ${name}(TypedDict):`, ...docstring(about, '    ')];
  for (const { key, type, about: text } of fields) {
    lines.push('', ...broken(`    ${key}: ${type}`), ...(text === '' ? [] : docstring(text, '    ')));
  }
  return lines.join('\n');
}

/** A field whose type has many alternatives, one a line. */
function broken(line: string): string[] {
  const [, start, type] = /^( *\w+: )(.*)$/.exec(line) ?? [];
  if (line.length <= 110 || type === undefined || !type.includes(' | ') || line.includes('[')) return [line];
  return [`${start}(`, ...type.split(' | ').map((one, at) => `        ${at === 0 ? '' : '| '}${one}`), '    )'];
}

/** Where a key is no name in Python, a class cannot have it. */
function byCall(name: string, about: string, fields: readonly Field[]): string {
  const lines = [`${name} = TypedDict(`, `    "${name}",`, '    {'];
  for (const { key, type, about: text } of fields) {
    if (text !== '') lines.push(...comment(text, '        '));
    const [, inner] = /^NotRequired\[(.*)\]$/.exec(type) ?? [];
    const quoted = `'${inner ?? type}'`;
    lines.push(`        "${key}": ${inner === undefined ? quoted : `NotRequired[${quoted}]`},`);
  }
  lines.push('    },', ')', ...docstring(about, ''));
  return lines.join('\n');
}

/** What an object is that the schema says nothing about. */
function partOf({ properties }: Shape, parent: string): string {
  const code = properties?.code?.const;
  return typeof code === 'string' ? `Reason \`${code}\` of :class:\`${parent}\`.` : `Part of :class:\`${parent}\`.`;
}

function literal(values: readonly unknown[]): string {
  const numbers = values.filter((one) => typeof one === 'number' && !Number.isInteger(one));
  if (numbers.length > 0) return 'float';
  const words = values.map((one) => (typeof one === 'boolean' ? (one ? 'True' : 'False') : JSON.stringify(one)));
  return `Literal[${words.join(', ')}]`;
}

/** One of several objects is told from the others by what it says of itself. */
function alternativeName(shape: Shape, index: number): string {
  for (const field of Object.values(shape.properties ?? {})) {
    if (typeof field.const === 'string') return className(field.const);
  }
  return index === 0 ? '' : String(index + 1);
}

/** What a field means, its bounds, and its default. */
function fieldText(shape: Shape): string {
  const parts = [shape.description ?? ''];
  const bounded = ['integer', 'number', 'string'].includes(shape.type ?? '') && shape.const === undefined;
  const range = bounded && shape.enum === undefined ? typeText(shape) : '';
  // A type without bounds is said by the annotation.
  if (/\d/.test(range)) parts.push(`${range.charAt(0).toUpperCase()}${range.slice(1)}.`);
  if (shape.default !== undefined) parts.push(`Default: ${JSON.stringify(shape.default)}.`);
  return parts.filter((one) => one !== '').join(' ');
}
