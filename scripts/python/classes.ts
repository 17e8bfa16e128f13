/** From JSON Schema to Python: a `TypedDict` for each object, with what its fields mean. */
import { type Shape, type Side, typeText } from '../tables/schema-table.ts';
import { className } from '../text.ts';
import { commonFields, isReasons } from './reasons.ts';
import type { Objects } from './shapes.ts';
import { comment, docstring, filled, isField, itemName, widest } from './text.ts';

/** Writes the classes of one module. */
export class ClassWriter {
  /** The source so far: one text for each class. */
  readonly sources: string[] = [];
  /** Classes that are not parts of others, in order. */
  readonly tops: string[] = [];
  /** Names of other modules that were used, by their modules. */
  readonly used = new Map<string, Set<string>>();
  readonly #names = new Set<string>();
  readonly #module: string;
  readonly #objects: Objects;

  /** @param objects - where objects have their classes: each is written once in all modules */
  constructor(module: string, objects: Objects) {
    this.#module = module;
    this.#objects = objects;
  }

  /** Writes a class that is not a part of another. The fields of its bases are left out. */
  writeTop(name: string, shape: Shape, side: Side, about: string, ...bases: readonly Base[]): void {
    this.tops.push(name);
    this.#objects.add(shape, side, { name, module: this.#module });
    for (const base of bases) this.use(base.module, base.name);
    this.#write(name, shape, side, about, bases);
  }

  /** Writes a class of some fields of an object, which that of the object extends: nothing else names it. */
  writeBase(base: Base, parent: string, shape: Shape, side: Side, about: string): void {
    this.#declare(base.name, about, this.#fields(parent, shape, side, base.keys));
  }

  /** Imports a name. */
  use(module: string, name: string): void {
    if (module === this.#module) return;
    this.used.set(module, (this.used.get(module) ?? new Set()).add(name));
  }

  /** Objects in it get classes too. */
  #write(name: string, shape: Shape, side: Side, about: string, bases: readonly Base[] = []): void {
    const own = Object.keys(shape.properties ?? {}).filter((key) => bases.every(({ keys }) => !keys.includes(key)));
    const fields = this.#fields(name, shape, side, own);
    this.#declare(
      name,
      about,
      fields,
      bases.map((base) => base.name),
    );
  }

  #fields(name: string, shape: Shape, side: Side, keys: readonly string[]): Field[] {
    const required = new Set(shape.required ?? []);
    return keys.map((key) => {
      const field = shape.properties![key]!;
      return {
        key,
        type: this.type(field, side, name + className(key), name, key),
        required: required.has(key),
        // The class of a reason says it.
        about: isReasons(field) ? '' : fieldText(field),
      };
    });
  }

  /** One class for all reasons of a decision: what only some codes have may be missing. */
  #writeReason(name: string, shape: Shape, side: Side, parent: string): void {
    const reasons = shape.anyOf ?? shape.oneOf ?? [shape];
    const fields = commonFields(reasons, fieldText, (field, key) =>
      this.type(field, side, name + className(key), name, key),
    );
    const codes = reasons.map(({ properties }) => properties?.code?.const);
    const about = `Reason of :class:\`${parent}\`. ${shape.description ?? ''}`;
    this.#declare(name, about.trim(), [{ key: 'code', type: literal(codes), required: true, about: '' }, ...fields]);
  }

  #declare(name: string, about: string, fields: readonly Field[], bases: readonly string[] = []): void {
    if (this.#names.has(name)) throw new Error(`two Python classes would be called ${name}`);
    this.#names.add(name);
    this.sources.push(classText(name, about, fields, bases));
  }

  /** The type of a shape; objects in it get classes of their own. */
  type(shape: Shape, side: Side, name: string, parent = name, key = ''): string {
    if (shape.const !== undefined) return literal([shape.const]);
    if (shape.enum !== undefined) return literal(shape.enum);
    const alternatives = shape.anyOf ?? shape.oneOf;
    if (isReasons(shape)) return this.#named(shape, side, name, parent);
    if (alternatives !== undefined) {
      const types = alternatives.map((one, index) =>
        this.type(one, side, name + alternativeName(one, index), parent, key),
      );
      return [...new Set(types)].join(' | ');
    }
    const input = side === 'input';
    switch (shape.type) {
      case 'array':
        return `${input ? 'Sequence' : 'list'}[${this.type(shape.items ?? {}, side, parent + itemName(key), parent, key)}]`;
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'string':
        return 'str';
      case 'object': {
        if (shape.properties !== undefined) return this.#named(shape, side, name, parent);
        const { additionalProperties: values } = shape;
        const type = typeof values === 'object' ? this.type(values, side, `${name}Value`) : 'Any';
        return `${input ? 'Mapping' : 'dict'}[str, ${type}]`;
      }
      default:
        return 'Any';
    }
  }

  /** The class of an object, written here unless it is somewhere already. */
  #named(shape: Shape, side: Side, name: string, parent: string): string {
    const found = this.#objects.find(shape, side);
    if (found !== undefined) {
      this.use(found.module, found.name);
      return found.name;
    }
    this.#objects.add(shape, side, { name, module: this.#module });
    if (isReasons(shape)) this.#writeReason(name, shape, side, parent);
    else this.#write(name, shape, side, shape.description ?? `Part of :class:\`${parent}\`.`);
    return name;
  }
}

/** A class, and the fields that those which extend it have from it. */
export interface Base {
  readonly name: string;
  readonly module: string;
  readonly keys: readonly string[];
}

/** A field of a class. */
export interface Field {
  readonly key: string;
  readonly type: string;
  readonly required: boolean;
  readonly about: string;
}

/** A class. Where a key is no name in Python, a class cannot have it: it comes from a base. */
export function classText(
  name: string,
  about: string,
  fields: readonly Field[],
  extended: readonly string[] = [],
): string {
  const named = fields.filter(({ key }) => isField(key));
  const others = fields.filter(({ key }) => !isField(key));
  const bases = [...extended, ...(others.length === 0 ? [] : [`_${name}`])];
  return [
    ...(others.length === 0 ? [] : callText(`_${name}`, others)),
    ...headLines(name, bases.length === 0 ? ['TypedDict'] : bases),
    ...docstring(about, '    '),
    ...(named.length === 0 ? [] : ['']),
    ...named.flatMap((field) => [
      ...broken(`    ${field.key}: ${annotation(field)}`),
      ...(field.about === '' ? [] : docstring(field.about, '    ')),
    ]),
  ].join('\n');
}

function headLines(name: string, bases: readonly string[]): string[] {
  const line = `class ${name}(${bases.join(', ')}):`;
  return line.length <= widest ? [line] : [`class ${name}(`, ...filled(bases, '    '), '):'];
}

const annotation = ({ type, required }: Field): string => (required ? type : `NotRequired[${type}]`);

function callText(name: string, fields: readonly Field[]): string[] {
  const body = fields.flatMap((field) => [
    ...(field.about === '' ? [] : comment(field.about, '    ')),
    `    "${field.key}": ${annotation(field)},`,
  ]);
  return [`${name} = TypedDict("${name}", {`, ...body, '})', '', ''];
}

/** A field with many words, in as few lines as they need. */
function broken(line: string): string[] {
  if (line.length <= widest) return [line];
  const [, start, words, end] = /^(.*Literal\[)(.*?)(\]+)$/.exec(line) ?? [];
  if (start === undefined) throw new Error(`too long for a line: ${line}`);
  return [start, ...filled(words!.split(', '), '        '), `    ${end}`];
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
export function fieldText(shape: Shape): string {
  const parts = [shape.description ?? ''];
  const bounded = ['integer', 'number', 'string'].includes(shape.type ?? '') && shape.const === undefined;
  const range = bounded && shape.enum === undefined ? typeText(shape) : '';
  // A type without bounds is said by the annotation.
  if (/\d/.test(range)) parts.push(`${range.charAt(0).toUpperCase()}${range.slice(1)}.`);
  if (shape.default !== undefined) parts.push(`Default: ${JSON.stringify(shape.default)}.`);
  return parts.filter((one) => one !== '').join(' ');
}
