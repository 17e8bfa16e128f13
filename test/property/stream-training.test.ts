/**
 * The invariants of stream-training, by their numbers in its README, with a host that carries out every command on real
 * numbers, under losses, restarts, late reports and restored snapshots.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { longestFirst } from '../../src/core/numeric/longest-first.ts';
import { scaleFactor } from '../../src/core/numeric/renormalize.ts';
import { streamTraining } from '../../src/policies/stream-training/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { type HostGroup, TrainingHost } from '../support/hosts/training.ts';

type Choices = ReturnType<typeof choicesFrom>;

/** One job of some rounds. */
class Job {
  readonly host: TrainingHost;
  readonly #choices: Choices;
  #policy: ReturnType<typeof start>;
  #at = 0;
  #restarts = 0;
  readonly #rounds = new Map<string, HostGroup[]>();
  #reports: Record<string, unknown>[] = [];

  constructor(config: unknown, choices: Choices) {
    this.#policy = start(config);
    this.#choices = choices;
    this.host = new TrainingHost(this.#policy.config);
  }

  send(event: Record<string, unknown>): void {
    this.#at += this.#choices.below(3);
    const decisions = this.#policy.send({ at: this.#at, ...event } as never);
    this.host.told(decisions);
    this.#compare();
    if (this.#choices.below(9) === 0) this.#policy = resume(this.#policy.snapshot());
  }

  /** Invariants 1 and 5: what the snapshot shows is what the host knows. */
  #compare(): void {
    const { rounds, replicas } = this.#policy.snapshot().state as ReturnType<typeof streamTraining.save>;
    for (const { id, consumed, works, present } of replicas) {
      const mine = this.host.replicas.get(id)!;
      expect(consumed.map((one) => one.groupId)).toEqual(mine.groups.map((one) => one.groupId));
      const roundId = rounds[0]?.roundId;
      expect(works.map((one) => one.groups.map((group) => `${roundId} ${group.groupId}`))).toEqual(
        mine.works.map((one) => one.groups),
      );
      expect(present).toBe(mine.present);
    }
    const head = rounds[0];
    const { config } = this.host;
    if (head?.phase !== 'streaming' || config.fetch !== 'stream') return;
    const all = replicas.flatMap(({ consumed, works }) => [...consumed, ...works.flatMap((one) => one.groups)]);
    const waits = head.again.length + head.fresh.length;
    if (waits < config.minFetchGroups || waits + all.length >= config.groupsPerRound) return;
    for (const { id, gpuIds } of config.replicas) {
      const { present, works } = this.host.replicas.get(id)!;
      const streams = present && gpuIds.every((gpu) => this.host.released.has(`${head.roundId} ${gpu}`));
      expect(streams && works.length === 0).toBe(false);
    }
  }

  #open(roundId: string): HostGroup[] {
    const before = this.#rounds.get(roundId);
    if (before !== undefined) return before;
    this.#rounds.set(roundId, []);
    this.send({ type: 'round.opened', roundId, kind: 'long', weightVersion: 0, prompts: [] });
    return this.#rounds.get(roundId)!;
  }

  #add(roundId: string, groups: HostGroup[]): void {
    const groupId = `g${groups.length}`;
    const samples = Array.from({ length: 1 + this.#choices.below(3) }, () => this.#sample());
    const group = { roundId, groupId, samples };
    groups.push(group);
    this.host.groups.set(`${roundId} ${groupId}`, group);
    this.#complete(group);
  }

  round(roundId: string, nextId: string, troubled: boolean): void {
    const choices = this.#choices;
    const { groupsPerRound } = this.host.config;
    const final = this.#open(roundId);
    const target = choices.below(6) === 0 ? choices.below(groupsPerRound) : groupsPerRound;
    while (final.length < target) {
      this.#add(roundId, final);
      if (choices.below(3) === 0) this.#gpus('gpus.released', roundId);
      for (let more = choices.below(4); more > 0; more -= 1) this.#something(roundId, troubled);
      if (troubled && choices.below(30) === 0) {
        this.send({ type: 'round.failed', roundId });
        return;
      }
    }
    // Now and then a completed group is not final.
    if (troubled && choices.below(3) === 0) final.splice(choices.below(final.length + 1), 1);
    this.host.completed.add(roundId);
    const prompts = final.map(({ groupId }) => {
      return { promptId: groupId, responses: [{ requestId: 'q', index: 0, tokens: 1, weightVersions: [0] }] };
    });
    const reason = { code: 'quota_reached', counted: prompts.length, needed: prompts.length };
    const kind = { kind: 'long', weightVersion: 0, openedSeconds: 0, deferred: 0 };
    this.send({ type: 'round.completed', roundId, prompts, ...kind, reason });
    // The rollout of the next round goes on beside the training of this one (one-step off-policy pipelines).
    const next = choices.below(2) === 0 ? this.#open(nextId) : undefined;
    for (let more = choices.below(12); more > 0; more -= 1) {
      this.#something(roundId, troubled);
      if (next === undefined || choices.below(3) > 0) continue;
      if (choices.below(2) === 0) this.#gpus('gpus.released', nextId);
      else if (next.length < groupsPerRound) this.#add(nextId, next);
    }
    this.#playAlong(roundId);
    // Invariants 2 and 7.
    expect([...this.host.trained.get(roundId)!].sort()).toEqual(final.map((one) => one.groupId).sort());
    this.send({ type: 'gpus.returned', roundId, gpuIds: [] });
    for (const key of [...this.host.released]) if (key.startsWith(`${roundId} `)) this.host.released.delete(key);
  }

  #sample(): HostGroup['samples'][number] {
    return { tokens: this.#choices.below(50), gradient: (this.#choices.below(2001) - 1000) / 7 };
  }

  #complete({ roundId, groupId, samples }: HostGroup): void {
    const tokens = samples.reduce((total, one) => total + one.tokens, 0);
    const event = { type: 'group.completed', roundId, groupId, samples: samples.length, tokens };
    this.send(event);
    if (this.#choices.below(8) === 0) this.send(event);
  }

  #gpus(type: 'gpus.released' | 'gpus.returned', roundId: string): void {
    const all = this.host.config.replicas.flatMap((one) => one.gpuIds);
    const gpuIds = all.filter(() => this.#choices.below(3) > 0);
    for (const gpu of gpuIds) {
      if (type === 'gpus.released') this.host.released.add(`${roundId} ${gpu}`);
      else this.host.released.delete(`${roundId} ${gpu}`);
    }
    this.send({ type, roundId, gpuIds });
  }

  #something(roundId: string, troubled: boolean): void {
    const choices = this.#choices;
    const busy = [...this.host.replicas].filter(([, one]) => one.works.length > 0);
    const kind = troubled ? choices.below(20) : 19;
    const ids = [...this.host.replicas.keys()];
    const replica = ids[choices.below(ids.length)]!;
    if (kind < 2) {
      this.host.lose(replica);
      this.send({ type: 'replica.lost', replica });
    } else if (kind < 4) {
      this.host.replicas.get(replica)!.present = true;
      this.send({ type: 'replica.added', replica });
    } else if (kind === 4) this.#gpus('gpus.returned', roundId);
    else if (kind === 5 && choices.below(3) === 0) {
      this.host.restart();
      this.#reports = [];
      this.send({ type: 'host.restarted', idPrefix: `h${this.#restarts++}-` });
    } else if (kind === 6 && this.#reports.length > 0) {
      this.send(this.#reports[choices.below(this.#reports.length)]!);
    } else if (kind === 7) this.#stepAgain();
    else if (busy.length > 0) this.#finish(busy[choices.below(busy.length)]![0], troubled);
  }

  /** Invariant 9: a step that is over is reported again, or one that was given up has been made. */
  #stepAgain(): void {
    const { stepping, steps, confirmed } = this.host;
    const over = steps.filter((one) => one.updateId !== stepping?.updateId);
    const step = over[this.#choices.below(over.length + 1)];
    if (step === undefined) return;
    const { state } = this.#policy.snapshot();
    const code = confirmed.has(step.updateId) ? 'update_over' : 'step_withdrawn';
    expect(this.#policy.send({ type: 'optimizer.stepped', at: this.#at, ...step })).toMatchObject([
      { type: 'training.late', ...step, reason: { code } },
    ]);
    expect(this.#policy.snapshot().state).toEqual(state);
  }

  #finish(replica: string, troubled: boolean): void {
    const { works } = this.host.replicas.get(replica)!;
    const left = troubled && this.#choices.below(5) === 0 ? this.#choices.below(works[0]!.groups.length + 1) : -1;
    const { event } = this.host.finish(replica, works[0]!, left);
    const report = { ...event, seconds: this.#choices.below(5) };
    this.#reports.push(report);
    this.send(report);
  }

  /** Brings a replica back if there is none, finishes all work, and steps. */
  #playAlong(roundId: string): void {
    const [first] = this.host.replicas.keys();
    for (let turns = 0; turns < 200 && !this.host.trained.has(roundId); turns += 1) {
      const busy = [...this.host.replicas].find(([, one]) => one.works.length > 0);
      if (busy !== undefined) this.#finish(busy[0], false);
      else if (this.host.stepping?.roundId === roundId) this.send({ type: 'optimizer.stepped', ...this.host.stepping });
      else {
        this.host.replicas.get(first!)!.present = true;
        this.send({ type: 'replica.added', replica: first });
      }
    }
  }
}

const start = (config: unknown) => create(streamTraining, config as never);
const resume = (snapshot: unknown) => create(streamTraining, { snapshot: JSON.parse(JSON.stringify(snapshot)) });

function run(config: unknown, tape: readonly number[], troubled: boolean, rounds = 4): Job {
  const job = new Job(config, choicesFrom(tape));
  for (let index = 0; index < rounds; index += 1) job.round(`r${index}`, `r${index + 1}`, troubled);
  return job;
}

const configs = exampleConfigs['stream-training']!.flatMap((config) => [
  config,
  { ...config, unit: 'groups', divisor: undefined, collective: config.collective === 'sum' ? 'mean' : 'sum' },
]);

describe('stream-training', () => {
  test.each(configs.map((config) => [JSON.stringify(config), config] as const))(
    'invariants 1 to 5 and 7 to 9 hold with %s',
    (_name, config) => {
      fc.assert(
        fc.property(tapes(), fc.boolean(), (tape, troubled) => void run(config, tape, troubled)),
        runs(40),
      );
    },
  );

  test('the host model does train while it streams', () => {
    const tape = Array.from({ length: 397 }, (_, index) => (index * index * 7919 + index * 31) % 999_983);
    expect(run(configs[0], tape, true, 30).host.fetches).toBeGreaterThan(30);
  });
});

const size = fc.integer({ min: 0, max: 40 });

/** When the last worker is done in the best of all plans. */
function best(sizes: readonly number[], workers: readonly { freeInSeconds: number; secondsPerUnit: number }[]): number {
  let least = Number.POSITIVE_INFINITY;
  const place = (job: number, ends: readonly number[]): void => {
    if (Math.max(...ends) >= least) return;
    if (job === sizes.length) {
      least = Math.max(...ends);
      return;
    }
    for (let at = 0; at < ends.length; at += 1) {
      place(job + 1, ends.with(at, ends[at]! + sizes[job]! * workers[at]!.secondsPerUnit));
    }
  };
  place(
    0,
    workers.map((one) => one.freeInSeconds),
  );
  return least;
}

describe('the shares of a round', () => {
  test('invariant 6: with equal replicas that are free, within 4/3 of the best', () => {
    fc.assert(
      fc.property(fc.array(size, { maxLength: 8 }), fc.integer({ min: 1, max: 4 }), (sizes, m) => {
        const workers = Array.from({ length: m }, () => ({ freeInSeconds: 0, secondsPerUnit: 2 }));
        const { shares, makespanSeconds } = longestFirst(sizes, workers);
        expect(shares.flat().sort((a, b) => a - b)).toEqual(sizes.map((_, index) => index));
        expect(makespanSeconds).toBeLessThanOrEqual((4 / 3) * best(sizes, workers) + 1e-9);
      }),
      runs(300),
    );
  });

  const pace = fc.integer({ min: 1, max: 4 });
  const busy = fc.integer({ min: 0, max: 60 });

  test('invariant 6: with replicas of different pace within 19/12, and busy ones too within 2', () => {
    fc.assert(
      fc.property(
        fc.array(size, { maxLength: 8 }),
        fc.array(fc.tuple(pace, busy), { minLength: 1, maxLength: 4 }),
        (sizes, given) => {
          const paced = given.map(([secondsPerUnit]) => ({ freeInSeconds: 0, secondsPerUnit }));
          expect(longestFirst(sizes, paced).makespanSeconds).toBeLessThanOrEqual((19 / 12) * best(sizes, paced) + 1e-9);
          const both = given.map(([secondsPerUnit, freeInSeconds]) => ({ freeInSeconds, secondsPerUnit }));
          expect(longestFirst(sizes, both).makespanSeconds).toBeLessThanOrEqual(2 * best(sizes, both) + 1e-9);
        },
      ),
      runs(200),
    );
  });
});

test('invariant 4: scaled gradients combine to the monolithic one for any split, empty replicas included', () => {
  const part = fc.array(fc.record({ gradient: fc.double({ min: -1e3, max: 1e3, noNaN: true }) }), { maxLength: 6 });
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 8 }),
      fc.constantFrom('mean' as const, 'sum' as const),
      fc.constantFrom('mean' as const, 'sum' as const),
      (parts, reduction, collective) => {
        const total = parts.flat().length;
        const sums = parts.map((one) => one.reduce((all, { gradient }) => all + gradient, 0));
        const scaled = parts.map((one, at) => {
          const local = reduction === 'mean' && one.length > 0 ? sums[at]! / one.length : sums[at]!;
          return scaleFactor({ units: one.length, total, replicas: parts.length, reduction, collective }) * local;
        });
        const all = scaled.reduce((sum, one) => sum + one, 0) / (collective === 'mean' ? parts.length : 1);
        const monolithic = total === 0 ? 0 : sums.reduce((sum, one) => sum + one, 0) / total;
        const magnitude = parts.flat().reduce((sum, { gradient }) => sum + Math.abs(gradient), 0);
        expect(Math.abs(all - monolithic)).toBeLessThanOrEqual(1e-12 * magnitude);
      },
    ),
    runs(500),
  );
});
