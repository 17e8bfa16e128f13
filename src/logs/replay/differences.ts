/** Pairs the decisions of two sides on one event, and names their differences field by field. */
import type { AnyDecision } from '../../core/machine/definition.ts';

/**
 * How a decision differs:
 *
 * - `changed`: both sides decided on the same subject, but not the same
 * - `explained`: the decision is the same, and only its reason differs
 * - `missing`, `added`: only the first side has it, or only the second
 * - `reordered`: the decisions, or the fields of one, are the same in another order
 */
export type DifferenceKind = 'changed' | 'explained' | 'missing' | 'added' | 'reordered';

/** One decision that differs between the sides. */
export interface DecisionDifference {
  /** Kind of the difference. */
  readonly kind: DifferenceKind;
  /** The first side's decision, if there is one. */
  readonly one?: AnyDecision;
  /** The second side's decision, if there is one. */
  readonly other?: AnyDecision;
  /** Paths of the fields that differ, such as `reason.known`; a list is one field. */
  readonly fields: readonly string[];
}

/** A field that differs, with the values of both sides. */
export interface FieldPair {
  /** Path of the field, such as `reason.known`. */
  readonly path: string;
  /** The first side's value; undefined without such a field. */
  readonly one: unknown;
  /** The second side's value; undefined without such a field. */
  readonly other: unknown;
  /** Whether the values are the same. */
  readonly isSame: boolean;
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lists the fields of two objects, those of inner objects, too: the fields of the first side in order, then the others. */
export function fieldPairs(one: object, other: object, prefix = ''): FieldPair[] {
  const [first, second] = [one, other] as Readonly<Record<string, unknown>>[];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => {
    const [path, a, b] = [`${prefix}${key}`, first![key], second![key]];
    const [inner, otherInner] = [a ?? {}, b ?? {}];
    const isNested = isPlain(inner) && isPlain(otherInner) && Object.keys({ ...inner, ...otherInner }).length > 0;
    if (isNested) return fieldPairs(inner, otherInner, `${path}.`);
    return [{ path, one: a, other: b, isSame: JSON.stringify(a) === JSON.stringify(b) }];
  });
}

/** The subject of a decision: its type and its first ids; later ids may say where the decision is carried out. */
const subjectOf = (decision: AnyDecision, most: number): string => {
  const ids = Object.entries(decision).filter(([key, value]) => key.endsWith('Id') && typeof value === 'string');
  return JSON.stringify([decision.type, ...ids.slice(0, most)]);
};

const whole = (decision: AnyDecision): string => JSON.stringify(decision);

/** Passes of the pairing: equal decisions first, then decisions with the same ids, the same first id, and the same type. */
const passes = [
  whole,
  (one: AnyDecision): string => subjectOf(one, Number.POSITIVE_INFINITY),
  (one: AnyDecision): string => subjectOf(one, 1),
  ({ type }: AnyDecision): string => type,
];

function compared(one: AnyDecision, other: AnyDecision): DecisionDifference {
  const fields = fieldPairs(one, other).flatMap(({ path, isSame }) => (isSame ? [] : [path]));
  const isReason = fields.every((path) => path === 'reason' || path.startsWith('reason.'));
  // The fields of a decision may be equal in another order.
  return { kind: fields.length === 0 ? 'reordered' : isReason ? 'explained' : 'changed', one, other, fields };
}

/** The decisions of a side that have no partner yet, by a key, in order. */
function byKey(decisions: readonly AnyDecision[], free: ReadonlySet<number>, keyOf: (one: AnyDecision) => string) {
  const found = new Map<string, number[]>();
  // Items are taken from the end, so the lists are filled in reverse.
  for (const index of [...free].reverse()) {
    const key = keyOf(decisions[index]!);
    const known = found.get(key);
    if (known === undefined) found.set(key, [index]);
    else known.push(index);
  }
  return found;
}

/** Returns what differs between the decisions of two sides on one event, in the order of the first side; empty if nothing does. */
export function differencesOf(one: readonly AnyDecision[], other: readonly AnyDecision[]): DecisionDifference[] {
  const left = new Set(one.keys());
  const right = new Set(other.keys());
  const found: { readonly at: number; readonly difference: DecisionDifference }[] = [];
  let moved: number | undefined;
  for (const keyOf of passes) {
    const partners = byKey(other, right, keyOf);
    for (const index of left) {
      const partner = partners.get(keyOf(one[index]!))?.pop();
      if (partner === undefined) continue;
      left.delete(index);
      right.delete(partner);
      if (keyOf !== whole) found.push({ at: index, difference: compared(one[index]!, other[partner]!) });
      else if (index !== partner) moved ??= index;
    }
  }
  for (const at of left) found.push({ at, difference: { kind: 'missing', one: one[at]!, fields: [] } });
  for (const at of right) found.push({ at, difference: { kind: 'added', other: other[at]!, fields: [] } });
  if (found.length === 0 && moved !== undefined) {
    return [{ kind: 'reordered', one: one[moved]!, other: other[moved]!, fields: [] }];
  }
  return found.sort((a, b) => a.at - b.at).map(({ difference }) => difference);
}
