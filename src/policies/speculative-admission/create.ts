/** The state as it begins, and the prompts and responses that come into it. */

import { Fifo } from '../../core/fifo.ts';
import { IndexedHeap } from '../../core/heap.ts';
import { RecentIds } from '../../core/recent-ids.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import { Departures } from './departures.ts';
import { IdMint, Places } from './ids.ts';
import type { AdmissionConfig } from './schema.ts';
import { newExploration } from './speculation.ts';
import type { AdmissionState, Engine, Lane, PromptState, ResponseState } from './state.ts';

function byLoad(a: Engine, b: Engine): number {
  return a.tokens - b.tokens || a.requests - b.requests || (a.id < b.id ? -1 : 1);
}

export function newState(config: AdmissionConfig): AdmissionState {
  return {
    config,
    round: null,
    draining: [],
    recentRounds: new RecentIds(),
    prompts: new Map(),
    settling: new Set(),
    elsewhere: new Map(),
    departures: new Departures(config.promptsPerRound),
    aborting: new Map(),
    engines: new Map(),
    open: new IndexedHeap(byLoad),
    resumes: new Fifo(),
    retries: new Fifo(),
    launches: new Fifo(),
    aborts: new Fifo(),
    deadlines: new Fifo(),
    timers: { abortGrace: null, responseTimeout: null },
    slotsTaken: 0,
    unsettled: null,
    rounds: 0,
    seq: 0,
    weightVersion: 0,
    nextAttempt: 0,
    prefix: config.idPrefix,
    ids: new IdMint(),
    places: new Places(),
    oldPrefixes: [],
    restarts: 0,
    exhausted: { all: false, domains: new Set() },
    exploration: newExploration(),
  };
}

const noVersions: readonly number[] = Object.freeze([]);
const noFailures = Object.freeze({ infrastructure: 0, data: 0, environment: 0 });

export function newPrompt(
  spec: Prompt,
  seq: number,
  lane: Lane | null,
  { startVersion, firstPrefix }: Pick<PromptState, 'startVersion' | 'firstPrefix'>,
): PromptState {
  return {
    spec,
    seq,
    lane,
    status: 'standby',
    attemptBase: 0,
    firstPrefix,
    startVersion,
    responses: [],
    held: 0,
    rewards: 0,
    unsettled: 0,
    settling: null,
  };
}

export function newResponse(prompt: PromptState, index: number): ResponseState {
  return {
    prompt,
    index,
    status: 'pending',
    requestId: '',
    round: null,
    engine: null,
    holdsSlot: false,
    awaited: false,
    load: 0,
    tokens: 0,
    weightVersions: noVersions,
    reward: null,
    failures: noFailures,
    resume: null,
    cause: 'planned',
    order: 0,
    since: 0,
  };
}
