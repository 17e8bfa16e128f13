import { describe, expect, it } from 'vitest';
import { readEventLog } from '../../../../src/logs/format/read-event-log.ts';
import { losslessTail } from '../../../../src/recipes/lossless-tail/index.ts';
import { tailBatching } from '../../../../src/recipes/tail-batching/index.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import {
  losslessTailScheduler,
  type Scheduler,
  synchronousBaseline,
  tailBatchingScheduler,
} from '../../../../src/sim/colocated/scheduler.ts';
import { ForkedHost } from '../../../../src/sim/what-if/forked-host.ts';
import { loggedJob } from '../../../../src/sim/what-if/logged-job.ts';
import { type WhatIf, whatIfOf } from '../../../../src/sim/what-if/what-if.ts';
import { loggedWorkload } from '../../../../src/sim/what-if/workload.ts';
import { longTailQuantile, marginalWorkload } from '../../../../src/sim/workload/marginal.ts';
import { plainJob, recording } from '../../../support/simulator/host.ts';

const capTokens = 2000;
const shape = { medianTokens: 80, sigma: 0.6, tailWeight: 0.1, tailStartTokens: 200, tailExponent: 0.8 };
const truthOf = (seed: number) =>
  marginalWorkload({
    name: 'truth',
    responseTokens: longTailQuantile(shape),
    promptTokens: () => 30,
    correlation: 0.3,
    capTokens,
    seed,
  });
const job = plainJob({ engines: 4, promptsPerRound: 8, responsesPerPrompt: 4 });
const trained = 80;

/** A simulated job, and its log. */
function recorded(scheduler: Scheduler, seed = 5, of = job) {
  const lines: string[] = [];
  const truth = truthOf(seed);
  const run = simulate(of, recording(scheduler, lines), truth, {
    prompts: 100_000,
    until: trained,
    seed,
    timeline: false,
  });
  const logged = loggedJob(readEventLog({ name: 'log', read: () => `${lines.join('\n')}\n` }), 'log');
  return { truth, run, logged, lines };
}

const tail = recorded(tailBatchingScheduler(job));
const partial = recorded(losslessTailScheduler(job, { maxStaleness: 2, windowRounds: 2 }));
const asked = { job, fits: false, capTokens, seeds: [1] };

/** The same log by another clock. Times are rounded first, so that a double has them after 1.8e9 s, too. */
function byClock(lines: readonly string[], begin: number) {
  const moved = lines.map((line) =>
    JSON.stringify(JSON.parse(line), (key, value) =>
      key === 'at' && typeof value === 'number' && !line.includes('"snapshot"')
        ? Math.round(value * 2 ** 20) / 2 ** 20 + begin
        : value,
    ),
  );
  return loggedJob(readEventLog({ name: 'log', read: () => `${moved.join('\n')}\n` }), 'log');
}

describe.each([
  { name: 'tail batching', definition: tailBatching, ...tail, settings: { promptSpeculation: 1.5 } },
  { name: 'lossless tail', definition: losslessTail, ...partial, settings: { windowRounds: 1 } },
])('a log of another clock: $name', ({ definition, logged, lines, settings }) => {
  it.each([0, 0.5, 1])('gives the same answer after %f of it', (share) => {
    const at = Math.round(share * logged.events.length);
    const [first, moved] = [0, 1.8e9].map((begin) =>
      whatIfOf({ ...asked, fits: true, logged: byClock(lines, begin), definition, at, settings }),
    ) as [WhatIf, WhatIf];
    expect({ ...moved, at: { ...moved.at, seconds: moved.at.seconds - 1.8e9 } }).toEqual(first);
    expect(moved.saved.value).toBeLessThan(1);
  });
});

describe.each([
  { name: 'tail batching', definition: tailBatching, ...tail },
  { name: 'lossless tail, with partial rollout', definition: losslessTail, ...partial },
])('what if nothing were other: $name', ({ definition, run, logged }) => {
  const { totalSeconds, steps } = run;

  it('at the end of the log it equals the log', () => {
    const { log, asItWas, saved } = whatIfOf({ ...asked, logged, definition, at: logged.events.length });
    expect([log.seconds, asItWas[0]!.seconds, saved.value]).toEqual([0, 0, 0]);
  });

  it('at the first event it equals a simulation of the lengths of the log', () => {
    const workload = loggedWorkload(logged, { name: 'log', capTokens, seed: 1 });
    const scheduler =
      definition === tailBatching
        ? tailBatchingScheduler(job)
        : losslessTailScheduler(job, { maxStaleness: 2, windowRounds: 2 });
    const simulated = simulate(job, scheduler, workload, {
      prompts: 100_000,
      until: trained,
      seed: 1,
      timeline: false,
    });
    const fork = { logged, definition, at: 4, settings: {}, engineIds: [], usualPace: 1 };
    expect(new ForkedHost(job, fork, workload, trained, 1).run().steps).toEqual(simulated.steps);
    expect(simulated.steps).toEqual(steps);
  });

  it('at any event the rest takes as long as in the log, up to some steps of the engines', () => {
    for (let at = 5; at < logged.events.length; at += 83) {
      const { log, asItWas } = whatIfOf({ ...asked, logged, definition, at });
      expect(Math.abs(asItWas[0]!.seconds - log.seconds)).toBeLessThan(totalSeconds * 0.002);
      expect(asItWas[0]!.meanResponseTokens).toBeCloseTo(log.meanResponseTokens, 6);
      expect(asItWas[0]!.staleShare).toBeCloseTo(log.staleShare, 2);
    }
  });
});

it('a request in flight reads its context on its engine no second time', () => {
  // To read all of them again would take a tenth of the job. How far each had come is known up to its mean pace only.
  const slow = { ...job, cost: { ...job.cost, prefillSecondsPerToken: 0.005 } };
  const { logged, run } = recorded(tailBatchingScheduler(slow), 5, slow);
  for (const at of [60, 200, 330]) {
    const { log, asItWas } = whatIfOf({ ...asked, job: slow, logged, definition: tailBatching, at });
    expect(Math.abs(asItWas[0]!.seconds - log.seconds)).toBeLessThan(run.totalSeconds * 0.02);
  }
});

const tailJob = { ...asked, logged: tail.logged, definition: tailBatching };

/** Rest of the job with the true lengths, of those that were aborted in the log, too. */
function really(at: number, settings: object): number {
  const fork = {
    logged: tail.logged,
    definition: tailBatching,
    at,
    settings: { ...settings },
    engineIds: [],
    usualPace: 50,
  };
  const { steps } = new ForkedHost(job, fork, tail.truth, trained, 1).run();
  return steps.at(-1)!.startSeconds + steps.at(-1)!.rolloutSeconds - tail.logged.events[at - 1]!.event.at;
}

describe('what if something were other', () => {
  it('says what would really have been, with an interval over what the log does not know', () => {
    const [at, settings] = [250, { promptSpeculation: 1.5 }];
    const { saved, asItWas, lengths } = whatIfOf({ ...tailJob, at, settings, seeds: [1, 2, 3, 4, 5, 6] });
    const truth = 1 - really(at, settings) / really(at, {});
    expect(lengths.censored).toBeGreaterThan(50);
    expect(asItWas.every(({ seconds }) => seconds === asItWas[0]!.seconds)).toBe(true);
    expect(saved.low).toBeLessThan(saved.high);
    expect(Math.abs(truth - saved.value)).toBeLessThan(0.03);
  });

  it('lets another policy take over after the open round, with the prompts that are left', () => {
    const { changed, log } = whatIfOf({ ...tailJob, at: 250, scheduler: synchronousBaseline });
    expect(changed[0]!.rounds).toBe(log.rounds);
    // Nothing is deferred but what the open round had over.
    expect(changed[0]!.deferredPrompts).toBeLessThanOrEqual(2);
    expect(changed[0]!.meanResponseTokens).toBeGreaterThan(log.meanResponseTokens);
  });

  it('fits the speed to the rounds before the event, and to nothing after it', () => {
    const slow = { ...job, cost: { ...job.cost, overheadSeconds: 0.03 } };
    const { fit, log, asItWas } = whatIfOf({ ...tailJob, job: slow, fits: true, at: 400 });
    expect(fit).toMatchObject({ rounds: 8, factor: expect.closeTo(0.25, 2) });
    expect(asItWas[0]!.seconds / log.seconds).toBeCloseTo(1, 2);
    expect(whatIfOf({ ...tailJob, job: slow, fits: true, at: 20 }).fit).toBeNull();
  });

  it.each([
    ['an event that the log does not have', { at: 100_000 }, 'at'],
    ['a setting that is the shape of the job', { settings: { promptsPerRound: 4 } }, 'promptsPerRound'],
    ['a setting that the policy does not have', { settings: { promptSpeculaton: 4 } }, 'promptSpeculaton'],
    ['a value that does not fit', { settings: { promptSpeculation: 0.5 } }, 'promptSpeculation'],
  ])('refuses %s', (_, wrong, path) => {
    expect(() => whatIfOf({ ...tailJob, at: 10, ...wrong })).toThrow(expect.objectContaining({ path }));
  });

  it('reads each of several sessions with one id, the last one if none is named', () => {
    const opened = (count: number) =>
      tail.lines.slice(0, count + 1).map((line, seq) => ({
        where: `log:${seq}`,
        line: {
          ...{ kind: seq === 0 ? 'session' : 'event', session: 's', policy: 'tail-batching', seq },
          ...JSON.parse(line),
        },
      }));
    const lines = [
      ...opened(30),
      { where: '', line: { kind: 'closed', session: 's', reason: 'closed' } },
      ...opened(40),
    ];
    const read = (opening?: number) => loggedJob(lines as never, 's', opening);
    expect([read(0), read(1), read()].map(({ opening, events }) => [opening, events.length])).toEqual([
      [0, 30],
      [1, 40],
      [1, 40],
    ]);
    expect(() => read(2)).toThrow(expect.objectContaining({ code: 'unknown_id' }));
    // What another opening lacks is no matter.
    lines.splice(20, 1);
    expect(read().events).toHaveLength(40);
    expect(() => read(0)).toThrow(/without gaps/);
  });

  it('refuses a log without its beginning, or with a gap', () => {
    const lines = tail.lines.filter((_, index) => index !== 20);
    const numbered = lines.map((line, index) => ({
      where: `log:${index}`,
      line:
        index === 0
          ? { kind: 'session', session: 's', seq: 0, snapshot: JSON.parse(line).snapshot }
          : { kind: 'event', session: 's', seq: index < 20 ? index : index + 1, ...JSON.parse(line) },
    }));
    expect(() => loggedJob(numbered as never, 's')).toThrow(/event 20: a log without gaps/);
    expect(() =>
      loggedJob(numbered.map(({ where, line }) => ({ where, line: { ...line, seq: line.seq + 3 } })) as never, 's'),
    ).toThrow(/from the beginning/);
    expect(() => loggedJob([], 's')).toThrow(expect.objectContaining({ code: 'unknown_id' }));
  });
});
