/**
 * The invariants of complete-group-pipelining, by their numbers in its README: a host with groups of every kind, a
 * trainer that loses work, restarts, falls back and repeats itself, failed rounds, and restored snapshots.
 */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import {
  type CompleteGroupPipeliningEvent,
  type CompleteGroupPipeliningInput,
  completeGroupPipelining,
} from '../../src/policies/complete-group-pipelining/index.ts';
import { microBatches } from '../../src/policies/complete-group-pipelining/updates.ts';
import { choicesFrom } from '../../src/testing/index.ts';
import { runs, scale } from '../support/basics/runs.ts';
import { play, testEach } from '../support/basics/tape-runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { type HostRound, PipeliningHost } from '../support/hosts/pipelining.ts';
import { loseUpdate, restartTrainer, trainings } from '../support/hosts/trainer-doings.ts';

const tally = new Map<string, number>();
const count = (name: string): void => void tally.set(name, (tally.get(name) ?? 0) + 1);

class Run {
  readonly host: PipeliningHost;
  readonly choices: ReturnType<typeof choicesFrom>;
  policy: ReturnType<typeof create<typeof completeGroupPipelining>>;
  /** Groups of each round that are still generated. */
  readonly due = new Map<string, number>();
  /** Reports that were taken: sent again they are late. */
  readonly taken: CompleteGroupPipeliningEvent[] = [];
  rounds = 0;
  at = 0;
  restarts = 0;

  constructor(config: CompleteGroupPipeliningInput, tape: readonly number[]) {
    this.policy = create(completeGroupPipelining, config);
    this.host = new PipeliningHost(this.policy.config);
    this.choices = choicesFrom(tape);
  }

  /** Sends an event that has to be taken; gives the types of its decisions. */
  send(event: Record<string, unknown>): string[] {
    this.at += this.choices.below(4) === 0 ? 0 : this.choices.below(30) / 10;
    const full = { at: this.at, ...event } as CompleteGroupPipeliningEvent;
    const decisions = this.policy.send(full);
    this.host.sent(full);
    for (const decision of decisions) {
      count(`${decision.type} ${decision.reason.code}`);
      this.host.told(decision);
    }
    this.host.settle();
    this.taken.push(full);
    if (this.choices.below(12) === 0)
      this.policy = create(completeGroupPipelining, { snapshot: JSON.parse(JSON.stringify(this.policy.snapshot())) });
    return decisions.map((one) => one.type);
  }

  refused(event: Record<string, unknown>): void {
    const before = JSON.stringify(this.policy.snapshot());
    try {
      this.policy.send({ at: this.at, ...event } as CompleteGroupPipeliningEvent);
    } catch (error) {
      if (!isPolicyError(error) || error.code === 'internal') throw error;
      count('refused');
      expect(JSON.stringify(this.policy.snapshot())).toBe(before);
      return;
    }
    throw new Error(`it takes ${JSON.stringify(event)}`);
  }

  openRound(): void {
    const roundId = `r${this.rounds++}`;
    this.due.set(roundId, this.choices.below(9));
    const weightVersion = this.host.version + this.choices.below(2);
    this.send({ type: 'round.opened', roundId, kind: 'long', weightVersion, prompts: [] });
  }

  /** One more group of a round: complete, incomplete, of equal rewards, or of other weights. */
  rewardGroup(round: HostRound): void {
    const { responsesPerPrompt: needed, otherVersions } = this.host.config;
    const { choices } = this;
    const promptId = `g${round.reported.size}`;
    this.due.set(round.roundId, this.due.get(round.roundId)! - 1);
    const kind = choices.below(8);
    // A group without any reward is never reported.
    if (kind === 0) return;
    const n = kind === 1 ? Math.max(1, needed - 1) : needed;
    const isOther = kind === 2;
    const responses = Array.from({ length: n }, (_, index) => ({
      requestId: `${promptId}/${index}#0`,
      tokens: choices.below(50),
      ...(isOther && index === n - 1 ? { weightVersions: [round.weightVersion, round.weightVersion + 1] } : {}),
      reward: kind === 3 ? 1 : choices.below(3),
    }));
    const event = {
      type: 'group.rewarded',
      roundId: round.roundId,
      promptId,
      ...(choices.below(3) === 0 ? { promptTokens: choices.below(20) } : {}),
      samples: n,
      tokens: responses.reduce((sum, one) => sum + one.tokens, 0),
      responses,
      reason: { code: 'all_rewarded', responses: n, missing: 0, waitedSeconds: 0 },
    };
    if (isOther && otherVersions === 'refuse') return this.refused(event);
    const types = this.send(event);
    if (isOther) expect(types).toEqual(['groups.dropped']); // invariant 5
  }

  closeRound(round: HostRound, isFailed = false): void {
    const { roundId, weightVersion } = round;
    const prompts = isFailed
      ? []
      : [...round.reported.keys()].map((promptId) => ({
          promptId,
          responses: [{ requestId: `${promptId}/0#0`, index: 0, tokens: 1, weightVersions: [weightVersion] }],
        }));
    const reason = isFailed
      ? { code: 'round_failed' }
      : { code: 'all_groups', groups: prompts.length, afterSeconds: 0 };
    if (!isFailed && prompts.length > 0) {
      const all = { type: 'round.rewarded', roundId, kind: 'long', reason };
      this.refused({ ...all, weightVersion, prompts: prompts.slice(1) });
      this.refused({ ...all, weightVersion: weightVersion + 1, prompts });
    }
    this.send({ type: 'round.rewarded', roundId, kind: 'long', weightVersion, prompts, reason });
  }

  /** What a rollout and a trainer that play along would do next; nothing, where they wait. */
  doings(): (() => void)[] {
    const { host, choices } = this;
    const list: (() => void)[] = [];
    for (const round of host.open) {
      if (round.closedAt !== undefined) continue;
      if (this.due.get(round.roundId)! > 0) list.push(() => this.rewardGroup(round));
      else list.push(() => this.closeRound(round));
    }
    list.push(...trainings(host, choices, (report) => this.send(report)));
    return list;
  }

  trouble(): void {
    const { host, choices } = this;
    const { head } = host;
    switch (choices.below(7)) {
      case 0:
      case 1:
        return loseUpdate(host, choices, (report) => this.send(report));
      case 2:
        if (head === undefined) return;
        this.refused({ type: 'trainer.restarted', roundId: head.roundId, updates: head.contents.length + 1 });
        return restartTrainer(host, choices, (report) => this.send(report));
      case 3:
        this.send({ type: 'host.restarted', idPrefix: `h${this.restarts++}-` });
        return;
      case 4: {
        const round = host.open[choices.below(host.open.length + 1)];
        if (round === undefined || choices.below(4) > 0) return;
        if (choices.below(2) === 0 && round.closedAt === undefined) this.closeRound(round, true);
        else this.send({ type: 'round.failed', roundId: round.roundId });
        return;
      }
      case 5:
        return this.ahead();
      default:
        this.repeat();
    }
  }

  /** Reports that cannot be true yet. */
  ahead(): void {
    const { host } = this;
    const later = [...host.live.values()].find((one) => one !== host.current);
    const { head, current } = host;
    if (later !== undefined)
      this.refused({ type: 'update.consumed', updateId: later.updateId, groups: later.groups, seconds: 1 });
    if (current !== undefined && host.stepping === undefined)
      this.refused({ type: 'optimizer.stepped', roundId: head!.roundId, updateId: current.updateId });
    if (head === undefined) return;
    const { roundId } = head;
    const weightVersion = head.weightVersion + 1;
    this.refused({ type: 'weights.published', roundId, publicationId: 'publication#999', weightVersion });
  }

  /** A report that was taken before comes again: it is late, or refused, and changes nothing. */
  repeat(): void {
    const [roundId, updateId] = ['any', this.host.withdrawn.at(-1)];
    if (updateId !== undefined && this.choices.below(2) === 0)
      return this.late({ type: 'optimizer.stepped', roundId, updateId }, 'step_withdrawn');
    const recent = this.choices.below(2) === 0 ? this.taken.slice(-3) : this.taken;
    const picked = recent[this.choices.below(recent.length)];
    const closed = this.host.open.find((one) => one.closedAt !== undefined);
    // A group that was never reported comes after its round, too.
    const isNew = picked?.type === 'group.rewarded' && closed !== undefined;
    const event = isNew ? { ...picked, roundId: closed.roundId, promptId: 'new' } : picked;
    if (event === undefined || event.type === 'trainer.restarted') return;
    if (event.type === 'update.lost' && this.host.live.has(event.updateId)) return;
    if (event.type === 'host.restarted' || event.type === 'round.opened')
      return this.refused({ ...event, at: this.at });
    this.late(event);
  }

  /** Invariant 7. */
  late(event: object, code?: string): void {
    const { state } = this.policy.snapshot();
    const decisions = this.policy.send({ ...event, at: this.at } as CompleteGroupPipeliningEvent);
    if (code !== undefined) expect(decisions).toMatchObject([{ reason: { code } }]);
    for (const { type, reason } of decisions) count(`${type} ${reason.code}`);
    expect(decisions.map((one) => one.type)).toEqual([expect.stringMatching(/late$/)]); // invariant 7
    expect(this.policy.snapshot().state).toEqual(state);
  }

  step(): void {
    const { choices, host } = this;
    if (host.open.length === 0 || (host.open.length < 3 && choices.below(15) === 0)) return this.openRound();
    if (choices.below(7) === 0) return this.trouble();
    const doings = this.doings();
    doings[choices.below(doings.length)]!();
  }

  /** Invariant 6: with a host that plays along every round ends. */
  finish(): void {
    for (let steps = 0; this.host.open.length > 0; steps += 1) {
      if (steps > 500) throw new Error(`${this.host.open[0]!.roundId} does not end`);
      const doings = this.doings();
      doings[this.choices.below(doings.length)]!();
    }
    const { rounds } = this.policy.snapshot().state as { rounds: unknown[] };
    expect(rounds).toEqual([]);
    expect(this.host.over.size).toBe(this.rounds);
  }
}

describe('complete-group-pipelining', () => {
  testEach('invariants 1 to 10 hold with %s', exampleConfigs['complete-group-pipelining']!, 70, (config, tape) =>
    play(new Run(config as never, tape), 120),
  );

  test('invariant 8: micro-batches are the fewest that keep the order and the budget', () => {
    const lengths = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 60 }), (tokens, budget) => {
        const groups = tokens.map((one, index) => ({ groupId: `g${index}`, samples: 1, tokens: one }));
        const batches = microBatches(groups, budget);
        // Fewest consecutive runs up to each group, by dynamic programming; one over the budget is alone.
        const fewest = [0];
        for (let to = 1; to <= tokens.length; to += 1) {
          let best = fewest[to - 1]! + 1;
          let sum = tokens[to - 1]!;
          for (let from = to - 1; from > 0; from -= 1) {
            sum += tokens[from - 1]!;
            if (sum > budget) break;
            best = Math.min(best, fewest[from - 1]! + 1);
          }
          fewest.push(best);
        }
        expect(batches).toHaveLength(fewest.at(-1)!);
      }),
      runs(500),
    );
  });

  afterAll(() => {
    // Everything that can be decided was decided, many times; some of it is rare.
    if (scale < 1) return;
    for (const { type, reasons } of completeGroupPipelining.decisions) {
      for (const code of reasons) {
        if (ownCodes.has(`${type} ${code}`))
          expect(tally.get(`${type} ${code}`) ?? 0, `${type} ${code}`).toBeGreaterThan(4);
      }
    }
  });
});

const ownCodes = new Set([
  'group.trainable materialized',
  'train.dispatch batch_ready',
  'train.dispatch round_end',
  'train.dispatch update_lost',
  'train.dispatch trainer_restarted',
  'train.dispatch host_restarted',
  'optimizer.step update_consumed',
  'weights.publish all_consumed',
  'weights.publish round_failed',
  'weights.publish trainer_restarted',
  'weights.publish host_restarted',
  'update.cancel round_failed',
  'round.trained published',
  'round.trained nothing_to_train',
  'pipeline.measured round_trained',
  'groups.dropped round_failed',
  'groups.dropped zero_variance',
  'groups.dropped incomplete',
  'groups.dropped other_weights',
  'group.late known',
  'group.late round_completed',
  'group.late round_over',
  'training.late round_over',
  'training.late round_completed',
  'training.late update_over',
  'training.late already_consumed',
]);
