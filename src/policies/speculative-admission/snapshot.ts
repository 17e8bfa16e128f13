/** The state as JSON, and back. What can be derived (loads, queues, heaps) is not saved but built again. */
import { z } from 'zod';
import { Fifo } from '../../core/fifo.ts';
import { promptDeferred } from '../../schemas/decisions/index.ts';
import { keptResponse, prompt as promptSchema } from '../../schemas/prompts.ts';
import { reheap, takeSlot } from './launch.ts';
import { engineOf } from './requests.ts';
import { addEngine } from './responses.ts';
import type { AdmissionConfig } from './schema.ts';
import {
  type AdmissionState,
  type Lane,
  newState,
  type PromptState,
  type Request,
  type Round,
  type Slot,
} from './state.ts';

const whole = z.int().nonnegative();
const time = z.number();
const optionalTime = z.number().nullable();

const laneSchema = z.strictObject({
  domain: z.string().nullable(),
  quota: whole,
  target: whole,
  admitted: whole,
  counted: whole,
  awaiting: whole,
  exhausted: z.boolean(),
});
const roundSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(['short', 'long']),
  weightVersion: whole,
  openedAt: time,
  completedAt: time,
  responses: whole,
  factor: z.number(),
  lanes: z.array(laneSchema),
  counted: whole,
  inFlight: whole,
  duplicates: whole,
  onlyDuplicates: z.boolean(),
});
const slotSchema = z.strictObject({
  index: whole,
  status: z.enum(['pending', 'live', 'held', 'abandoned']),
  requestId: z.string(),
  tokens: whole,
  weightVersions: z.array(whole),
  reward: z.number().nullable(),
  failures: z.strictObject({ infrastructure: whole, data: whole, environment: whole }),
  resume: keptResponse.nullable(),
  cause: z.enum(['planned', 'retry_infrastructure', 'retry_data', 'retry_environment', 'host_restarted']),
  order: whole,
});
const promptStateSchema = z.strictObject({
  spec: promptSchema,
  seq: whole,
  lane: whole.nullable(),
  status: z.enum(['standby', 'active', 'collected', 'counted', 'settling']),
  attemptBase: whole,
  startVersion: whole,
  slots: z.array(slotSchema),
  held: whole,
  rewards: whole,
  unsettled: whole,
  settling: z.strictObject({ roundId: z.string(), reason: promptDeferred.schema.shape.reason }).nullable(),
});
const requestSchema = z.strictObject({
  id: z.string(),
  promptId: z.string(),
  prompt: whole.nullable().describe('Sequence number of its prompt.'),
  index: whole,
  round: z.string().nullable(),
  phase: z.enum(['running', 'waiting', 'resuming', 'aborting']),
  engine: z.string().nullable(),
  holdsSlot: z.boolean(),
  load: whole,
  tokens: whole,
  weightVersions: z.array(whole),
  launchedAt: time,
  abortedAt: time,
  order: whole,
});

/** Schema of the saved state. */
export const admissionSnapshot = z.strictObject({
  round: roundSchema.nullable(),
  draining: z.array(roundSchema),
  recentRounds: z.array(z.string()),
  prompts: z.array(promptStateSchema),
  settling: z.array(promptStateSchema),
  requests: z.array(requestSchema),
  engines: z.array(z.strictObject({ id: z.string(), active: z.boolean() })),
  timers: z.strictObject({ abortGrace: optionalTime, responseTimeout: optionalTime }),
  rounds: whole,
  seq: whole,
  weightVersion: whole,
  nextAttempt: whole,
  prefix: z.string(),
  oldPrefixes: z.array(z.string()),
  exhausted: z.strictObject({ all: z.boolean(), domains: z.array(z.string()) }),
  exploration: z.strictObject({
    rounds: z.array(whole),
    seconds: z.array(z.number()),
    deferred: z.array(whole),
    longRounds: whole,
    longSeconds: z.number(),
    chosen: z.number(),
  }),
});

export type SavedAdmission = z.output<typeof admissionSnapshot>;
type SavedPrompt = SavedAdmission['prompts'][number];

/** The whole state, sharing nothing with it. */
export function save(state: AdmissionState): SavedAdmission {
  const { round, exploration } = state;
  return structuredClone({
    round: round && saveRound(round),
    draining: state.draining.map(saveRound),
    recentRounds: state.recentRounds,
    prompts: [...state.prompts.values()].map((prompt) => savePrompt(prompt, round)),
    settling: [...state.settling].map((prompt) => savePrompt(prompt, round)),
    requests: [...state.requests.values()].map((request) => saveRequest(state, request)),
    engines: [...state.engines.values()].map(({ id, active }) => ({ id, active })),
    timers: state.timers,
    rounds: state.rounds,
    seq: state.seq,
    weightVersion: state.weightVersion,
    nextAttempt: state.nextAttempt,
    prefix: state.prefix,
    oldPrefixes: state.oldPrefixes,
    exhausted: { all: state.exhausted.all, domains: [...state.exhausted.domains].sort() },
    exploration,
  });
}

function saveRound(round: Round): SavedAdmission['draining'][number] {
  const { weightVersions: _, ...rest } = round;
  return { ...rest, lanes: round.lanes.map(({ standby: _s, members: _m, ...lane }) => lane) };
}

function savePrompt(prompt: PromptState, round: Round | null): SavedPrompt {
  const lane = prompt.lane === null || round === null ? null : round.lanes.indexOf(prompt.lane);
  const slots = prompt.slots.map(({ prompt: _p, ...slot }) => ({ ...slot, weightVersions: [...slot.weightVersions] }));
  return { ...prompt, lane, slots, status: prompt.status as SavedPrompt['status'] };
}

function saveRequest(state: AdmissionState, request: Request): SavedAdmission['requests'][number] {
  const { prompt, round } = request;
  const engine = engineOf(state, request)?.id ?? null;
  const weightVersions = [...request.weightVersions];
  return { ...request, prompt: prompt?.seq ?? null, round: round?.id ?? null, engine, weightVersions };
}

/** A state that decides just as the saved one would. */
export function load(given: SavedAdmission, config: AdmissionConfig): AdmissionState {
  const saved = structuredClone(given);
  const rounds = new Map(
    [...saved.draining, ...(saved.round === null ? [] : [saved.round])].map((one) => [one.id, loadRound(one)]),
  );
  const round = saved.round === null ? null : rounds.get(saved.round.id)!;
  const { rounds: opened, seq, weightVersion, nextAttempt, prefix, exhausted } = saved;
  const state: AdmissionState = {
    ...newState(config),
    round,
    draining: saved.draining.map((one) => rounds.get(one.id)!),
    recentRounds: saved.recentRounds,
    timers: saved.timers,
    rounds: opened,
    seq,
    weightVersion,
    nextAttempt,
    prefix,
    oldPrefixes: saved.oldPrefixes,
    exhausted: { all: exhausted.all, domains: new Set(exhausted.domains) },
    exploration: saved.exploration,
  };
  const bySeq = new Map<number, PromptState>();
  for (const one of saved.prompts) {
    const prompt = loadPrompt(one, round);
    bySeq.set(prompt.seq, prompt);
    state.prompts.set(prompt.spec.promptId, prompt);
    if (prompt.status === 'standby') prompt.lane?.standby.push(prompt);
    else if (prompt.status !== 'counted') prompt.lane?.members.add(prompt);
  }
  for (const one of saved.settling) {
    const prompt = loadPrompt(one, round);
    bySeq.set(prompt.seq, prompt);
    state.settling.add(prompt);
  }
  for (const { id, active } of saved.engines) {
    const engine = addEngine(state, id);
    engine.active = active;
    reheap(state, engine);
  }
  for (const one of saved.requests) loadRequest(state, one, bySeq, rounds);
  fillQueues(state);
  return state;
}

function loadRound(saved: SavedAdmission['draining'][number]): Round {
  const lanes = saved.lanes.map((lane): Lane => ({ ...lane, standby: new Fifo(), members: new Set() }));
  return { ...saved, weightVersions: [saved.weightVersion], lanes };
}

function loadPrompt(saved: SavedPrompt, round: Round | null): PromptState {
  const lane = saved.lane === null || round === null ? null : round.lanes[saved.lane]!;
  const slots: Slot[] = [];
  const prompt = { ...saved, lane, slots } as PromptState;
  for (const slot of saved.slots) slots.push({ ...slot, prompt });
  return prompt;
}

function loadRequest(
  state: AdmissionState,
  saved: SavedAdmission['requests'][number],
  prompts: ReadonlyMap<number, PromptState>,
  rounds: ReadonlyMap<string, Round>,
): void {
  const engine = saved.engine === null ? null : (state.engines.get(saved.engine) ?? null);
  const request: Request = {
    ...saved,
    prompt: saved.prompt === null ? null : prompts.get(saved.prompt)!,
    round: saved.round === null ? null : rounds.get(saved.round)!,
    engine,
    holdsSlot: false,
  };
  state.requests.set(request.id, request);
  if (saved.holdsSlot) takeSlot(state, request, engine);
}

/** Builds the queues again, each in the order that its members carry. */
function fillQueues(state: AdmissionState): void {
  const byOrder = (a: { order: number }, b: { order: number }) => a.order - b.order;
  const pending = [...state.prompts.values()]
    .filter((prompt) => prompt.status === 'active')
    .flatMap((prompt) => prompt.slots.filter((slot) => slot.status === 'pending'));
  for (const slot of pending.sort(byOrder)) {
    (slot.cause === 'planned' ? state.launches : state.retries).push(slot);
  }
  const requests = [...state.requests.values()];
  if (state.config.responseTimeoutSeconds !== undefined) {
    for (const request of requests) state.deadlines.push({ request, launchedAt: request.launchedAt });
  }
  requests.sort(byOrder);
  for (const request of requests) {
    if (request.phase === 'resuming') state.resumes.push(request);
    else if (request.phase === 'aborting') state.aborting.push(request);
  }
}
