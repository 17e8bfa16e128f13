/** What a job does, from its events and decisions: loads, rounds, what is put off, rates, and what was not seen. */
import { afterAll, describe, expect, test } from 'vitest';
import type { AnyDecision, AnyEvent } from '../../../src/core/machine/definition.ts';
import { registry, tailBatching } from '../../../src/index.ts';
import { LogIndex } from '../../../src/logs/index/log-index.ts';
import { Bins, binSeconds, Gauge, mostBins } from '../../../src/logs/job/bins.ts';
import { eventsOf } from '../../../src/logs/job/find.ts';
import { JobView } from '../../../src/logs/job/job-view.ts';
import { pathOf } from '../../zoo/files.ts';

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);

describe('bins', () => {
  test('every level has the same sum, over short and long times', () => {
    const bins = new Bins();
    bins.add(1000.1, 3);
    bins.spread(1000.2, 1000.24, 5);
    bins.spread(1000.24, 1050, 2);
    bins.add(1050, 1);
    const expected = 3 + 5 * 0.04 + 2 * 49.76 + 1;
    for (const [level, width] of binSeconds.entries()) {
      const last = Math.floor(1050 / width);
      expect(sum(bins.read(level, last - mostBins + 1, last))).toBeCloseTo(expected, 6);
    }
    // Half a second of a rate of 2.
    expect(bins.read(0, Math.floor(1010 / 0.25), Math.floor(1010 / 0.25) + 1)).toEqual([0.5, 0.5]);
  });

  test('what has left the finest level is 0 there, and is kept in a wider one', () => {
    const bins = new Bins();
    bins.add(0, 7);
    bins.add(5000, 1);
    expect(bins.read(0, 0, 0)).toEqual([0]);
    expect(bins.read(4, 0, 0)).toEqual([7]);
  });

  test('a gauge counts the time at each value, and time never goes back', () => {
    const gauge = new Gauge();
    gauge.set(10, 4);
    gauge.upTo(12);
    gauge.set(11, 1);
    gauge.upTo(13);
    expect(sum(gauge.bins.read(2, 0, 10))).toBeCloseTo(2 * 4 + 1, 9);
  });
});

describe('a log of the zoo', () => {
  const index = new LogIndex([pathOf('nemo-rl-3938')], {
    restore: (snapshot: unknown) => registry.restore(snapshot, { validate: false }) as never,
    writer: 'test',
  } as never);
  afterAll(() => index.close());
  const lines = [...eventsOf(index, index.sessions[0]!.session)].map(({ event, decisions }) => ({
    event: event as AnyEvent,
    decisions: decisions as unknown as AnyDecision[],
  }));
  const viewOf = (some = lines): JobView => {
    const view = new JobView(tailBatching);
    for (const { event, decisions } of some) view.follow(event, decisions);
    return view;
  };

  test('its rounds, its engines, and the round that hangs', () => {
    const view = viewOf();
    expect(view.totals).toEqual({ events: 153, decisions: 114, completed: 30, tokens: 96_819 });
    const rounds = view.rounds;
    expect(rounds.map(({ id, end }) => [id, end !== undefined])).toEqual([
      ['r0', true],
      ['r1', true],
      ['r2', true],
      ['r3', false],
    ]);
    expect(rounds[3]).toMatchObject({
      launched: 9,
      ended: { 'response.completed': 6, 'response.failed': 2 },
      tokens: 21_907,
    });
    const { actors, idle, engines } = view.timeline(3);
    expect(actors.map(({ who, by }) => by ?? who)).toEqual(
      expect.arrayContaining(['e0', 'e1', 'e2', 'e3', 'data source']),
    );
    expect(Math.max(...idle)).toBe(3);
    expect(engines.at(-1)).toBe(4);
    expect(view.spans.actors.get('data source\n')?.open.size).toBe(1);
  });

  test('requests by their seconds, of a round and of all', () => {
    const view = viewOf();
    const { bars, of } = view.requests(3, 'r3');
    expect(of).toBe(9);
    expect(bars).toHaveLength(3);
    expect(bars.every(({ actor }) => actor.startsWith('engine e'))).toBe(true);
    expect(view.requests(1).of).toBeGreaterThan(of);
  });

  test('a part of a timeline is what the whole has there', () => {
    const view = viewOf();
    const whole = view.timeline(2);
    const part = view.timeline(2, whole.to - 10);
    expect(part.from).toBe(whole.to - 10);
    expect(part.events).toEqual(whole.events.slice(-11));
    expect(part.actors.map(({ load }) => load)).toEqual(whole.actors.map(({ load }) => load.slice(-11)));
  });

  test('what was not followed is said, and what was open then is not drawn', () => {
    const [first, second] = [lines.slice(0, 20), lines.slice(100)];
    const view = viewOf(first);
    expect(view.spans.commands.size).toBeGreaterThan(0);
    view.miss(80);
    expect(view.spans.commands.size).toBe(0);
    for (const { event, decisions } of second) view.follow(event, decisions);
    const [gap] = view.missed;
    expect(gap).toEqual({ from: first.at(-1)!.event.at, to: second[0]!.event.at, events: 80 });
    expect(view.timeline(3).actors.every(({ load }) => load.every((one) => one >= 0))).toBe(true);
  });

  test('memory is bounded: rounds, ended requests, gaps', () => {
    const view = new JobView(tailBatching);
    for (let n = 0; n < 6000; n += 1) {
      const [id, roundId, requestId] = [`p${n}`, `r${n}`, `p${n}/0#0`];
      const launch = {
        type: 'request.launch',
        at: n,
        requestId,
        promptId: id,
        roundId,
        engineId: `e${n % 100}`,
        reason: { code: 'planned' },
      };
      view.follow({ type: 'round.requested', at: n, roundId } as AnyEvent, [launch as unknown as AnyDecision]);
      view.follow({ type: 'response.completed', at: n, requestId, tokens: 5 } as AnyEvent, []);
      if (n % 100 === 0) view.miss(1);
    }
    expect(view.rounds).toHaveLength(64);
    expect(view.requests(10).of).toBe(4096);
    expect(view.missed).toHaveLength(16);
    expect(sum(view.missed.map(({ events }) => events))).toBe(60);
    expect(view.spans.actors.size).toBeLessThanOrEqual(65);
    expect(view.totals.tokens).toBe(30_000);
  });
});
