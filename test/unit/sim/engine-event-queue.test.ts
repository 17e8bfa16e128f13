import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventQueue, eventClasses } from '../../../src/sim/event-queue.ts';

describe('the event queue', () => {
  test('gives events by time, then by class, then in the order of arrival', () => {
    const queue = new EventQueue<string>();
    queue.push(2, 'engine', 'later');
    queue.push(1, 'timer', 'timer');
    queue.push(1, 'trainer', 'trainer');
    queue.push(1, 'engine', 'first engine');
    queue.push(1, 'reward', 'reward');
    queue.push(1, 'engine', 'second engine');
    expect(queue.nextAt()).toBe(1);
    const order = Array.from({ length: queue.size }, () => queue.pop()!.value);
    expect(order).toEqual(['first engine', 'second engine', 'reward', 'trainer', 'timer', 'later']);
    expect(queue.pop()).toBeUndefined();
    expect(queue.nextAt()).toBe(Number.POSITIVE_INFINITY);
  });

  test('equals a stable sort of what was not cancelled', () => {
    const event = fc.record({
      at: fc.integer({ min: 0, max: 5 }),
      rank: fc.nat(eventClasses.length - 1),
      cancelled: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const queue = new EventQueue<(typeof events)[number]>();
        const pushed = events.map((one) => queue.push(one.at, eventClasses[one.rank]!, one));
        for (const one of pushed) if (one.value.cancelled) queue.cancel(one);
        const kept = events.filter((one) => !one.cancelled);
        expect(queue.size).toBe(kept.length);
        const got = Array.from(kept, () => queue.pop()!.value);
        expect(got).toEqual(kept.sort((a, b) => a.at - b.at || a.rank - b.rank));
        expect(queue.peek()).toBeUndefined();
      }),
    );
  });

  test('an event that came out cannot be cancelled, and a time must be finite', () => {
    const queue = new EventQueue<string>();
    const gone = queue.push(1, 'engine', 'a');
    queue.push(2, 'engine', 'b');
    expect(queue.pop()).toBe(gone);
    queue.cancel(gone);
    expect(queue.size).toBe(1);
    expect(queue.peek()!.value).toBe('b');
    expect(() => queue.push(Number.NaN, 'engine', 'c')).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});
