/** Invariants of lossless-tail, by their numbers in its README: what it trains, against the synchronous baseline. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { losslessTail, speculativeAdmission } from '../../src/index.ts';
import type { VocabularyDecision, VocabularyEvent } from '../../src/schemas/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';

interface Trainee {
  send(event: VocabularyEvent): readonly VocabularyDecision[];
}
type Opening = { readonly at: number; readonly roundId: string; readonly weightVersion: number };

/** Trains all prompts of an epoch, and returns the responses of each round: `prompt/index`. */
function trainEpoch(
  policy: Trainee,
  openRound: (opening: Opening) => VocabularyEvent,
  data: readonly string[],
  {
    epoch,
    tape,
    keepsDeferred,
  }: { readonly epoch: number; readonly tape: readonly number[]; readonly keepsDeferred: boolean },
): string[][] {
  const choices = choicesFrom(tape);
  const rounds: string[][] = [];
  const queue = [...data];
  policy.send({ type: 'source.reopened', at: 0 });
  for (;;) {
    const trained: string[] = [];
    const roundId = `e${epoch}r${rounds.length}`;
    const supplies: VocabularyEvent[] = [openRound({ at: 0, roundId, weightVersion: epoch })];
    const reports: VocabularyEvent[] = [];
    const timers = new Map<string, VocabularyEvent & { type: 'timer.fired' }>();
    while (supplies.length + reports.length + timers.size > 0) {
      // Reports come in any order, and all of them before a pause between tries ends.
      const [timer] = reports.length > 0 ? [] : [...timers.values()].sort((a, b) => a.at - b.at);
      const event = supplies.shift() ?? timer ?? reports.splice(choices.below(reports.length), 1)[0]!;
      if (event === timer) timers.delete(timer.timerId);
      for (const decision of policy.send(event)) {
        if (decision.type === 'timer.set') {
          const { timerId, fireAtSeconds } = decision;
          timers.set(timerId, { type: 'timer.fired', at: fireAtSeconds, timerId });
        } else if (decision.type === 'prompts.request') {
          const { roundId, count } = decision;
          const prompts = queue.splice(0, count).map((promptId) => ({ promptId }));
          if (prompts.length > 0) supplies.push({ type: 'prompts.supplied', at: 0, roundId, prompts });
          if (prompts.length < count) supplies.push({ type: 'source.exhausted', at: 0 });
        } else if (decision.type === 'request.launch') {
          const { requestId, promptId } = decision;
          const fails = choices.below(10) === 0;
          if (fails) reports.push({ type: 'response.failed', at: 0, requestId, kind: 'infrastructure' });
          else reports.push({ type: 'response.completed', at: 0, requestId, tokens: 2 ** (Number(promptId) % 10) });
        } else if (!keepsDeferred && (decision.type === 'prompt.returned' || decision.type === 'prompt.deferred')) {
          // One that was only to be compared with.
          queue.unshift(decision.prompt.promptId);
        } else if (decision.type === 'round.completed') {
          for (const { promptId, responses } of decision.prompts) {
            trained.push(...responses.map(({ index }) => `${promptId}/${index}`));
          }
        }
      }
    }
    if (trained.length === 0) return rounds;
    rounds.push(trained);
  }
}

const settings = fc.record({
  promptsPerRound: fc.integer({ min: 1, max: 4 }),
  responsesPerPrompt: fc.integer({ min: 1, max: 3 }),
});

test('invariant 1: over each whole epoch it trains the same responses of the same prompts as the synchronous baseline', () => {
  let reordered = 0;
  fc.assert(
    fc.property(
      settings,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 4, max: 25 }),
      tapes(),
      (shape, windowRounds, prompts, tape) => {
        const choices = choicesFrom(tape);
        const retry = { infrastructure: 1000 };
        const tail = create(losslessTail, { ...shape, retry, windowRounds }) as Trainee;
        const baseline = create(speculativeAdmission, { ...shape, retry }) as Trainee;
        for (let epoch = 0; epoch < 4; epoch += 1) {
          // Each epoch has an order of its own.
          const data = Array.from({ length: prompts }, (_, index) => ({ id: String(index), key: choices.below(1000) }))
            .sort((a, b) => a.key - b.key)
            .map(({ id }) => id);
          const mine = trainEpoch(tail, (one) => ({ type: 'round.requested', ...one }), data, {
            epoch,
            tape,
            keepsDeferred: true,
          });
          const other = trainEpoch(
            baseline,
            (one) => ({ type: 'round.opened', ...one, kind: 'long', prompts: [] }),
            data,
            { epoch, tape, keepsDeferred: false },
          );
          expect(mine.flat().sort()).toEqual(other.flat().sort());
          // As many rounds, each as large.
          expect(mine.map((one) => one.length)).toEqual(other.map((one) => one.length));
          if (JSON.stringify(mine) !== JSON.stringify(other)) reordered += 1;
        }
      },
    ),
    runs(150),
  );
  expect(reordered).toBeGreaterThan(met(50));
});
