/**
 * The part that all simulated hosts share, whatever their cluster: opening rounds on the event loop, keeping records, and drawing
 * the timeline of engines. `colocated` and `pools` are two such hosts; another host may wire other machines, or run more policies
 * on the same clock.
 */
import type { AnyEvent } from '../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import { sumOf } from '../comparison/metrics.ts';
import type { Segment } from '../comparison/result.ts';
import type { EngineRow } from './engines/engine-rows.ts';
import { addActivity, rolloutSegments } from './engines/timeline.ts';
import { type DrivenPolicy, EventLoop, type PolicyLink } from './event-loop.ts';
import { KeptResponses } from './kept-counts.ts';
import type { InferenceMachine } from './machines/inference.ts';
import type { Machine } from './machines/machine.ts';
import { PromptSupply } from './machines/prompt-supply.ts';
import type { RoundRecord } from './round-record.ts';
import type { PromptSource } from './source.ts';

/** The machines of a host. */
export interface Wiring {
  readonly source: PromptSource;
  readonly inference: InferenceMachine;
  /** All machines except the data source, in the order in which they report. */
  readonly machines: readonly Machine[];
}

/** Options of a host beside its machines. */
export interface HostOptions {
  readonly responsesPerPrompt: number;
  /** Whether deferred and returned prompts stay in the policy; otherwise the source gets them back. */
  readonly holdsDeferred: boolean;
  /** Whether timelines are kept (default true). */
  readonly timeline?: boolean | undefined;
  /**
   * Least tokens of a long response, for the counts in `kept` of the result (see `KeptCounts`); if absent, no response counts
   * as long.
   */
  readonly longTokens?: number | undefined;
}

/** A host that runs the rounds of a policy in sequence or overlapping. */
export abstract class SimulatedHost {
  protected readonly loop = new EventLoop();
  protected readonly link: PolicyLink;
  protected readonly source: PromptSource;
  protected readonly inference: InferenceMachine;
  protected readonly kept: KeptResponses;
  /** Timeline of each row of GPUs. */
  protected readonly segments: readonly Segment[][];
  /** Rounds whose decisions may still come. */
  protected readonly records = new Map<string, RoundRecord>();
  /** The round that was opened last. */
  protected record: RoundRecord | undefined;
  protected readonly supply: PromptSupply;
  readonly #timeline: boolean;
  #busyBefore = 0;

  constructor(policy: DrivenPolicy, { source, inference, machines }: Wiring, options: HostOptions) {
    this.source = source;
    this.inference = inference;
    this.kept = new KeptResponses(options.responsesPerPrompt, options.longTokens ?? Infinity);
    this.segments = inference.pool.rows.map(() => []);
    this.#timeline = options.timeline ?? true;
    this.supply = new PromptSupply(source, options.holdsDeferred);
    this.link = this.loop.add(policy, [...machines, this.supply], (decision) => {
      const { roundId } = decision as { readonly roundId?: string };
      const record = (roundId === undefined ? undefined : this.records.get(roundId)) ?? this.record;
      record?.note(decision, this.loop.now);
      this.note(decision, record);
    });
  }

  /** Records the fields that the host needs from a decision, before the decision is carried out. */
  protected abstract note(decision: VocabularyDecision, record: RoundRecord | undefined): void;

  /** Returns the engines' rows of GPUs. */
  protected get rows(): readonly EngineRow[] {
    return this.inference.pool.rows;
  }

  /** Sends the events that open a round. */
  protected open(record: RoundRecord, events: readonly AnyEvent[]): void {
    this.begin(record);
    for (const event of this.supply.reopened(this.loop.now)) this.link.offer(event);
    for (const event of events) this.link.send(event);
    this.link.report();
  }

  /** Makes this record the current one: later requests and decisions belong to its round. */
  protected begin(record: RoundRecord): void {
    this.record = record;
    this.records.set(record.roundId, record);
    this.inference.pool.collect();
    this.#busyBefore = sumOf(this.rows, 'busySeconds');
    this.inference.beginRound(record, this.loop.now);
  }

  /** Advances until a condition holds; calls `stalled` if nothing is left that could happen. */
  protected runUntil(isDone: () => boolean, stalled: () => never): void {
    while (!isDone()) if (!this.loop.runOnce()) stalled();
  }

  /** Returns the share of the engines' time without anything to run, since the round was opened. */
  protected bubbleRatio(startSeconds: number, endSeconds: number): number {
    const busySeconds = sumOf(this.rows, 'busySeconds') - this.#busyBefore;
    const offered = this.rows.length * (endSeconds - startSeconds);
    // Rounding may leave the engines busy a hair longer than the rollout.
    return offered > 0 ? Math.max(0, 1 - busySeconds / offered) : 0;
  }

  /**
   * Adds a round to the timeline of every engine.
   *
   * @param after - activities of the engines after the rollout, in order
   */
  protected draw(
    times: { readonly startSeconds: number; readonly openedSeconds: number; readonly rolledOutSeconds: number },
    after: readonly (readonly [activity: Segment['activity'], startSeconds: number, endSeconds: number])[],
  ): void {
    if (!this.#timeline) return;
    const { startSeconds, openedSeconds, rolledOutSeconds } = times;
    this.rows.forEach((row, index) => {
      const segments = this.segments[index]!;
      addActivity(segments, 'overhead', startSeconds, openedSeconds);
      segments.push(...rolloutSegments(row.segments.splice(0), openedSeconds, rolledOutSeconds));
      for (const [activity, start, end] of after) addActivity(segments, activity, start, end);
    });
  }
}
