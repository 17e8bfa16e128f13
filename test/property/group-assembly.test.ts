/**
 * The invariants of group-assembly, by their numbers in its README: likely, late, repeated and wrong events, restored
 * snapshots, and in the end a host that finishes everything. What is refused, too, is what must be.
 */

import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { create, type PolicyOf } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { arbitrary } from '../../src/policies/group-assembly/arbitrary.ts';
import { groupAssembly } from '../../src/policies/group-assembly/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs, scale } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import {
  AssemblyModel,
  type GroupAssemblyDecision,
  type GroupAssemblyEvent,
  type Refusal,
  type SavedAssembly,
} from '../support/oracles/group-assembly.ts';

/** What there is to see after an event. */
interface Moment {
  readonly event: GroupAssemblyEvent;
  readonly decisions: readonly GroupAssemblyDecision[];
  readonly state: SavedAssembly;
  /** What the model says. */
  readonly expected: readonly GroupAssemblyDecision[];
  readonly model: AssemblyModel;
}
type Look = (moment: Moment) => void;
const seen = new Set<string>();

class Run {
  readonly model: AssemblyModel;
  /** Every response that was ever accepted. */
  readonly #accepted: string[] = [];
  readonly #shadow: ReturnType<typeof groupAssembly.init>;
  readonly #look: Look;
  #policy: PolicyOf<typeof groupAssembly>;

  constructor(config: object, look: Look) {
    this.#look = look;
    this.#policy = create(groupAssembly, config);
    this.#shadow = groupAssembly.init(groupAssembly.config.parse(config));
    this.model = new AssemblyModel(this.#policy.config);
  }

  get state(): SavedAssembly {
    return this.#policy.snapshot().state as SavedAssembly;
  }

  likely(choices: ReturnType<typeof choicesFrom>): GroupAssemblyEvent {
    const { at } = this.#policy;
    const late = this.#accepted[choices.below(this.#accepted.length + 1)];
    // Rewards come for what has left, too.
    if (choices.below(10) === 0 && late !== undefined) return { type: 'reward.ready', at, requestId: late, reward: 1 };
    return arbitrary(this.#shadow, choices);
  }

  restore(): void {
    this.#policy = create(groupAssembly, { snapshot: JSON.parse(JSON.stringify(this.#policy.snapshot())) });
  }

  send(event: GroupAssemblyEvent): void {
    const { model } = this;
    const refusal = model.refusal(event);
    let decisions: GroupAssemblyDecision[];
    try {
      decisions = this.#policy.send(event);
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      expect({ code: error.code, path: error.path }).toEqual(refusal);
      seen.add(`refused ${error.code} ${error.path?.replaceAll(/\d+/g, '0')}`);
      return;
    }
    expect(refusal).toBeUndefined();
    const { at } = this.#policy;
    groupAssembly.apply(this.#shadow, event, { at, emit: () => undefined });
    seen.add(event.type);
    if (event.type === 'response.accepted') this.#accepted.push(event.requestId);
    for (const { type, reason } of decisions) seen.add(`${type} ${reason.code}`);
    const { state } = this;
    this.#look({ event, decisions, state, expected: model.step(event, at), model });
  }

  /** A host that plays along: every reward comes, every round ends, every other prompt leaves. */
  finish(choices: ReturnType<typeof choicesFrom>): void {
    const { model } = this;
    for (let steps = 0; steps < 1000; steps += 1) {
      const { at } = this.#policy;
      const doings: GroupAssemblyEvent[] = [
        ...model.awaited.map((requestId) => ({ type: 'reward.ready' as const, at, requestId, reward: 1 })),
        ...model.incomplete.map(({ roundId, promptIds }) => completion(at, roundId, promptIds)),
        ...model.open.map(({ promptId, held }) => ({
          type: 'prompt.deferred' as const,
          at,
          prompt: { promptId },
          roundId: 'last',
          dropped: held.map(({ requestId }) => ({ requestId, tokens: 1, cause: 'stale_weights' as const })),
          reason: { code: 'round_completed' as const, held: held.length, needed: 4 },
        })),
      ];
      if (doings.length === 0) return;
      this.send(doings[choices.below(doings.length)]!);
    }
    throw new Error('it does not end');
  }
}

function completion(at: number, roundId: string, promptIds: readonly string[]): GroupAssemblyEvent {
  const counted = promptIds.length;
  return {
    type: 'round.completed',
    at,
    roundId,
    kind: 'short',
    weightVersion: 1,
    prompts: promptIds.map((promptId) => {
      return { promptId, responses: [{ requestId: 'any', index: 0, tokens: 1, weightVersions: [1] }] };
    }),
    openedSeconds: 0,
    deferred: 0,
    reason: { code: 'quota_reached', counted, needed: counted },
  };
}

/** Runs a host through 60 events and to its end; what is looked at is made anew for each run. */
function check(looker: () => Look): void {
  const configs = fc.constantFrom(...exampleConfigs['group-assembly']!);
  const property = fc.property(configs, tapes(), (config, tape) => {
    const choices = choicesFrom(tape);
    const run = new Run(config, looker());
    for (let index = 0; index < 60; index += 1) {
      run.send(run.likely(choices));
      if (choices.below(10) === 0) run.restore();
    }
    run.finish(choices);
    expect(run.state).toEqual({ rounds: [], open: [] });
  });
  fc.assert(property, runs(40));
}

const ofType = (decisions: readonly GroupAssemblyDecision[], ...types: string[]): GroupAssemblyDecision[] =>
  decisions.filter((one) => types.includes(one.type));

describe('group-assembly', () => {
  test('invariant 1: a prompt that counts is handed over once, and until then it is held', () => {
    check(() => {
      const owed: string[] = [];
      const handOver = (roundId: string, promptId: string): void => {
        expect(owed).toContain(`${roundId} ${promptId}`);
        owed.splice(owed.indexOf(`${roundId} ${promptId}`), 1);
      };
      return ({ event, decisions, state }) => {
        if (event.type === 'prompt.counted') owed.push(`${event.roundId} ${event.promptId}`);
        for (const decision of decisions) {
          if (decision.type === 'group.unrewarded' || decision.type === 'group.withdrawn')
            handOver(decision.roundId, decision.promptId);
          if (decision.type === 'round.rewarded')
            for (const { promptId } of decision.prompts) handOver(decision.roundId, promptId);
        }
        const held = state.rounds.flatMap(({ roundId, groups }) =>
          groups.map(({ promptId }) => `${roundId} ${promptId}`),
        );
        expect(held.sort()).toEqual(owed.toSorted());
      };
    });
  });

  test('invariant 2: a group is complete when, and only when, none of its responses waits', () => {
    const types = ['group.rewarded', 'group.unrewarded', 'group.withdrawn'];
    check(() => ({ decisions, expected }) => {
      expect(ofType(decisions, ...types)).toEqual(ofType(expected, ...types));
    });
  });

  test('invariant 3: a round is ready when it is complete and none of its groups waits, with those of a reward in its order', () => {
    check(() => {
      const order = new Map<string, readonly string[]>();
      return ({ event, decisions, expected, state }) => {
        if (event.type === 'round.completed')
          order.set(
            event.roundId,
            event.prompts.map((one) => one.promptId),
          );
        const ready = ofType(decisions, 'round.rewarded') as { roundId: string; prompts: { promptId: string }[] }[];
        expect(ready).toEqual(ofType(expected, 'round.rewarded'));
        for (const { roundId, prompts } of ready) {
          const ids = prompts.map((one) => one.promptId);
          expect(order.get(roundId)!.filter((id) => ids.includes(id))).toEqual(ids);
        }
        for (const { completed, groups } of state.rounds) {
          const waits = groups.some(({ members }) => members.some((one) => one.reward === undefined));
          if (completed !== null) expect(waits).toBe(true);
        }
      };
    });
  });

  test('invariant 4: what has left is forgotten, and nothing else', () => {
    check(() => ({ decisions, expected, state, model }) => {
      expect(decisions).toStrictEqual(expected);
      expect(state).toStrictEqual(model.state());
    });
  });

  afterAll(() => {
    // Random events that reach only a part of what can be decided and refused prove little.
    const declared = [
      ...groupAssembly.events.map((message) => message.type),
      ...groupAssembly.decisions.flatMap((message) => message.reasons.map((code) => `${message.type} ${code}`)),
      ...(scale < 1 ? [] : refusals).map(({ code, path }) => `refused ${code} ${path}`),
    ];
    // Those are of rolloutpipe, of asynchronous trainers, and of the admission.
    expect(declared.filter((one) => !seen.has(one))).toEqual([
      'group.unrewarded no_response',
      'group.withdrawn filtered',
      'group.withdrawn failed',
      'reward.request round_opened',
    ]);
  });
});

const refusals: readonly Refusal[] = [
  { code: 'duplicate_id', path: 'promptId' },
  { code: 'out_of_order', path: 'roundId' },
  { code: 'invalid_event', path: 'responses' },
  { code: 'duplicate_id', path: 'responses[0].requestId' },
  { code: 'duplicate_id', path: 'roundId' },
  { code: 'unknown_id', path: 'prompts[0].promptId' },
  { code: 'invalid_event', path: 'prompts' },
];
