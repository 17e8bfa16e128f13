/** The invariants of frontier-group-dispatch, by their numbers in its README, under random events and restored snapshots. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { arbitrary } from '../../src/policies/frontier-group-dispatch/arbitrary.ts';
import {
  type FrontierGroupDispatchDecision,
  type FrontierGroupDispatchEvent,
  type FrontierGroupDispatchInput,
  frontierGroupDispatch,
} from '../../src/policies/frontier-group-dispatch/index.ts';
import { groupKey } from '../../src/schemas/moves.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

interface Group {
  promptId: string;
  order: number;
  round: number;
  seq: number;
  inService: boolean;
  /** Unfinished requests: whether each is admitted. */
  unfinished: Map<string, boolean>;
}
type Arrival = Extract<FrontierGroupDispatchEvent, { type: 'request.arrived' | 'request.launch' }>;
type Named<T extends FrontierGroupDispatchDecision['type']> = Extract<FrontierGroupDispatchDecision, { type: T }>;

const isArrival = (event: FrontierGroupDispatchEvent): event is Arrival =>
  event.type === 'request.arrived' || event.type === 'request.launch';

/** What the frontier looks like from its events and decisions alone. */
class Model {
  readonly config: FrontierGroupDispatchInput;
  width: number;
  /** By round and prompt. */
  readonly groups = new Map<string, Group>();
  /** Rounds in the order in which they began, and the order of the next group of each. */
  readonly rounds = new Map<string, { ordinal: number; nextOrder: number }>();
  readonly admitted = new Set<string>();
  /** Requests that no decision has named the end of, and the group of each. */
  readonly held = new Map<string, Group>();
  /** Groups that wait for a retry. */
  readonly open = new Set<string>();
  seq = 0;
  latest: FrontierGroupDispatchEvent | undefined;

  constructor(config: FrontierGroupDispatchInput) {
    this.config = config;
    this.width = config.width === 'auto' ? 2 : config.width;
  }

  get inService(): number {
    return [...this.groups.values()].filter((one) => one.inService).length;
  }

  group({ roundId, promptId }: { roundId: string; promptId: string }): Group {
    return this.groups.get(groupKey(roundId, promptId))!;
  }

  /** Before the decisions of an event: what it says. */
  event(event: FrontierGroupDispatchEvent): void {
    this.latest = event;
    if (isArrival(event)) return this.arrived(event);
    const ends = ['response.completed', 'response.failed', 'request.aborted', 'response.abandoned', 'response.dropped'];
    if (!ends.includes(event.type)) return;
    const { requestId } = event as { requestId: string };
    const unfinished = this.held.get(requestId)?.unfinished;
    if (unfinished?.get(requestId)) unfinished.delete(requestId);
  }

  arrived(event: Arrival): void {
    const { promptId, roundId, requestId } = event;
    const ordinal = this.rounds.size;
    const round = this.rounds.get(roundId) ?? { ordinal, nextOrder: 0 };
    this.rounds.set(roundId, round);
    let group = this.group(event);
    if (group === undefined) {
      const order = (event as { order?: number }).order ?? round.nextOrder;
      round.nextOrder = Math.max(round.nextOrder, order + 1);
      group = { promptId, order, round: round.ordinal, seq: this.seq++, inService: false, unfinished: new Map() };
      this.groups.set(groupKey(roundId, promptId), group);
    }
    group.unfinished.set(requestId, false);
    this.held.set(requestId, group);
  }

  decision(decision: FrontierGroupDispatchDecision): void {
    switch (decision.type) {
      case 'frontier.resized':
        this.width = decision.width;
        return;
      case 'request.admit':
        return this.admit(decision);
      case 'request.dropped': {
        const { requestId, admitted } = decision;
        const { unfinished } = this.group(decision);
        expect(this.held.delete(requestId), '5: a request is dropped once').toBe(true);
        expect(unfinished.get(requestId) === true, '2: it says whether an engine has it').toBe(admitted);
        unfinished.delete(requestId);
        this.admitted.delete(requestId);
        return;
      }
      case 'group.left':
        return this.left(decision);
    }
  }

  left(decision: Named<'group.left'>): void {
    const { promptId, roundId, requestIds } = decision;
    const again = this.latest!;
    const isAgain = isArrival(again) && again.promptId === promptId && again.roundId !== roundId;
    const atOnce = this.config.closeAtOnce || isAgain;
    const left = [...this.group(decision).unfinished].filter(([, admitted]) => !(admitted && atOnce));
    expect(left, '4: nothing of a group that leaves waits or runs').toEqual([]);
    for (const requestId of requestIds) {
      expect(this.held.delete(requestId), '5: a request ends once').toBe(true);
      this.admitted.delete(requestId);
    }
    this.groups.delete(groupKey(roundId, promptId));
  }

  admit(decision: Named<'request.admit'>): void {
    const { requestId, reason } = decision;
    const group = this.group(decision);
    expect(group.unfinished.get(requestId), '2: only what waits is admitted').toBe(false);
    expect(this.admitted.has(requestId), '2: a request is admitted once').toBe(false);
    this.admitted.add(requestId);
    group.unfinished.set(requestId, true);
    if (group.inService) return;
    expect(reason.code, '4: a group in service stays in it').toBe('group_admitted');
    for (const other of this.groups.values()) {
      if (other.inService || other === group || !this.before(other, group)) continue;
      // One of which nothing waits needs no slot.
      if (other.unfinished.size > 0) throw new Error('3: a deferred group of a lower order was passed over');
    }
    while (this.inService >= this.width && this.yielded());
    group.inService = true;
    expect(this.inService, '1: no more than F_w groups are in service').toBeLessThanOrEqual(this.width);
  }

  /** The last group of which nothing runs gives its slot to another; returns whether there is one. */
  yielded(): boolean {
    let last: Group | undefined;
    for (const [key, one] of this.groups) {
      const isIdle = one.inService && one.unfinished.size === 0 && this.open.has(key);
      if (isIdle && (last === undefined || this.before(last, one))) last = one;
    }
    if (last !== undefined) last.inService = false;
    return last !== undefined;
  }

  before(one: Group, other: Group): boolean {
    return (one.round - other.round || one.order - other.order || one.seq - other.seq) < 0;
  }
}

interface Saved {
  width: number;
  groups: {
    promptId: string;
    roundId: string;
    since: number | null;
    places: { requestId: string; isHeld: boolean; status: string }[];
  }[];
}

const configs = [
  ...exampleConfigs['frontier-group-dispatch']!,
  { responsesPerPrompt: 2, width: 1, awaitRetries: true },
] as object[] as FrontierGroupDispatchInput[];

describe.each(configs)('%j', (config) => {
  test('1 to 5: the width, each request once, order, no preemption, nothing lost', () => {
    const run = ({ tape, restarts }: { tape: readonly number[]; restarts: readonly number[] }) => {
      let policy = create(frontierGroupDispatch, config);
      const parsed = frontierGroupDispatch.config.parse(config);
      const model = new Model(config);
      const choices = choicesFrom(tape);
      for (let step = 0; step < 150; step += 1) {
        if (restarts.includes(step)) {
          policy = create(frontierGroupDispatch, { snapshot: JSON.parse(JSON.stringify(policy.snapshot())) }) as never;
        }
        const saved = policy.snapshot().state as never;
        const event = arbitrary(frontierGroupDispatch.load(saved, parsed), choices);
        let decisions: readonly FrontierGroupDispatchDecision[];
        try {
          decisions = policy.send(event);
        } catch (error) {
          if (!isPolicyError(error)) throw error;
          continue;
        }
        model.event(event);
        const { groups, width } = policy.snapshot().state as never as Saved;
        model.open.clear();
        for (const one of groups) {
          const isOpen = parsed.awaitRetries && one.places.some(({ status }) => status === 'open');
          if (isOpen) model.open.add(groupKey(one.roundId, one.promptId));
        }
        for (const decision of decisions) model.decision(decision);
        const held = groups.flatMap((one) => one.places.filter((request) => request.isHeld));
        expect(new Set(held.map((one) => one.requestId)), '5: nothing is lost').toEqual(new Set(model.held.keys()));
        const serving = groups.filter((one) => one.since !== null).length;
        if (config.width !== 'auto')
          expect(serving, '1: no more than F_w in service').toBeLessThanOrEqual(config.width);
        const waiting = groups.filter((one) => one.places.some((request) => request.status === 'waiting'));
        if (waiting.length > 0)
          expect(serving, '6: no slot is free while a request waits').toBeGreaterThanOrEqual(width);
        for (const one of groups) {
          const inService = one.since !== null;
          expect(
            model.group(one).inService,
            '4: a group in service stays in it while something runs, and came by a request',
          ).toBe(inService);
          expect(inService && waiting.includes(one), '2: nothing waits whose group is in service').toBe(false);
        }
      }
    };
    const restarts = fc.array(fc.nat(150), { maxLength: 4 });
    fc.assert(fc.property(fc.record({ tape: tapes(), restarts }), run), runs(80));
  });
});

test('7: a round ends, whatever fails: every group leaves once all its requests have ended', () => {
  const job = fc.record({
    width: fc.integer({ min: 1, max: 6 }),
    groups: fc.integer({ min: 1, max: 12 }),
    fates: fc.array(fc.nat(5), { minLength: 1, maxLength: 50 }),
  });
  const run = ({ width, groups, fates }: { width: number; groups: number; fates: readonly number[] }) => {
    const policy = create(frontierGroupDispatch, { responsesPerPrompt: 3, width, awaitRetries: true });
    const running: { requestId: string; promptId: string; index: number }[] = [];
    const left: string[] = [];
    let at = 0;
    const send = (event: FrontierGroupDispatchEvent): void => {
      for (const decision of policy.send(event)) {
        if (decision.type === 'request.admit') running.push(decision);
        else if (decision.type === 'group.left') left.push(decision.promptId);
      }
    };
    const arrive = (promptId: string, index: number, attempt: number): void =>
      send({
        type: 'request.arrived',
        at,
        requestId: `${promptId}/${index}#${attempt}`,
        promptId,
        roundId: 'r',
        index,
      });
    for (let group = 0; group < groups; group += 1) for (const index of [0, 1, 2]) arrive(`p${group}`, index, 0);
    for (let step = 0; running.length > 0; step += 1) {
      const { requestId, promptId, index } = running.splice((step * 7) % running.length, 1)[0]!;
      at += 1;
      const fate = step < 200 ? fates[step % fates.length]! : 5;
      if (fate === 0) {
        send({ type: 'response.failed', at, requestId, kind: 'infrastructure' });
        arrive(promptId, index, step + 1);
      } else if (fate === 1) {
        send({ type: 'response.failed', at, requestId, kind: 'data' });
        const reason = { code: 'infrastructure', failures: 1, budget: 0 } as const;
        send({ type: 'response.abandoned', at, requestId, promptId, reason });
      } else if (fate === 2) send({ type: 'request.aborted', at, requestId });
      else send({ type: 'response.completed', at, requestId, tokens: 5 });
    }
    expect(left.sort()).toEqual(Array.from({ length: groups }, (_, group) => `p${group}`).sort());
    expect((policy.snapshot().state as Saved).groups).toEqual([]);
  };
  fc.assert(fc.property(job, run), runs(300));
});
