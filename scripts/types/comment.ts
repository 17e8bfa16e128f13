/** What a TSDoc comment says of a field: its meaning, and its range, unit and default where the meaning does not say them. */
import { type Shape, type Side, unitOf } from '../tables/schema-table.ts';
import { wrapped } from '../text.ts';

const widest = 120;

/** A TSDoc comment, indented; paragraphs are apart by an empty line. */
export function comment(paragraphs: readonly string[], indent: string): string[] {
  const texts = paragraphs.filter((one) => one !== '').map((one) => one.replaceAll('*/', '*\\/'));
  if (texts.length === 0) return [];
  const [first] = texts;
  const one = `${indent}/** ${first} */`;
  if (texts.length === 1 && one.length <= widest) return [one];
  const lines = texts.flatMap((text, at) => [...(at === 0 ? [] : ['']), ...wrapped(text, widest - indent.length - 3)]);
  return [`${indent}/**`, ...lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}`), `${indent} */`];
}

/** The paragraphs of the comment of a field; what is read has its defaults filled in, and says nothing of them. */
export function meaning(key: string, field: Shape, about: string, side: Side): string[] {
  const facts = [rangeOf(field, about), unitText(key, field, about)].filter((one) => one !== '');
  const value = side === 'input' ? defaultOf(field) : undefined;
  return [[about, ...facts].join(' '), value === undefined ? '' : `@defaultValue \`${value}\``];
}

const number = (value: number): string => (Number.isInteger(value) ? value.toLocaleString('en-US') : String(value));

/** Numbers in a text: `1,000,000`, `0.5` and `1e9` are one each. */
function numbersIn(text: string): ReadonlySet<number> {
  const found = text.match(/-?\d[\d,]*(\.\d+)?(e[+-]?\d+)?/g) ?? [];
  return new Set(found.map((one) => Number(one.replaceAll(',', ''))));
}

/** A whole number without a bound carries the safe integers as its bounds. */
const isBound = (value: number | undefined): value is number =>
  value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;

/** The range of a value, or of each in a list, as far as the text does not say it. */
function rangeOf(shape: Shape, about: string): string {
  if (shape.const !== undefined || shape.enum !== undefined) return '';
  if (shape.type === 'array') return itemRange(shape.items, about);
  if (shape.type === 'object') {
    const { additionalProperties: value, properties } = shape;
    return properties === undefined && typeof value === 'object' ? itemRange(value, about) : '';
  }
  const { kind, bounds, values } = boundsOf(shape);
  const said = numbersIn(about);
  const text = values.every((one) => said.has(one)) ? '' : bounds;
  const isNew = kind === 'whole number' && !about.toLowerCase().includes(kind);
  if (text === '') return isNew ? `A ${kind}.` : '';
  if (kind === '') return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  return `A ${kind}${text.startsWith('above') ? ' ' : ', '}${text}.`;
}

function itemRange(item: Shape | undefined, about: string): string {
  const text = item === undefined || item.type === 'array' ? '' : rangeOf(item, about);
  return text === '' ? '' : `Each: ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

interface Bounds {
  /** Which kind of number; nothing for a text. */
  readonly kind: string;
  readonly bounds: string;
  /** The numbers in it. */
  readonly values: readonly number[];
}

function boundsOf({ type, minimum, exclusiveMinimum, maximum, maxLength }: Shape): Bounds {
  if (type === 'string' && maxLength !== undefined) {
    return { kind: '', bounds: `at most ${number(maxLength)} characters`, values: [maxLength] };
  }
  if (type !== 'integer' && type !== 'number') return { kind: '', bounds: '', values: [] };
  const kind = type === 'integer' ? 'whole number' : 'number';
  const most = isBound(maximum) ? maximum : undefined;
  const open = type === 'integer' || !isBound(exclusiveMinimum) ? undefined : exclusiveMinimum;
  const closed = type === 'integer' && isBound(exclusiveMinimum) ? exclusiveMinimum + 1 : minimum;
  const least = isBound(closed) ? closed : undefined;
  const values = [open ?? least, most].filter((one) => one !== undefined);
  if (open !== undefined) {
    return { kind, bounds: `above ${number(open)}${most === undefined ? '' : ` and at most ${number(most)}`}`, values };
  }
  if (least !== undefined && most !== undefined) return { kind, bounds: `${number(least)} to ${number(most)}`, values };
  if (least !== undefined) return { kind, bounds: `${number(least)} or more`, values };
  return { kind, bounds: most === undefined ? '' : `at most ${number(most)}`, values };
}

/** The unit that the name ends with, where the text does not name it. */
function unitText(key: string, shape: Shape, about: string): string {
  const unit = unitOf(key);
  const isAmount = shape.type === 'number' || shape.type === 'integer';
  const isSaid = about.toLowerCase().includes(unit.toLowerCase().replace(/s$/, ''));
  return !isAmount || unit === '' || unit === 'share' || unit === 'ratio' || isSaid ? '' : `In ${unit}.`;
}

/** The default as TypeScript writes it; nothing where those of the fields say it all. */
function defaultOf({ default: value, properties }: Shape): string | undefined {
  if (value === undefined || (properties !== undefined && JSON.stringify(value) === '{}')) return undefined;
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}
