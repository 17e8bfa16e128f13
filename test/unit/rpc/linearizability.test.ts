/** The checker of histories, on histories whose answer is known, and against trying all orders. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../support/basics/runs.ts';
import { linearize, type Operation, type Specification } from '../../support/servers/linearizability.ts';

/** An operation of a register that counts: `read` gives the value, `add` gives the value before. */
interface Register extends Operation {
  readonly kind: 'read' | 'add';
  readonly value?: number;
}

const register: Specification<number, Register> = {
  begin: 0,
  step(state, { kind, value, isLost }) {
    if (!isLost && value !== state) return undefined;
    return kind === 'read' ? state : state + 1;
  },
  key: String,
  isTooLate: (state, { value }) => value! < state,
};

const read = (from: number, to: number, value: number): Register => ({ kind: 'read', from, to, value });
const add = (from: number, to: number, value: number): Register => ({ kind: 'add', from, to, value });
const lost = (from: number, to = Number.POSITIVE_INFINITY): Register => ({ kind: 'add', from, to, isLost: true });
const resultOf = (...operations: Register[]) => linearize(operations, register).result;

describe('known histories', () => {
  test.each<[string, Register[]]>([
    ['one after the other', [add(0, 1, 0), read(2, 3, 1), add(4, 5, 1), read(6, 7, 2)]],
    ['at once, answered in the other order', [add(0, 9, 1), add(1, 3, 0), read(10, 11, 2)]],
    ['a read that overlaps a write may see either', [add(0, 9, 0), read(1, 2, 0), read(3, 4, 1)]],
    ['a lost answer: it took effect late', [lost(0), read(1, 2, 0), read(3, 4, 1)]],
    ['a lost answer: it never took effect', [lost(0), read(1, 2, 0), add(3, 4, 0), read(5, 6, 1)]],
    ['a lost answer took effect in time', [lost(0, 5), read(6, 7, 1)]],
    ['nothing', []],
  ])('linearizable: %s', (_, operations) => {
    expect(resultOf(...operations)).toBe('linearizable');
  });

  test.each<[string, Register[]]>([
    ['a stale read', [add(0, 1, 0), read(2, 3, 0)]],
    ['a lost update', [add(0, 1, 0), add(2, 3, 0)]],
    ['two reads go back', [add(0, 9, 0), read(1, 2, 1), read(3, 4, 0)]],
    ['swapped answers', [add(0, 1, 1), add(2, 3, 0)]],
    ['done twice', [add(0, 1, 0), read(2, 3, 2)]],
    ['a lost one that took effect twice', [lost(0), read(1, 2, 1), read(3, 4, 2)]],
    ['a lost one that took effect after its end', [lost(0, 5), read(6, 7, 0), read(8, 9, 1)]],
    ['an effect before the call', [read(0, 1, 1), add(2, 3, 0)]],
  ])('not linearizable: %s', (_, operations) => {
    expect(resultOf(...operations)).toBe('not linearizable');
  });

  test('what was sent first on a connection takes effect first', () => {
    const first = add(0, 9, 1);
    expect(resultOf(first, add(1, 9, 0))).toBe('linearizable');
    expect(resultOf(first, { ...add(1, 9, 0), after: first })).toBe('not linearizable');
  });

  test('it says how far it came, and what could not come next', () => {
    const operations = [add(0, 1, 0), add(2, 3, 1), read(4, 5, 5), add(4, 9, 7)];
    const { order, state, next } = linearize(operations, register);
    expect(order).toEqual(operations.slice(0, 2));
    expect(state).toBe(2);
    expect(next).toEqual(operations.slice(2));
    expect(linearize(operations, register, 1).result).toBe('undecided');
  });
});

/** Whether there is an order, by trying all of them with every choice of the lost ones. */
function byTrying(operations: readonly Register[], taken: readonly Register[] = [], state = 0): boolean {
  if (operations.every(({ isLost }) => isLost)) return true;
  return operations.some((one) => {
    const rest = operations.filter((other) => other !== one);
    if (rest.some(({ to, isLost }) => !isLost && to < one.from)) return false;
    if (one.isLost && taken.some(({ from }) => one.to < from)) return false;
    if (rest.some((other) => other === one.after)) return false;
    const next = register.step(state, one);
    return next !== undefined && byTrying(rest, [...taken, one], next);
  });
}

test('the same as by trying all orders', () => {
  const operation = fc.record({
    kind: fc.constantFrom('read' as const, 'add' as const),
    from: fc.nat(12),
    long: fc.nat(8),
    value: fc.nat(4),
    isLost: fc.boolean(),
    isEndless: fc.boolean(),
    isAfter: fc.boolean(),
  });
  const counts = { linearizable: 0, 'not linearizable': 0, undecided: 0 };
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 7 }), (made) => {
      const operations: Register[] = [];
      for (const { kind, from, long, value, isLost, isEndless, isAfter } of made) {
        const to = isLost && isEndless ? Number.POSITIVE_INFINITY : from + long;
        const before = operations.find((one) => isAfter && !one.isLost && one.from <= from && one.to <= to);
        operations.push({ kind, from, to, value, isLost: isLost && kind === 'add', after: before });
      }
      const { result } = linearize(operations, register);
      counts[result] += 1;
      expect(result === 'linearizable').toBe(byTrying(operations));
    }),
    runs(20_000),
  );
  expect(counts.undecided).toBe(0);
  expect(Math.min(counts.linearizable, counts['not linearizable'])).toBeGreaterThan(50);
});
