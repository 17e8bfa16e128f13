/** A model that has collapsed: from some round on all prompts are filtered. Rounds that are bounded end, and lose no prompt. */
import { describe, expect, test } from 'vitest';
import {
  type AnyPolicyDefinition,
  agenticRollout,
  create,
  losslessTail,
  registry,
  rollpacker,
  tailBatching,
  tailPipelining,
} from '../../../src/index.ts';
import { partConfigs as agentic } from '../../../src/recipes/agentic-rollout/schema.ts';
import { partConfigs as lossless } from '../../../src/recipes/lossless-tail/schema.ts';
import { partConfigs as packer } from '../../../src/recipes/rollpacker/schema.ts';
import { partConfigs as pipelining } from '../../../src/recipes/tail-pipelining/schema.ts';
import type { VocabularyDecision, VocabularyEvent } from '../../../src/schemas/index.ts';
import { smallCluster } from '../../support/examples/configs.ts';

type Unstamped = VocabularyEvent extends infer E ? (E extends VocabularyEvent ? Omit<E, 'at'> : never) : never;

interface Ended {
  readonly code: string;
  readonly trained: readonly string[];
  /** Prompts that were supplied for it, and filtered in it. */
  readonly supplied: number;
  readonly filtered: number;
}

/** Plays so many rounds, in which the rewards differ where `differs` says so; returns what each has ended with, and where prompts are. */
function play(definition: AnyPolicyDefinition, config: object, rounds: number, differs: (round: number) => boolean) {
  const policy = create(definition, {
    ...{ promptsPerRound: 4, responsesPerPrompt: 2, filter: 'zero-variance', ...config },
  } as never);
  const ended: Ended[] = [];
  const gone: string[] = [];
  let drawn = 0;
  let [supplied, filtered] = [0, 0];
  const events: Unstamped[] = [{ type: 'round.requested', roundId: 'r0', weightVersion: 0 }];
  for (let at = 0; events.length > 0 && ended.length < rounds; at += 1) {
    if (at >= 20_000) throw new Error('no end within 20000 events');
    for (const one of policy.send({ ...events.shift()!, at } as never) as VocabularyDecision[]) {
      if (one.type === 'prompts.request') {
        supplied += one.count;
        const prompts = Array.from({ length: one.count }, () => ({ promptId: `p${drawn++}` }));
        events.push({ type: 'prompts.supplied', roundId: one.roundId, prompts });
      } else if (one.type === 'request.launch') {
        const { requestId, index } = one;
        events.push({ type: 'response.completed', requestId, tokens: 9 });
        events.push({ type: 'reward.ready', requestId, reward: differs(ended.length) ? index % 2 : 1 });
      } else if (one.type === 'request.abort') {
        const { requestId } = one;
        const place = events.findIndex((event) => 'requestId' in event && event.requestId === requestId);
        events.splice(place, 2, { type: 'request.aborted', requestId, tokens: 1 });
      } else if (one.type === 'prompt.filtered') {
        filtered += 1;
        gone.push(one.promptId);
      } else if (one.type === 'round.completed') {
        const trained = one.prompts.map(({ promptId }) => promptId);
        gone.push(...trained);
        ended.push({ code: one.reason.code, trained, supplied, filtered });
        [supplied, filtered] = [0, 0];
      } else if (one.type === 'round.drained') {
        events.push({ type: 'round.requested', roundId: `r${ended.length}`, weightVersion: ended.length });
      }
    }
  }
  const held = [...policy.held()].flatMap(({ what, id }) => (what === 'prompts' ? [id] : []));
  return { ended, gone, held, drawn };
}

describe.each<[string, AnyPolicyDefinition, object, number]>([
  ['tail-batching', tailBatching as never, {}, 0],
  ['tail-batching one step off', tailBatching as never, { maxStaleness: 1 }, 1],
  ['tail-batching with partial rollout', tailBatching as never, { partialRollout: true, maxStaleness: 1 }, 0],
  ['lossless-tail', losslessTail as never, { windowRounds: 2 }, 0],
  ['agentic-rollout', agenticRollout as never, {}, 0],
  // Of the round before, one prompt runs on into it.
])('%s', (_name, definition, config, carried) => {
  test('a round of a model that has collapsed ends with nothing, and the next one asks again', () => {
    const { ended, gone, held, drawn } = play(definition, { ...config, maxFiltered: 12 }, 4, (round) => round !== 2);
    expect(ended.map(({ code }) => code)).toEqual(['quota_reached', 'quota_reached', 'filtered', 'quota_reached']);
    const { filtered, trained } = ended[2]!;
    expect(trained).toHaveLength(carried);
    expect(filtered).toBeGreaterThanOrEqual(12);
    // Those that the round had begun with may still be filtered.
    expect(filtered).toBeLessThan(12 + 5);
    // Each prompt is trained, filtered, or still here, and so once.
    expect(new Set([...gone, ...held]).size).toBe(gone.length + held.length);
    expect(gone.length + held.length).toBeLessThanOrEqual(drawn);
  });

  test('without a bound it works for ever, and why says so', () => {
    const policy = create(definition, {
      ...{ promptsPerRound: 4, responsesPerPrompt: 2, filter: 'zero-variance', ...config },
    } as never);
    expect(policy.why()).not.toHaveProperty('stalled');
    expect(() => play(definition, config, 4, (round) => round !== 2)).toThrow('20000');
  });
});

test('every recipe with such rounds has the setting, and gives it to them', () => {
  const settings = { promptsPerRound: 4, responsesPerPrompt: 2, maxFiltered: 9 };
  const all = [
    [losslessTail, lossless, { windowRounds: 2 }],
    [agenticRollout, agentic, {}],
    [rollpacker, packer, smallCluster],
    [tailPipelining, pipelining, { globalBatchSamples: 4 }],
  ] as const;
  for (const [definition, partConfigs, config] of all) {
    const parsed = definition.config.parse({ ...config, ...settings });
    expect(partConfigs(parsed as never).admission).toMatchObject({ maxFiltered: 9 });
  }
  const holds = registry.policies.filter(({ decisions }) => decisions.some(({ type }) => type === 'prompt.filtered'));
  const ids = ['speculative-admission', 'tail-batching', ...all.map(([{ id }]) => id)];
  expect(holds.map(({ id }) => id).sort()).toEqual(ids.sort());
});
