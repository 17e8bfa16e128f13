/** The state of program-scheduling. Sums, heaps and lines are derived: they are not saved but built again. */
import { z } from 'zod';
import { IndexedHeap } from '../../core/collections/heap.ts';
import { LruMap } from '../../core/collections/lru.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import type { Live } from '../../core/machine/definition.ts';
import { byHand, derived, mapBy } from '../../core/machine/state.ts';
import { goneEngines } from '../../core/rollout/engines.ts';
import { noFaults, sharedFaults } from '../../core/rollout/shared-faults.ts';
import { savedTimes, WaitingTimes } from '../../core/why/waiting-times.ts';
import type { ProgramSchedulingConfig } from '../../generated/settings/program-scheduling.ts';
import { count, engineId, promptId, requestId, seconds } from '../../schemas/units.ts';
import { prefixCache } from './cache.ts';
import { newPace, pace } from './pace.ts';

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
export const pausesFirst = (a: Program, b: Program): number =>
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
   * see packing.ts.
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

export const begin = (): Partial<SavedPrograms> => ({ pace: newPace() });

/** Migrates a state from before `faults`. */
export function migrateFromThree(saved: unknown): unknown {
  const { programs, ...rest } = saved as { readonly programs: readonly object[] };
  return { ...rest, programs: programs.map((one) => ({ ...one, launched: 0 })), faults: noFaults() };
}

export function link(state: ProgramState): void {
  for (const one of state.programs.values()) {
    one.due = { heapIndex: -1, at: 0, program: one };
    Object.assign(one, keysOf(one));
    joinGroup(state, one);
    if (one.counted) countIn(state, one, state.engines.get(one.engineId!)!);
    if (one.leaving) leaveLater(state, one);
    if (one.waitsSince !== null) enterLine(state, one);
  }
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
  return !faults.isQuiet && faults.find({ scope: 'engine', id })?.suspension != null;
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

/** Growth of an engine's used tokens if a program is added. */
export function addedTokens(one: Program, { prompts }: Engine): number {
  const shares = one.promptId !== null && prompts.has(one.promptId);
  return shares ? ownTokens(one) : Math.max(one.contextTokens, one.promptTokens);
}

/** Counts a program in the budget of an engine. */
export function countIn(state: ProgramState, one: Program, engine: Engine): void {
  engine.usedTokens += addedTokens(one, engine);
  engine.members.add(one);
  if (one.promptId !== null) {
    const prompt = engine.prompts.get(one.promptId);
    if (prompt === undefined) engine.prompts.set(one.promptId, { members: 1, tokens: one.promptTokens });
    else prompt.members += 1;
  }
  one.engineId = engine.engineId;
  one.counted = true;
  place(state, one, engine);
}

/** Puts a member into the collection for its phase. */
function place(state: ProgramState, one: Program, engine: Engine): void {
  if (one.phase === 'running') {
    engine.running += 1;
    engine.runningTokens += ownTokens(one);
    engine.busy.update(one);
  } else {
    engine.resting.update(one);
    one.due.at = one.keptUntil;
    state.keepsEnd.update(one.due);
  }
}

function unplace(state: ProgramState, one: Program, engine: Engine): void {
  if (one.phase === 'running') {
    engine.running -= 1;
    engine.runningTokens -= ownTokens(one);
    if (one.leaving) {
      engine.leaving -= 1;
      engine.leavingTokens -= ownTokens(one);
      one.leaving = false;
    } else engine.busy.remove(one);
  } else {
    engine.resting.remove(one);
    state.keepsEnd.remove(one.due);
  }
}

/** Takes a program out of the budget of its engine. */
export function countOut(state: ProgramState, one: Program): Engine {
  const engine = state.engines.get(one.engineId!)!;
  unplace(state, one, engine);
  engine.members.delete(one);
  if (one.promptId !== null) {
    const prompt = engine.prompts.get(one.promptId)!;
    prompt.members -= 1;
    if (prompt.members === 0) engine.prompts.delete(one.promptId);
  }
  engine.usedTokens -= addedTokens(one, engine);
  one.counted = false;
  return engine;
}

/** Lets a running member leave the budget after its turn. */
export function leaveLater(state: ProgramState, one: Program): void {
  const engine = state.engines.get(one.engineId!)!;
  engine.busy.remove(one);
  engine.leaving += 1;
  engine.leavingTokens += ownTokens(one);
  one.leaving = true;
}

type Line = 'ready' | 'fresh' | 'paused';
function lineOf({ phase, routes }: Program): Line {
  if (phase === 'asked') return routes === 0 ? 'fresh' : 'ready';
  return phase === 'answered' ? 'ready' : 'paused';
}

/** Adds a program to the line for room. */
export function enterLine(state: ProgramState, one: Program): void {
  state[lineOf(one)].update(one);
  if (one.phase === 'asked') state.asked += 1;
  one.due.at = one.waitsSince! + state.config.maxPauseSeconds;
  state.waitsEnd.update(one.due);
}

/** Takes a program out of its line. */
export function leaveLine(state: ProgramState, one: Program): void {
  state[lineOf(one)].remove(one);
  if (one.phase === 'asked') state.asked -= 1;
  state.waitsEnd.remove(one.due);
}

/** Changes a program; sums, heaps and lines follow. */
export function change(state: ProgramState, one: Program, apply: (one: Program) => void): void {
  if (one.counted) {
    const engine = countOut(state, one);
    apply(one);
    countIn(state, one, engine);
  } else if (one.waitsSince !== null) {
    leaveLine(state, one);
    apply(one);
    enterLine(state, one);
  } else apply(one);
}
