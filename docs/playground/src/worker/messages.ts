/** What page and worker say to each other. All of it is plain data. */

import type { WorkloadData } from '../../../../src/sim/report/data.ts';
import type { PoolsData } from '../../../../src/sim/report/pools-data.ts';
import type { VlmData } from '../../../../src/sim/report/vlm-data.ts';
import type { Settings } from '../settings/fields.ts';
import type { ViewId } from '../settings/views.ts';

/** Files of the reader: a trace, or the dumps of a trainer. */
export interface Load {
  readonly type: 'load';
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** An estimate, for dumps that have texts and no count of tokens. */
  readonly tokensPerCharacter?: number;
}

export type ToWorker =
  | { readonly type: 'simulate'; readonly id: number; readonly view: ViewId; readonly settings: Settings }
  /** What is simulated is not needed any more. */
  | { readonly type: 'stop' }
  | Load;

/** Seconds of the shards of each GPU in one forward pass, for each pictured scheduler. */
export interface LoadsData {
  readonly devices: number;
  readonly runs: readonly { readonly label: string; readonly seconds: readonly number[] }[];
}

/** What is drawn. */
export type ChartsData =
  | { readonly kind: 'synchronous'; readonly data: WorkloadData }
  | { readonly kind: 'pools'; readonly data: PoolsData }
  | { readonly kind: 'vlm'; readonly data: VlmData; readonly loads: LoadsData };

/** A scheduler in numbers: by the ids of the view's metrics. */
export interface ShownRow {
  readonly id: string;
  readonly label: string;
  readonly cells: Readonly<Record<string, string>>;
}

/** A policy or a planner with a configuration. */
export interface ShownConfig {
  readonly kind: 'policy' | 'planner';
  readonly id: string;
  readonly config: unknown;
}

/** A result, as it is shown. */
export interface Shown {
  readonly headline: string;
  readonly cost: string;
  readonly rows: readonly ShownRow[];
  readonly charts: ChartsData;
  readonly facts: readonly string[];
  readonly notes: readonly string[];
  readonly configs: readonly ShownConfig[];
}

/** A result with what it is of. */
export interface Result {
  readonly type: 'result';
  readonly id: number;
  readonly view: ViewId;
  readonly settings: Settings;
  readonly shown: Shown;
  /** Seeds that are in it, and seeds that were asked for. */
  readonly seeds: readonly [done: number, asked: number];
  /** Milliseconds of simulation. */
  readonly took: number;
}

export type FromWorker =
  | Result
  | {
      readonly type: 'failed';
      readonly id: number;
      readonly view: ViewId;
      readonly settings: Settings;
      readonly message: string;
      /** Where the error is: a setting, by the name that the library has for it. */
      readonly path: string;
    }
  /** Nothing more comes of a request. */
  | { readonly type: 'idle'; readonly id: number }
  | { readonly type: 'loaded'; readonly name: string; readonly what: string; readonly isSequences: boolean }
  | {
      readonly type: 'refused';
      readonly message: string;
      /** Whether it is a dump of texts, which an estimate of their tokens would make readable. */
      readonly needsTokens: boolean;
    };
