/** From JSON Schema to TypeScript: what a value of a schema is, every field with its meaning. */
import type { z } from '../../src/index.ts';
import { type Shape, type Side, shapeOf } from '../schema-table.ts';
import { comment, meaning } from './comment.ts';
import { type NamedType, typeOf } from './named.ts';

const step = '  ';
const widest = 120;

/** Writes types, and remembers which named ones it has used. */
export class TypeWriter {
  /** Those that were used. */
  readonly used = new Set<NamedType>();
  #declared = '';
  #side: Side = 'output';

  /** `export interface`, or `export type` for what is no object; with what the schema says of itself, where nothing else is given. */
  declaration(name: string, schema: z.ZodType, side: Side, about?: readonly string[]): string {
    const shape = shapeOf(schema, side);
    const text = about ?? [shape.description ?? ''];
    if (text.join('') === '') throw new Error(`${name}: its schema does not say what it is (.describe)`);
    this.#declared = name;
    this.#side = side;
    const lines = comment(text, '');
    if (shape.properties === undefined) {
      return [...lines, `export type ${name} =${this.#after(`export type ${name} = `, shape, '')};`].join('\n');
    }
    return [...lines, `export interface ${name} {`, ...this.#fields(shape, step), '}'].join('\n');
  }

  #fields(shape: Shape, indent: string): string[] {
    const required = new Set(shape.required ?? []);
    const rest = typeof shape.additionalProperties === 'object' ? [`${indent}[key: string]: unknown;`] : [];
    const fields = Object.entries(shape.properties ?? {}).flatMap(([key, field]) => {
      const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : `'${key}'`;
      const isRequired = required.has(key);
      const about = field.description ?? ownMeanings[key];
      if (about === undefined)
        throw new Error(`${this.#declared}: its field ${key} does not say what it is (.describe)`);
      const start = `${indent}${name}${isRequired ? '' : '?'}: `;
      return [
        ...comment(meaning(key, field, about, this.#side), indent),
        `${start.trimEnd()}${this.#after(start, field, indent, !isRequired)};`,
      ];
    });
    return [...fields, ...rest];
  }

  /** A type behind its start, as the formatter writes it: on one line, or one member of a union a line. */
  #after(start: string, shape: Shape, indent: string, mayBeAbsent = false): string {
    const membersAt = (at: string): string[] => {
      const members = this.#members(shape, at);
      return mayBeAbsent && !members.includes('unknown') ? [...members, 'undefined'] : members;
    };
    const members = membersAt(indent);
    const one = members.join(' | ');
    const isShort = start.length + one.length + 1 <= widest && !one.includes('\n');
    if (members.length === 1 || isShort) return ` ${one}`;
    return membersAt(indent + step + step)
      .map((member) => `\n${indent}${step}| ${member}`)
      .join('');
  }

  /** The members of the union that it is, one if it is none. */
  #members(shape: Shape, indent: string): string[] {
    const named = typeOf(shape);
    if (named !== undefined && named.name !== this.#declared) {
      this.used.add(named);
      return [named.name];
    }
    if (shape.const !== undefined) return [literal(shape.const)];
    if (shape.enum !== undefined) return shape.enum.map(literal);
    const alternatives = shape.anyOf ?? shape.oneOf;
    if (alternatives !== undefined) {
      return [...new Set(alternatives.flatMap((one) => this.#members(one, indent)))];
    }
    switch (shape.type) {
      case 'array':
        return [listOf(this.#members(shape.items ?? {}, indent))];
      case 'integer':
      case 'number':
        return ['number'];
      case 'boolean':
      case 'null':
      case 'string':
        return [shape.type];
      case 'object':
        return [this.#object(shape, indent)];
      case undefined:
        return ['unknown'];
      default:
        throw new Error(`no TypeScript for the JSON Schema type ${shape.type}`);
    }
  }

  #object(shape: Shape, indent: string): string {
    const { additionalProperties: values, properties } = shape;
    if (properties === undefined) {
      return `Record<string, ${typeof values === 'object' ? this.#members(values, indent).join(' | ') : 'unknown'}>`;
    }
    return ['{', ...this.#fields(shape, indent + step), `${indent}}`].join('\n');
  }
}

/** Fields that every message has, or every reason, and that need no description of their own in each schema. */
const ownMeanings: Readonly<Record<string, string>> = {
  type: 'Which event or decision it is.',
  code: 'Which reason it is.',
};

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value);

const listOf = (members: readonly string[]): string =>
  members.length === 1 ? `${members[0]}[]` : `(${members.join(' | ')})[]`;
