/** The invariants of long-prompt-queue, by their numbers in its README, under random events and restored snapshots. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { scaledCount } from '../../src/core/rollout/prompts.ts';
import { arbitrary } from '../../src/policies/long-prompt-queue/arbitrary.ts';
import {
  type LongPromptQueueConfig,
  type LongPromptQueueDecision,
  type LongPromptQueueEvent,
  longPromptQueue,
} from '../../src/policies/long-prompt-queue/index.ts';
import type { Prompt } from '../../src/schemas/index.ts';
import { tapes } from '../../src/testing/index.ts';
import { playEvents } from '../support/basics/play-events.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

interface Saved {
  entries: { prompt: Prompt }[];
  unused: Prompt[];
  rounds: number;
}
type Planned = Extract<LongPromptQueueDecision, { type: 'round.planned' }>;

const finishedIds = (prompt: Prompt) => (prompt.kept ?? []).filter((one) => one.finished).map((one) => one.requestId);
const sorted = (ids: readonly string[]) => [...ids].sort();

function without(all: readonly string[], gone: readonly string[]): string[] {
  const left = [...all];
  for (const id of gone) {
    const at = left.indexOf(id);
    expect(at, `${id} was not here`).toBeGreaterThanOrEqual(0);
    left.splice(at, 1);
  }
  return left;
}

/** What the queue was given and has not handed over, from its events and decisions alone. */
class QueueModel {
  prompts: string[] = [];
  responses: string[] = [];
  readonly deferrals = new Map<string, number>();
  exhausted = false;
  open: string | undefined;

  sent(event: LongPromptQueueEvent): void {
    if (event.type === 'source.exhausted') this.exhausted ||= event.domain === undefined;
    else if (event.type === 'source.reopened') this.exhausted = false;
    else if (event.type === 'round.completed' && event.roundId === this.open) this.open = undefined;
    else if (event.type === 'prompt.deferred' || event.type === 'prompt.returned') {
      this.prompts.push(event.prompt.promptId);
      this.responses.push(...finishedIds(event.prompt));
    }
  }

  told(decisions: readonly LongPromptQueueDecision[], promptsPerRound: number, speculation: number): void {
    let planned: Planned | undefined;
    let requested = 0;
    for (const decision of decisions) {
      if (decision.type === 'round.planned') planned = decision;
      else if (decision.type === 'prompts.request') requested = decision.count;
      else if (decision.type === 'prompts.released') {
        expect(decision.roundId).toBe(this.open); // invariant 9
        expect(decision.queued.length).toBeGreaterThan(0);
        this.handOver(decision.queued);
      } else if (decision.type === 'prompt.merged') {
        this.prompts = without(this.prompts, [decision.promptId]);
        this.responses = without(
          this.responses,
          decision.dropped.map((one) => one.requestId),
        );
      }
    }
    if (planned === undefined) return;
    this.open = planned.roundId;
    const ids = planned.queued.map((one) => one.promptId);
    this.handOver(planned.queued);
    // Invariant 3.
    const target = planned.kind === 'long' ? promptsPerRound : scaledCount(speculation, promptsPerRound);
    if (this.exhausted) expect(ids.length).toBeLessThanOrEqual(target);
    else expect(ids.length + requested).toBe(target);
  }

  handOver(queued: readonly Prompt[]): void {
    const ids = queued.map((one) => one.promptId);
    this.prompts = without(this.prompts, ids);
    this.responses = without(this.responses, queued.flatMap(finishedIds));
    for (const id of ids) this.deferrals.delete(id);
  }

  compareWith({ entries, unused }: Saved): void {
    const here = [...entries.map((one) => one.prompt), ...unused];
    expect(sorted(here.map((one) => one.promptId))).toEqual(sorted(this.prompts)); // invariant 1
    expect(sorted(here.flatMap(finishedIds))).toEqual(sorted(this.responses)); // invariant 2
    const queued = entries.map((one) => one.prompt);
    expect(new Set(here.map((one) => one.promptId)).size).toBe(here.length); // invariant 4
    for (const { promptId, deferral } of queued) {
      const before = this.deferrals.get(promptId) ?? 0;
      expect(deferral?.count ?? 0).toBeGreaterThanOrEqual(before); // invariant 5
      this.deferrals.set(promptId, deferral?.count ?? 0);
    }
  }
}

const since = ({ deferral }: Prompt): number => deferral?.sinceRound ?? 0;

/** Invariant 7: whoever has waited too long is in the round, or the round is full of those that waited as long. */
function expectNobodyStarves(before: Saved, after: Saved, { queued }: Planned, settings: LongPromptQueueConfig): void {
  const { maxWaitRounds, promptsPerRound } = settings;
  const isOverdue = (prompt: Prompt): boolean => before.rounds - since(prompt) >= maxWaitRounds;
  const left = after.entries.map((one) => one.prompt).filter(isOverdue);
  if (left.length === 0) return;
  expect(queued).toHaveLength(promptsPerRound);
  expect(Math.max(...queued.map(since))).toBeLessThanOrEqual(Math.min(...left.map(since)));
}

function run(config: Record<string, unknown>, tape: readonly number[]): void {
  const settings = longPromptQueue.config.parse(config);
  const model = new QueueModel();
  let before = create(longPromptQueue, config as never).snapshot().state as Saved;
  playEvents(longPromptQueue, arbitrary, { config, tape, steps: 80 }, (event, decisions, queue) => {
    model.sent(event);
    model.told(decisions, settings.promptsPerRound, settings.promptSpeculation);
    const after = queue.snapshot().state as Saved;
    model.compareWith(after);
    for (const one of decisions) {
      if (one.type === 'round.planned') expectNobodyStarves(before, after, one, settings);
    }
    const isOver = event.type === 'source.exhausted' && model.exhausted;
    if (isOver && model.open !== undefined) expect(after.entries.length + after.unused.length).toBe(0); // invariant 9
    before = after;
  });
}

describe('long-prompt-queue', () => {
  const configs = [...exampleConfigs['long-prompt-queue']!, { promptsPerRound: 2, maxWaitRounds: 1 }];
  test.each(configs.map((config) => [JSON.stringify(config), config] as const))(
    'invariants 1 to 6 and 9 hold with %s',
    (_name, config) => {
      fc.assert(
        fc.property(tapes(), (tape) => run(config, tape)),
        runs(150),
      );
    },
  );
});
