/** What a host is told, and what goes wrong around it. */
import type { AnyDecision } from 'rollflex';

/** A decision, with the fields that this host reads. */
export interface Told extends AnyDecision {
  readonly requestId: string;
  readonly promptId: string;
  readonly roundId: string;
  readonly index: number;
  readonly engineId?: string;
  readonly count: number;
  readonly timerId: string;
  readonly fireAtSeconds: number;
  readonly slotId: string;
  readonly dispatchId: string;
  readonly reward: number;
  readonly prompts: readonly { readonly promptId: string }[];
}

/** What differs from a good day. */
export interface Outside {
  /** Prompts of the data set, 64 if not given. */
  readonly prompts?: number;
  /** Whether environments start, by the time. */
  readonly starts?: (now: number) => boolean;
  /** Whether the judge answers, by the time. */
  readonly judges?: (now: number) => boolean;
  /** The reward of a response, by the time. */
  readonly reward?: (score: number, now: number) => number;
  /** Whether new weights reach an engine, by its number and the time. */
  readonly loads?: (engine: number, now: number) => boolean;
  /** What a person does about a decision. */
  readonly heard?: (decision: Told, now: number) => void;
  /** Seconds by which the clock of the host is ahead, by the time. */
  readonly ahead?: (now: number) => number;
}
