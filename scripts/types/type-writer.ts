/** From JSON Schema to TypeScript: what a value of a schema is, every field with its meaning. */
import type { z } from '../../src/index.ts';
import { type Shape, type Side, shapeOf } from '../tables/schema-table.ts';
import { comment, meaning } from './comment.ts';
import { objectsModule, typeOf } from './named.ts';
import { becauseOf, reasonsIn } from './reasons.ts';
import { basesOf, type Declared, type FieldText, fieldOf, headOf, type Used } from './sharing.ts';

const step = '  ';
const widest = 120;

/** Writes types, and remembers which named ones it has used. */
export class TypeWriter {
  /** Those that were used. */
  readonly used = new Set<Used>();
  /** Types from which others may have fields, or that they name: by what their fields are. */
  readonly #known: readonly Declared[];
  readonly #isWhole: boolean;
  #declared = '';
  #side: Side = 'output';
  #named = this.used;

  /** @param known - types of which others have what is the same in them; absent: each type declares all that it has itself */
  constructor(known?: readonly Declared[]) {
    this.#known = known ?? [];
    this.#isWhole = known === undefined;
  }

  /** `export interface`, or `export type` for what is no object; with what the schema says of itself, where nothing else is given. */
  declaration(
    name: string,
    schema: z.ZodType,
    side: Side,
    about?: readonly string[],
    earlier: readonly Declared[] = [],
  ): string {
    const shape = shapeOf(schema, side);
    const text = about ?? [shape.description ?? ''];
    if (text.join('') === '') throw new Error(`${name}: its schema does not say what it is (.describe)`);
    this.#declared = name;
    this.#side = side;
    const lines = comment(text, '');
    if (shape.properties === undefined) {
      return [...lines, `export type ${name} =${this.#after(`export type ${name} = `, shape, '')};`].join('\n');
    }
    const fields = this.fieldsOf(name, schema, side);
    // What parts declare is theirs, also where this module has declared it before.
    const parts = this.#known.filter((one) => one.side === side);
    const ofParts = basesOf(fields, [...fields.keys()], parts);
    const others = this.#isWhole ? [] : earlier;
    const ofEarlier = basesOf(fields, ofParts.own, others);
    const bases = [...ofParts.bases, ...ofEarlier.bases];
    const texts = ofEarlier.own.map((key) => fieldOf(fields.get(key)!, [...parts, ...others]));
    for (const one of [...bases.map(({ of }) => of), ...texts.flatMap(({ used }) => used)]) this.used.add(one);
    const body = [...texts.map((one) => one.text), ...restOf(shape, step)];
    const head = headOf(name, bases);
    if (body.length === 0) return [...lines, ...head].join('\n').concat('}');
    return [...lines, ...head, ...body, '}'].join('\n');
  }

  /** The fields of an object, each as a type declares it that has it from no other. */
  fieldsOf(name: string, schema: z.ZodType, side: Side): Map<string, FieldText> {
    this.#declared = name;
    this.#side = side;
    this.#named = new Set();
    const fields = this.#fields(shapeOf(schema, side), step);
    this.#named = this.used;
    return fields;
  }

  #fields(shape: Shape, indent: string): Map<string, FieldText> {
    const required = new Set(shape.required ?? []);
    const fields = Object.entries(shape.properties ?? {}).map(([key, field]): [string, FieldText] => {
      const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : `'${key}'`;
      const isRequired = required.has(key);
      const about = field.description ?? ownMeanings[key];
      if (about === undefined)
        throw new Error(`${this.#declared}: its field ${key} does not say what it is (.describe)`);
      const start = `${indent}${name}${isRequired ? '' : '?'}: `;
      const outer = this.#named;
      this.#named = new Set();
      const type = this.#after(start, field, indent, !isRequired);
      const used = [...this.#named];
      this.#named = outer;
      for (const one of used) this.#named.add(one);
      const above = comment(meaning(key, field, about, this.#side), indent);
      const begin = start.trimEnd();
      return [key, { text: [...above, `${begin}${type};`].join('\n'), comment: above, start: begin, type, used }];
    });
    return new Map(fields);
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
      this.#named.add(named);
      return [named.name];
    }
    if (shape.const !== undefined) return [literal(shape.const)];
    if (shape.enum !== undefined) return shape.enum.map(literal);
    const reasons = this.#isWhole ? undefined : reasonsIn(shape);
    if (reasons !== undefined) {
      this.#named.add(because);
      return reasons.map(({ codes, rest }) => {
        const hasFields = Object.keys(rest.properties!).length > 0;
        return becauseOf(codes, hasFields ? this.#object(rest, indent) : undefined, indent);
      });
    }
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
    const whole = this.#known.find((one) => one.side === this.#side && one.key === fieldsKey(shape));
    if (whole !== undefined) {
      this.#named.add(whole);
      return whole.name;
    }
    if (properties === undefined) {
      return `Record<string, ${typeof values === 'object' ? this.#members(values, indent).join(' | ') : 'unknown'}>`;
    }
    const fields = [...this.#fields(shape, indent + step).values()].map(({ text }) => text);
    return ['{', ...fields, ...restOf(shape, indent + step), `${indent}}`].join('\n');
  }
}

/** Fields that every message has, or every reason, and that need no description of their own in each schema. */
export const ownMeanings: Readonly<Record<string, string>> = {
  type: 'Which event or decision it is.',
  code: 'Which reason it is.',
};

const because: Used = { name: 'Because', module: objectsModule };

/** What the fields of an object are, and what they mean, whatever is said of the object itself. */
export const fieldsKey = ({ properties, required }: Shape): string => JSON.stringify([properties, required]);

/** What else an object may have. */
const restOf = ({ additionalProperties }: Shape, indent: string): string[] =>
  typeof additionalProperties === 'object' ? [`${indent}[key: string]: unknown;`] : [];

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value);

const listOf = (members: readonly string[]): string =>
  members.length === 1 ? `${members[0]}[]` : `(${members.join(' | ')})[]`;
