/** The state of program-scheduling, and what is learnt of turns. Sums, heaps and lines are derived: they are not saved but built again. */

import { z } from 'zod';
import { IndexedHeap } from '../../core/collections/heap.ts';
import { LruMap } from '../../core/collections/lru.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import { makerOf } from '../../core/machine/beginning.ts';
import type { Context, Live } from '../../core/machine/definition.ts';
import { byHand, derived, mapBy } from '../../core/machine/state.ts';
import { goneEngines } from '../../core/rollout/engines.ts';
import { prefixCache } from '../../core/rollout/prefix-cache.ts';
import { noFaults, sharedFaults } from '../../core/rollout/shared-faults.ts';
import { savedTimes, WaitingTimes } from '../../core/why/waiting-times.ts';
import type {
  ProgramSchedulingConfig,
  ProgramSchedulingDecision,
} from '../../generated/settings/program-scheduling.ts';
import { count, engineId, promptId, requestId, seconds } from '../../schemas/units.ts';

const sum = z.number();
export const pace = z.strictObject({
  /** Sums of products over turns: tokens read, configured decoding seconds, and time taken. */
  readRead: sum,
  readDecode: sum,
  decodeDecode: sum,
  readTime: sum,
  decodeTime: sum,
  /** Mean tokens that a turn generates, and mean growth of a context from turn to turn. */
  turnTokens: sum,
  growthTokens: sum,
  /** Tokens at the beginning that programs of different prompts share, such as a system prompt. */
  commonTokens: sum.nonnegative(),
});
export type Pace = z.output<typeof pace>;

/** Returns the assumptions before any turn: an answer of 200 tokens, as many tokens from a tool, and no common tokens. */
export function newPace(): Pace {
  const sums = { readRead: 0, readDecode: 0, decodeDecode: 0, readTime: 0, decodeTime: 0 };
  return { ...sums, turnTokens: 200, growthTokens: 400, commonTokens: 0 };
}

/** Each turn multiplies the weight of earlier turns by this factor. */
const retention = 63 / 64;
/** Turns as which the configuration counts, each with 1000 tokens read and a second of decoding. */
const prior = { turns: 4, tokens: 1000 };
/** Learnt values differ from the configured ones at most by this factor. */
const farthest = 32;

/** Learns from a turn that has read so many tokens, should have decoded for the configured time, and has taken so many seconds. */
export function learnTurn(one: Pace, readTokens: number, decodeSeconds: number, seconds: number): void {
  one.readRead = retention * one.readRead + readTokens * readTokens;
  one.readDecode = retention * one.readDecode + readTokens * decodeSeconds;
  one.decodeDecode = retention * one.decodeDecode + decodeSeconds * decodeSeconds;
  one.readTime = retention * one.readTime + readTokens * seconds;
  one.decodeTime = retention * one.decodeTime + decodeSeconds * seconds;
}

/** Moves an average towards the value of a turn. */
export const averaged = (average: number, value: number): number => retention * average + (1 - retention) * value;

/** Seconds to read a token, and the factor by which steps are slower than configured. */
export interface Rates {
  readonly readSeconds: number;
  readonly decodeFactor: number;
}

/** Returns the learnt rates. */
export function ratesOf(one: Pace, { prefillTokensPerSecond }: ProgramSchedulingConfig): Rates {
  const configured = 1 / prefillTokensPerSecond;
  const { turns, tokens } = prior;
  const readRead = one.readRead + turns * tokens * tokens;
  const decodeDecode = one.decodeDecode + turns;
  const readTime = one.readTime + turns * tokens * tokens * configured;
  const decodeTime = one.decodeTime + turns;
  const determinant = readRead * decodeDecode - one.readDecode * one.readDecode;
  const bounded = (value: number, around: number) => Math.min(farthest * around, Math.max(around / farthest, value));
  return {
    readSeconds: bounded((readTime * decodeDecode - decodeTime * one.readDecode) / determinant, configured),
    decodeFactor: bounded((decodeTime * readRead - readTime * one.readDecode) / determinant, 1),
  };
}

const outside = () => -1;

/** A place in a heap of times. */
export interface Due {
  heapIndex: number;
  at: number;
  readonly program: Program;
}

const program = z.strictObject({
  requestId,
  promptId: promptId.nullable(),
  /** Tokens that the program shares with other programs of the same prompt. */
  promptTokens: count,
  seq: count,
  /** Number of the prompt's first program: prompts begin in this order, so that groups complete. */
  group: count,
  /**
   * `idle`: between a turn and what follows; `answered`: the tool has answered; `asked`: the program wants a turn, and waits for
   * room.
   */
  phase: z.enum(['idle', 'tool', 'answered', 'asked', 'running']),
  /** Time since which the program is in this phase, in seconds. */
  since: seconds,
  contextTokens: count,
  /** Context tokens at the beginning of the latest turn. */
  askedTokens: count,
  /** Tokens that the program has generated. */
  tokens: count,
  turns: count,
  /** Number of routes so far. */
  routes: count,
  moves: count,
  /** Number of the latest route, in the order of routes and failures. */
  launched: count,
  /** Engine of the latest turn. */
  engineId: engineId.nullable(),
  /** Whether the program counts in the budget of this engine. */
  counted: z.boolean(),
  /** Whether the program counts only until the end of its turn, and is then paused. */
  leaving: z.boolean(),
  paused: z.boolean(),
  /** Whether the program was let in because it had waited too long; such a program is the last to pause. */
  forced: z.boolean(),
  /** Why the program is routed again, if the reason is not the cost. */
  cause: z.enum(['engine_lost', 'host_restarted']).nullable(),
  /** Number in the order of programs that wait for room. */
  line: count,
  /** Time since which the program waits for room, or is paused; `null` otherwise. */
  waitsSince: seconds.nullable(),
  pausedAt: seconds,
  pausedSeconds: seconds,
  tool: z.string().nullable(),
  /** Time until which the program's cache is worth its room while the program needs no engine. */
  keptUntil: seconds,
  /** Estimates from the time when the turn was routed. */
  belief: z.strictObject({
    /** Tokens that the engine had in its cache, and the number of this entry in the order of use. */
    cachedTokens: count,
    used: z.int(),
    /** Tokens to read until the end of this context, and the engine's `givenTokens` including it. */
    readTokens: z.number().nonnegative(),
    givenTokens: count,
    /** Seconds per step. */
    stepSeconds: seconds,
  }),
  heapIndex: derived(outside),
  due: derived<Due>(),
  /** Keys in the caches: of the program and of its prompt. */
  ownKey: derived<string>(),
  promptKey: derived<string>(),
});
/** A program: a trajectory of turns and tools. */
export interface Program extends z.output<typeof program> {}

/**
 * Order of pausing: first programs that had not waited too long before; then the largest; among equals, the one that was opened
 * last.
 */
const pausesFirst = (a: Program, b: Program): number =>
  Number(a.forced) - Number(b.forced) || ownTokens(b) - ownTokens(a) || b.seq - a.seq;
/** Smallest program first; among equals, the one that has waited longest. */
const smallestFirst = (a: Program, b: Program): number => ownTokens(a) - ownTokens(b) || a.line - b.line;
const byGroup = (a: Program, b: Program): number => a.group - b.group || a.seq - b.seq;
const byTime = (a: Due, b: Due): number => a.at - b.at || a.program.seq - b.program.seq;

/** Context tokens that the program shares with no other program. */
export function ownTokens({ contextTokens, promptTokens }: Program): number {
  return Math.max(0, contextTokens - promptTokens);
}

const engine = z.strictObject({
  engineId,
  /**
   * `open`: the engine takes turns; `drained`: the host said that it takes none; `emptying` and `free`: the policy gives it none,
   * see cost.ts.
   */
  status: z.enum(['open', 'drained', 'emptying', 'free']),
  capacityTokens: count,
  /** Tokens of uncached contexts that the engine still had to read at a time, and all tokens that it was ever given to read. */
  unreadTokens: z.number().nonnegative(),
  unreadAt: seconds,
  givenTokens: count,
  preemptions: count,
  cache: prefixCache,
  /** Programs that count in the budget. */
  members: derived(() => new Set<Program>()),
  /** Tokens of their contexts; shared prompt tokens count once. */
  usedTokens: derived(() => 0),
  prompts: derived(() => new Map<string, { members: number; tokens: number }>()),
  running: derived(() => 0),
  runningTokens: derived(() => 0),
  leaving: derived(() => 0),
  leavingTokens: derived(() => 0),
  /** Members that run a turn and are not leaving, and members that need no engine now. */
  busy: derived(() => new IndexedHeap<Program>(pausesFirst)),
  resting: derived(() => new IndexedHeap<Program>(pausesFirst)),
});
/** An engine with the programs that count in its budget. */
export interface Engine extends z.output<typeof engine> {}
export const makeEngine = makerOf(engine);

const mostTools = 64;
const tools = byHand(z.array(z.tuple([z.string(), savedTimes])).describe('Tool, and how long its answers took.'), {
  decode: (saved) => {
    const map = new LruMap<string, WaitingTimes>(mostTools);
    for (const [tool, times] of saved) map.set(tool, new WaitingTimes(times));
    return map;
  },
  encode: (map) => [...map].map(([tool, times]) => [tool, times.save()] as [string, ReturnType<WaitingTimes['save']>]),
});

/** Number of ended programs that are remembered. */
const mostEnded = 1024;

export const programState = z.strictObject({
  programs: mapBy('requestId', program),
  engines: mapBy('engineId', engine),
  goneEngines,
  /** Ids of the latest ended programs: a report about one of them is late, not wrong. */
  ended: recentIds(requestId, mostEnded),
  tools,
  /** Engines on which turns have failed lately. */
  faults: sharedFaults,
  seq: count,
  pace,
  /** Time at which the timer fires, in seconds; `null` without a timer. */
  timerAt: seconds.nullable(),
  groups: derived(() => new Map<string, { seq: number; promptTokens: number; programs: number }>()),
  /** Number of programs that wait for a turn. */
  asked: derived(() => 0),
  /** Programs that wait for room: begun ones; ones that have not begun; and paused ones that need no engine yet. */
  ready: derived(() => new IndexedHeap<Program>(smallestFirst)),
  fresh: derived(() => new IndexedHeap<Program>(byGroup)),
  paused: derived(() => new IndexedHeap<Program>(smallestFirst)),
  /** Times at which programs have waited too long, and times at which caches are no longer worth their room. */
  waitsEnd: derived(() => new IndexedHeap<Due>(byTime)),
  keepsEnd: derived(() => new IndexedHeap<Due>(byTime)),
});
export type ProgramState = Live<z.output<typeof programState>, ProgramSchedulingConfig>;
export type SavedPrograms = z.input<typeof programState>;
/** The context through which handlers emit decisions. */
export type Ctx = Context<ProgramSchedulingDecision>;

export const begin = (): Partial<SavedPrograms> => ({ pace: newPace() });

/** Migrates a state from before `faults`. */
export function migrateFromThree(saved: unknown): unknown {
  const { programs, ...rest } = saved as { readonly programs: readonly object[] };
  return { ...rest, programs: programs.map((one) => ({ ...one, launched: 0 })), faults: noFaults() };
}

/** Keys of a program and of its prompt in the caches. The texts are stored, because a new text is slower to look up. */
export function keysOf({ requestId, promptId }: { requestId: string; promptId: string | null }) {
  return { ownKey: `r${requestId}`, promptKey: `p${promptId}` };
}

export function joinGroup(state: ProgramState, one: Program): void {
  if (one.promptId === null) return;
  const group = state.groups.get(one.promptId);
  if (group === undefined)
    state.groups.set(one.promptId, { seq: one.group, promptTokens: one.promptTokens, programs: 1 });
  else group.programs += 1;
}

export function leaveGroup(state: ProgramState, { promptId }: Program): void {
  if (promptId === null) return;
  const group = state.groups.get(promptId)!;
  group.programs -= 1;
  if (group.programs === 0) state.groups.delete(promptId);
}

/** Whether turns on an engine fail in a row, so that the engine gets only single turns. */
export function isSuspended({ faults }: ProgramState, { engineId: id }: Engine): boolean {
  return faults.isSuspended({ scope: 'engine', id });
}

/** Whether an engine takes as many turns as fit. */
export function isOpen(state: ProgramState, engine: Engine): boolean {
  return engine.status === 'open' && !isSuspended(state, engine);
}

/** Whether any engine does. */
export function hasOpen(state: ProgramState): boolean {
  for (const engine of state.engines.values()) if (isOpen(state, engine)) return true;
  return false;
}
