import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Fifo, fifoOf } from '../../../src/core/collections/fifo.ts';
import { makerOf } from '../../../src/core/machine/beginning.ts';
import { derived, mapBy, setOf } from '../../../src/core/machine/state.ts';

const item = z.strictObject({
  id: z.string(),
  status: z.enum(['new', 'old']),
  ref: z.string().optional(),
  since: z.number().nonnegative(),
  due: z.number().nullable(),
  isLost: z.boolean(),
  names: setOf(z.string()),
  line: fifoOf(z.string()),
  parts: mapBy('id', z.strictObject({ id: z.string() })),
  list: z.array(z.string()),
  pointer: derived<{ readonly name: string }>(),
  index: derived(() => -1),
  seen: derived(() => new Set<string>()),
});
const make = makerOf(item);

describe('makerOf', () => {
  it('makes each field that is not given as a state has it at first, in its live form', () => {
    const one = make({ id: 'a', status: 'new' });
    expect(one).toEqual({
      id: 'a',
      status: 'new',
      since: 0,
      due: null,
      isLost: false,
      names: new Set(),
      line: new Fifo(),
      parts: new Map(),
      list: [],
      pointer: null,
      index: -1,
      seen: new Set(),
    });
    expect(Object.hasOwn(one, 'ref')).toBe(false);
  });

  it('takes every field that is given, and nothing of what was made before', () => {
    const before = make({ id: 'a', status: 'new', ref: 'r', since: 3, isLost: true, pointer: { name: 'p' } });
    before.names.add('x');
    before.list.push('x');
    before.seen.add('x');
    const one = make({ id: 'b', status: 'old' });
    expect(one).toEqual({ ...make({ id: 'b', status: 'old' }) });
    expect(one.names.size + one.list.length + one.seen.size + one.since).toBe(0);
    expect([one.isLost, one.ref, one.pointer]).toEqual([false, undefined, null]);
  });
});
