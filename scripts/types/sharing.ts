/** What types have in common: a field of one text is declared once, and other types have it from there. */
import type { Side } from '../tables/schema-table.ts';
import { wrapped } from '../text.ts';

/** A field, as its type declares it. */
export interface FieldText {
  /** Its comment, its name and its type. */
  readonly text: string;
  /** The start of its last part, up to the colon. */
  readonly start: string;
  /** Its comment alone. */
  readonly comment: readonly string[];
  /** The type alone, as it stands behind the colon. */
  readonly type: string;
  /** Types that it names. */
  readonly used: readonly Used[];
}

/** A type that a module imports, unless it declares it. */
export interface Used {
  readonly name: string;
  readonly module: string;
}

/** A type from which others may have fields. */
export interface Declared extends Used {
  /** How it is named with its arguments, if it has some. */
  readonly applied?: string;
  readonly side: Side;
  readonly fields: ReadonlyMap<string, FieldText>;
  /** Its fields and what they mean, whatever it is called itself. */
  readonly key?: string;
}

/** What a type has from another one. */
export interface Base {
  readonly of: Declared;
  readonly keys: readonly string[];
}

const widest = 120;

const linesOf = (keys: readonly string[], fields: ReadonlyMap<string, FieldText>): number =>
  keys.reduce((sum, key) => sum + fields.get(key)!.text.split('\n').length, 0);

/** From which types a type has some of its fields, the one with most of them first; the keys of the others are left. */
export function basesOf(
  fields: ReadonlyMap<string, FieldText>,
  among: readonly string[],
  known: readonly Declared[],
): { bases: Base[]; own: string[] } {
  const bases: Base[] = [];
  let own = [...among];
  for (;;) {
    let best: Base | undefined;
    let most = 0;
    for (const of of known) {
      const keys = own.filter((key) => of.fields.get(key)?.text === fields.get(key)!.text);
      const saved = linesOf(keys, fields) - clauseOf({ of, keys }).length;
      if (saved > most) [best, most] = [{ of, keys }, saved];
    }
    if (best === undefined) return { bases, own };
    const { keys } = best;
    bases.push(best);
    own = own.filter((key) => !keys.includes(key));
  }
}

const indent = '    ';

/** How a type says what it has from another one, in lines. */
function clauseOf({ of, keys }: Base): string[] {
  const name = of.applied ?? of.name;
  const others = [...of.fields.keys()].filter((key) => !keys.includes(key));
  if (others.length === 0) return [name];
  const [word, listed] = others.length < keys.length ? ['Omit', others] : ['Pick', keys];
  const text = `${word}<${name}, ${listed.map((key) => `'${key}'`).join(' | ')}>`;
  return wrapped(text, widest - indent.length - 4);
}

/** The first line of an interface, or its first lines. */
export function headOf(name: string, bases: readonly Base[]): string[] {
  if (bases.length === 0) return [`export interface ${name} {`];
  const clauses = bases.map(clauseOf);
  const line = `export interface ${name} extends ${clauses.map((one) => one.join(' ')).join(', ')} {`;
  if (line.length <= widest) return [line];
  const texts = clauses.map((one) => one.join(`\n${indent}  `));
  return [`export interface ${name}`, `  extends ${texts.join(`,\n${indent}`)} {`];
}

/** Where a type that takes several lines stands as that of a field already, it is named by that field. */
export function fieldOf(field: FieldText, known: readonly Declared[]): { text: string; used: readonly Used[] } {
  if (!field.type.includes('\n')) return field;
  for (const of of known) {
    for (const [key, other] of of.fields) {
      if (other.type !== field.type) continue;
      return { text: [...field.comment, `${field.start} ${of.name}['${key}'];`].join('\n'), used: [of] };
    }
  }
  return field;
}
