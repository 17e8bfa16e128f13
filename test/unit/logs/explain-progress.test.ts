/** Work that gains nothing, and a source that was only just asked: what the watchdog, `why` and `explain` say of them, and that they agree. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { create, recordEvents, type StalledThing, tailBatching, watch, watchdog } from '../../../src/index.ts';
import type { WatchdogDecision, WatchdogNotice } from '../../../src/policies/watchdog/index.ts';
import type { VocabularyDecision, VocabularyEvent } from '../../../src/schemas/index.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { Folders } from '../../support/servers/decision-log.ts';

const folders = new Folders();
afterAll(() => folders.remove());

type Unstamped = VocabularyEvent extends infer E ? (E extends VocabularyEvent ? Omit<E, 'at'> : never) : never;

interface Job {
  readonly config?: object;
  readonly seconds: number;
  /** Rewards of a response: a group passes if they differ. */
  reward(round: number, draw: () => number): number;
  /** How long a response takes in a round, in seconds. */
  responseSeconds?(round: number): number;
  /** After how many seconds the source answers a question for this reason; never if absent. */
  sourceSeconds?(round: number, code: string): number | undefined;
}

/** A job in simulated time, watched over; it rests when nothing is left to come. */
class Watched {
  readonly lines: string[] = [];
  readonly said: WatchdogNotice[] = [];
  /** What `why` has said to be stalled at first, each time anew. */
  readonly stalled: StalledThing[] = [];
  readonly tail;
  at = 0;

  constructor({ config, seconds, reward, responseSeconds = () => 60, sourceSeconds = () => 0.1 }: Job) {
    const settings = { promptsPerRound: 4, responsesPerPrompt: 2, filter: 'zero-variance' } as const;
    this.tail = create(tailBatching, { ...settings, ...config });
    recordEvents(this.tail, (line) => this.lines.push(line));
    const times = watch(this.tail);
    const dog = create(watchdog, {});
    let seed = 7;
    const draw = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const queue: { at: number; seq: number; event: Unstamped }[] = [];
    let [seq, drawn, round] = [0, 0, 1];
    const later = (wait: number, event: Unstamped) => void queue.push({ at: this.at + wait, seq: seq++, event });
    const hear = (message: object): void => {
      if (!dog.takes(message as never)) return;
      for (const one of dog.send({ ...message, at: this.at } as never) as WatchdogDecision[])
        if (one.type !== 'timer.set') this.said.push(one);
    };
    later(0, { type: 'round.requested', roundId: 'r1', weightVersion: 1 });
    let wasStalled = false;
    for (;;) {
      queue.sort((a, b) => a.at - b.at || a.seq - b.seq);
      const next = queue.shift();
      if (next === undefined || next.at > seconds) break;
      this.at = Math.max(this.at, next.at);
      const event = { ...next.event, at: this.at };
      const made = this.tail.send(event as never) as VocabularyDecision[];
      for (const one of [event, ...made]) hear(one);
      // What is filtered is filtered when it is scored.
      if (event.type === 'reward.ready' || event.type === 'timer.fired') {
        const { stalled } = this.tail.why(undefined, undefined, times);
        if (stalled !== undefined && !wasStalled) this.stalled.push(stalled);
        wasStalled = stalled !== undefined;
      }
      for (const one of made) {
        if (one.type === 'prompts.request') {
          const wait = sourceSeconds(round, one.reason.code);
          const prompts = Array.from({ length: one.count }, () => ({ promptId: `p${drawn++}` }));
          if (wait !== undefined) later(wait, { type: 'prompts.supplied', roundId: one.roundId, prompts });
        } else if (one.type === 'request.launch') {
          later(responseSeconds(round) * (0.5 + draw()), {
            type: 'response.completed',
            requestId: one.requestId,
            tokens: 9,
          });
        } else if (one.type === 'response.accepted') {
          later(1, { type: 'reward.ready', requestId: one.requestId, reward: reward(round, draw) });
        } else if (one.type === 'request.abort')
          later(0.2, { type: 'request.aborted', requestId: one.requestId, tokens: 1 });
        else if (one.type === 'timer.set')
          later(one.fireAtSeconds - this.at, { type: 'timer.fired', timerId: one.timerId });
        else if (one.type === 'round.drained') {
          round += 1;
          later(20, { type: 'round.requested', roundId: `r${round}`, weightVersion: round });
        }
      }
    }
    // The clock goes on to the end.
    this.at = Math.max(this.at, seconds);
    hear({ type: 'timer.fired', timerId: 'watchdog/check' });
  }

  async explain(...args: string[]): Promise<string> {
    const folder = folders.next();
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'run.jsonl');
    writeFileSync(path, `${this.lines.join('\n')}\n`);
    const { code, out, err } = await rollflex('explain', path, ...args);
    return code === 0 ? out.replaceAll('\n', ' ').trim() : `${code} ${err.trim()}`;
  }
}

/** From round 4 on the model solves nothing. */
const collapsed = { reward: (round: number, draw: () => number) => (round >= 4 ? 0 : Math.round(draw())) };

describe('a model that has collapsed', () => {
  const job = new Watched({ ...collapsed, seconds: 9000 });
  const filtered = job.tail.why('r4', 'rounds').stalled!.filtered;

  test('is named by the watchdog, once, with the numbers', () => {
    expect(filtered).toBeGreaterThan(400);
    expect(job.said.map(({ type }) => type)).toEqual(['round.stalled']);
    expect(job.said[0]).toMatchObject({
      roundId: 'r4',
      filtered: 32,
      reason: { code: 'filtered', mostFiltered: 32, counted: expect.any(Number) },
    });
  });

  test('is named by why, whether the policy was followed or not, and at the same moment', () => {
    const [{ at, sinceSeconds }] = job.said as [Extract<WatchdogNotice, { type: 'round.stalled' }>];
    expect(job.stalled).toEqual([
      {
        ...{
          what: 'rounds',
          id: 'r4',
          stands: 'has 0 of 4 prompts, and 32 in a row were filtered',
          since: expect.any(Number),
        },
        ...{ filtered: 32, filteredSince: sinceSeconds, mostFiltered: 32 },
      },
    ]);
    expect(at).toBeGreaterThan(sinceSeconds);
    // What is usual is not known.
    expect(job.tail.why().stalled).toMatchObject({ id: 'r4', filtered, mostFiltered: 128 });
  });

  test('is named by explain', async () => {
    const answer = await job.explain();
    expect(answer).toMatch(
      new RegExp(
        `^tail-batching gains nothing: round r4 has 0 of 4 prompts, and ${filtered} in a row were filtered in 2\\.\\d h\\. 32 or more are unusual here\\.`,
      ),
    );
    expect(await job.explain('--round', 'r4')).toContain(`${filtered} in a row were filtered in 2.`);
    expect(JSON.parse(await job.explain('--json'))).toMatchObject({
      sessions: [{ verdict: 'stalled', stalled: { id: 'r4' } }],
    });
  });

  test('ends its rounds where that is set, and says so', () => {
    const bounded = new Watched({ ...collapsed, seconds: 9000, config: { maxFiltered: 40 } });
    const ends = bounded.lines.flatMap((line) => (line.includes('"round.completed"') ? [line] : []));
    expect(ends.length).toBeGreaterThan(8);
    for (const line of ends.slice(3))
      expect(line).toContain('"reason":{"code":"filtered","counted":0,"needed":4,"filtered":');
  });
});

describe('a job that filters most prompts', () => {
  // The rarer it is that one passes, the longer what could be taken for a standstill.
  test.each([
    [0.5, 10_000],
    [0.2, 20_000],
    [0.1, 40_000],
  ])('and passes each with the chance %f is not named', async (chance, seconds) => {
    // The rewards of both responses differ with this chance.
    const part = (1 - Math.sqrt(1 - 2 * chance)) / 2;
    const job = new Watched({ seconds, reward: (_, draw) => Number(draw() < part) });
    expect(job.said).toEqual([]);
    expect(job.stalled).toEqual([]);
    expect(await job.explain()).toMatch(/^Nothing is stuck/);
  });
});

describe('a source that is asked again late in a long round', () => {
  // Round 9 takes half an hour, then its prompts are filtered; the source has had two seconds for the last question.
  const job = new Watched({
    ...{ seconds: 100_000, config: { promptSpeculation: 1, responseSpeculation: 1 } },
    reward: (round, draw) => (round === 9 ? 0 : draw()),
    responseSeconds: (round) => (round === 9 ? 1500 : 120),
    sourceSeconds: (round, code) => (round === 9 && code === 'filtered' ? undefined : 0.1),
  });
  const asked = job.lines.flatMap((line) => {
    const { event, decisions = [] } = JSON.parse(line) as { event?: { at: number }; decisions?: { type: string }[] };
    return decisions.some(({ type }) => type === 'prompts.request') ? [event!.at] : [];
  });

  test('is not late: its question is as old as its last asking', async () => {
    const last = asked.at(-1)!;
    const owed = job.tail.why('r9', 'rounds').owed.find(({ event }) => event.type === 'prompts.supplied');
    expect(owed?.since).toBe(last);
    expect(await job.explain('--at', `${last + 2}s`)).toMatch(
      /^Nothing is stuck in tail-batching .* owes prompts\.supplied of r9, for 2\.0 s/,
    );
    // In the end it is.
    expect(job.said).toMatchObject([{ type: 'host.owes', event: 'prompts.supplied', sinceSeconds: last }]);
    expect(await job.explain('--at', '100000s')).toMatch(
      /^tail-batching is stuck: the data source owes prompts\.supplied of r9/,
    );
  });
});
