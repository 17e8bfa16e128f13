/** A host of its own on the loop of the simulator: other clusters, and more jobs than one, with nothing of the loop changed. */
import { describe, expect, test } from 'vitest';
import type { AnyEvent } from '../../../src/core/machine/definition.ts';
import { create, rolloutPipe, tailBatching } from '../../../src/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { EnginePool } from '../../../src/sim/cluster/engines/engine-pool.ts';
import { EventLoop } from '../../../src/sim/cluster/event-loop.ts';
import { InferenceMachine } from '../../../src/sim/cluster/machines/inference.ts';
import type { Machine } from '../../../src/sim/cluster/machines/machine.ts';
import { PromptSupply } from '../../../src/sim/cluster/machines/prompt-supply.ts';
import { Trainer } from '../../../src/sim/cluster/machines/trainer.ts';
import { Verifier } from '../../../src/sim/cluster/machines/verifier.ts';
import { RoundRecord } from '../../../src/sim/cluster/round-record.ts';
import { PromptSource } from '../../../src/sim/cluster/source.ts';
import { plainJob, plainWorkload } from '../../support/simulator/host.ts';

const cost = {
  ...plainJob({ promptsPerRound: 2, responsesPerPrompt: 2 }).cost,
  trainBaseSeconds: 0.05,
  trainSecondsPerToken: 0.0005,
};
const lengths = plainWorkload((prompt, k) => 20 + 7 * prompt + 5 * k);

/** Holds the trainer back while the engines have requests: both have the same GPUs. */
class OnSharedGpus implements Machine {
  readonly #trainer: Trainer;
  readonly #pool: EnginePool;
  readonly #held: VocabularyDecision[] = [];

  constructor(trainer: Trainer, pool: EnginePool) {
    this.#trainer = trainer;
    this.#pool = pool;
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    if (decision.type === 'train.dispatch' && this.#pool.size > 0) this.#held.push(decision);
    else this.#trainer.carryOut(decision, at);
  }

  nextAt(): number {
    return this.#trainer.nextAt();
  }

  advanceTo(at: number): readonly AnyEvent[] {
    if (this.#pool.size === 0) for (const one of this.#held.splice(0)) this.#trainer.carryOut(one, at);
    return this.#trainer.advanceTo(at);
  }
}

/** One round of RolloutPipe, with a trainer on GPUs of its own, or on those of the engines. */
function rolloutPipeRound(isColocated: boolean) {
  const groups = 6;
  const responsesPerPrompt = 2;
  const loop = new EventLoop();
  const source = new PromptSource(lengths, groups);
  const pool = new EnginePool(1, cost, false);
  const verifier = new Verifier({ medianSeconds: 0.1, spread: 0 } as never, source, 1);
  const inference = new InferenceMachine(pool, source, (requestId, at) => verifier.verify(requestId, at));
  const plain = new Trainer(['trainer'], cost, (some) => ({ responses: 2 * some.length, tokens: 60 * some.length }));
  const trainer = isColocated ? new OnSharedGpus(plain, pool) : plain;
  const config = { responsesPerPrompt, globalBatchSamples: 4, pipelining: true, frontier: false };
  const record = new RoundRecord(0, 0);
  let rolledOutAt = 0;
  const link = loop.add(create(rolloutPipe, config as never) as never, [inference, verifier, trainer], (decision) => {
    record.note(decision, loop.now);
    if (decision.type === 'round.completed') rolledOutAt = decision.at;
  });
  inference.beginRound(record, 0);
  const prompts = source.take(groups);
  const roundId = record.roundId;
  link.send({ type: 'round.opened', at: 0, roundId, kind: 'long', weightVersion: 0, prompts } as never);
  for (const { promptId } of prompts)
    for (let index = 0; index < responsesPerPrompt; index += 1)
      link.send({
        type: 'request.arrived',
        at: 0,
        requestId: `${promptId}/${index}#0`,
        promptId,
        roundId,
        index,
      } as never);
  link.report();
  while (record.trainedAt === undefined && loop.runOnce());
  return {
    trainedAt: record.trainedAt!,
    rolledOutAt,
    gradients: plain.trained.filter((one) => one.activity === 'train'),
  };
}

test('RolloutPipe on GPUs that the trainer shares trains after the rollout, and later than on pools', () => {
  const pools = rolloutPipeRound(false);
  const colocated = rolloutPipeRound(true);
  expect(colocated.rolledOutAt).toBe(pools.rolledOutAt);
  expect(Math.min(...pools.gradients.map((one) => one.startSeconds))).toBeLessThan(pools.rolledOutAt);
  expect(Math.min(...colocated.gradients.map((one) => one.startSeconds))).toBeGreaterThanOrEqual(colocated.rolledOutAt);
  expect(colocated.trainedAt).toBeGreaterThan(pools.trainedAt);
});

/** Adds a job of tail batching to a loop, which runs rounds until its source is exhausted. */
function tailBatchingJob(loop: EventLoop, prompts: number, engines: number): { rounds: number; drainedAt: number[] } {
  const source = new PromptSource(lengths, prompts);
  const inference = new InferenceMachine(new EnginePool(engines, cost, false), source);
  const seen = { rounds: 0, drainedAt: [] as number[] };
  const opened: AnyEvent[] = [];
  const next = (): void => {
    const record = new RoundRecord(seen.rounds, loop.now);
    inference.beginRound(record, loop.now);
    opened.push({
      type: 'round.requested',
      at: loop.now,
      roundId: record.roundId,
      weightVersion: seen.rounds,
    } as never);
  };
  // A host may be a machine, too: it requests the next round where the last one has drained.
  const host: Machine = {
    carryOut(decision) {
      if (decision.type !== 'round.drained') return;
      seen.drainedAt.push(loop.now);
      seen.rounds += 1;
      next();
    },
    nextAt: () => (opened.length > 0 ? loop.now : Number.POSITIVE_INFINITY),
    advanceTo: () => opened.splice(0),
  };
  const policy = create(tailBatching, { promptsPerRound: 2, responsesPerPrompt: 2 });
  next();
  loop.add(policy as never, [inference, new PromptSupply(source, true), host]);
  return seen;
}

describe('two jobs on one clock', () => {
  const alone = (prompts: number, engines: number) => {
    const loop = new EventLoop();
    const seen = tailBatchingJob(loop, prompts, engines);
    while (loop.runOnce());
    return seen;
  };

  test('each is what it is alone, since they share nothing else', () => {
    const loop = new EventLoop();
    const jobs = [tailBatchingJob(loop, 12, 1), tailBatchingJob(loop, 20, 2)];
    while (loop.runOnce());
    expect(jobs).toEqual([alone(12, 1), alone(20, 2)]);
    expect(jobs[0]!.rounds).toBeGreaterThan(4);
  });
});
