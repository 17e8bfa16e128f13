/**
 * The job behind a log: the prompts in the order of their supply, the length of each response by try, and the times of each
 * request. The log must contain the beginning of the session.
 */

import type { Snapshot } from '../../core/machine/snapshot.ts';
import { refuse } from '../../errors.ts';
import type { ReadLine } from '../../logs/format/decision-log.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import { samplesPerTry } from '../cluster/source.ts';

/** A response of the log. */
export interface LoggedSample {
  /** Tokens at the end of the response. */
  tokens: number;
  /** Whether the response was aborted at this length, so that it would have been longer. */
  censored: boolean;
}

/** A prompt of the log; a prompt that comes in several epochs counts once per epoch. */
export interface SuppliedPrompt {
  readonly prompt: Prompt;
  /** Number of the epoch, from 0. */
  readonly epoch: number;
  /** Responses of the prompt, by sample number: tries · 1024 + index. */
  readonly samples: Map<number, LoggedSample>;
}

/** Times and progress of a request. */
export interface LoggedRequest {
  readonly startSeconds: number;
  /** Tokens at the beginning of the request. */
  readonly keptTokens: number;
  endSeconds: number;
  /** Tokens at the end; `undefined` if the log does not say. */
  tokens: number | undefined;
}

/** An event of a log with its number. */
export interface NumberedEvent {
  readonly seq: number;
  readonly event: VocabularyEvent;
}

/** The job as reconstructed from its log. */
export interface LoggedJob {
  /** Number of the session among those with the same id, from 0. */
  readonly opening: number;
  /** The state at the beginning of the session, before any event. */
  readonly snapshot: Snapshot;
  /** Time of the log at which the times of events and requests here are 0: clocks of hosts may begin anywhere, as Unix time does. */
  readonly beginsAt: number;
  readonly events: readonly NumberedEvent[];
  readonly supplied: readonly SuppliedPrompt[];
  readonly requests: ReadonlyMap<string, LoggedRequest>;
  /** Whether the source had no more prompts at the end of the log. */
  readonly isExhausted: boolean;
}

/** Tries that determine a response: those of its prompt, and its own, if the prompt keeps tokens. */
interface Tries {
  readonly supplied: SuppliedPrompt;
  ofPrompt: number;
  readonly ofIndex: Map<number, number>;
}

class Reader {
  readonly events: NumberedEvent[] = [];
  readonly supplied: SuppliedPrompt[] = [];
  readonly requests = new Map<string, LoggedRequest>();
  isExhausted = false;
  /** Undefined before the first event. */
  beginsAt: number | undefined;
  readonly #keepsTokens: boolean;
  readonly #tries = new Map<string, Tries>();
  readonly #sampleOf = new Map<string, { readonly supplied: SuppliedPrompt; readonly sample: number }>();

  constructor(snapshot: Pick<Snapshot, 'policy' | 'config' | 'at'>) {
    this.#keepsTokens = keepsTokens(snapshot);
    // A state that has heard events has times of its own.
    if (snapshot.at !== 0) this.beginsAt = 0;
  }

  read(seq: number, logged: VocabularyEvent, decisions: readonly VocabularyDecision[]): void {
    this.beginsAt ??= logged.at;
    const event = { ...logged, at: logged.at - this.beginsAt };
    this.events.push({ seq, event });
    switch (event.type) {
      case 'prompts.supplied':
        for (const prompt of event.prompts) this.#supply(prompt);
        break;
      case 'source.exhausted':
        this.isExhausted = true;
        break;
      case 'source.reopened':
        this.isExhausted = false;
        break;
      case 'response.completed':
        this.#end(event.requestId, event.at, { tokens: event.tokens, censored: false });
        break;
      case 'request.aborted':
        this.#end(event.requestId, event.at, { tokens: event.tokens ?? 0, censored: true });
        break;
      default:
    }
    for (const decision of decisions) this.#decided(decision);
  }

  #supply(prompt: Prompt): void {
    const before = this.#tries.get(prompt.promptId);
    const supplied = { prompt, epoch: before === undefined ? 0 : before.supplied.epoch + 1, samples: new Map() };
    this.supplied.push(supplied);
    this.#tries.set(prompt.promptId, { supplied, ofPrompt: 0, ofIndex: new Map() });
  }

  #decided(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'request.launch': {
        const tries = this.#tries.get(decision.promptId);
        if (tries === undefined) return;
        const { supplied, ofPrompt, ofIndex } = tries;
        const { requestId, index, at, resumeFrom } = decision;
        const sample = (ofPrompt + (ofIndex.get(index) ?? 0)) * samplesPerTry + index;
        this.#sampleOf.set(requestId, { supplied, sample });
        const keptTokens = resumeFrom?.tokens ?? 0;
        const startSeconds = at - this.beginsAt!;
        this.requests.set(requestId, { startSeconds, keptTokens, endSeconds: Infinity, tokens: undefined });
        break;
      }
      case 'prompt.deferred': {
        const tries = this.#tries.get(decision.prompt.promptId);
        if (tries !== undefined && !this.#keepsTokens) tries.ofPrompt = decision.prompt.deferral?.count ?? 1;
        break;
      }
      case 'response.dropped': {
        const dropped = this.#sampleOf.get(decision.requestId);
        const ofIndex = dropped && this.#tries.get(dropped.supplied.prompt.promptId)?.ofIndex;
        if (!this.#keepsTokens || dropped === undefined || ofIndex === undefined) return;
        const index = dropped.sample % samplesPerTry;
        ofIndex.set(index, (ofIndex.get(index) ?? 0) + 1);
        break;
      }
      default:
    }
  }

  #end(requestId: string, at: number, found: LoggedSample): void {
    const request = this.requests.get(requestId);
    const drawn = this.#sampleOf.get(requestId);
    if (request === undefined || drawn === undefined || request.tokens !== undefined) return;
    request.endSeconds = at;
    request.tokens = found.tokens;
    // A retry may have come further than the earlier request.
    const known = drawn.supplied.samples.get(drawn.sample);
    if (known === undefined || (known.censored && (!found.censored || found.tokens > known.tokens))) {
      drawn.supplied.samples.set(drawn.sample, found);
    }
  }
}

/** Other commands that answer questions about logs which cannot be simulated from the middle on. */
export const instead =
  '`rollflex simulate --from-log` compares policies on the lengths of any log, and `rollflex explain` says what it waits for';

/** The lines of one opening of a session, as far as they were read. */
interface Opening {
  readonly number: number;
  readonly policy: string;
  readonly snapshot: Snapshot;
  readonly reader: Reader;
  seq: number;
  isClosed: boolean;
}

/**
 * Reads the log of one session.
 *
 * @param lines - lines of the log, from the first line of the session on
 * @param session - id of the session
 * @param opening - number among the sessions with this id, from 0; the last one if absent
 * @throws PolicyError `infeasible` for a session whose beginning, or an event of it, is missing in the log; `unknown_id` for a
 * missing session
 */
export function loggedJob(lines: Iterable<ReadLine>, session: string, opening?: number): LoggedJob {
  let last: Opening | undefined;
  /** What the present opening lacks; this matters only if the caller wants this opening. */
  let lack: [where: string, expected: string, got: string] | undefined;
  for (const { where, line } of lines) {
    if (line === 'torn' || !('session' in line) || line.session !== session) continue;
    if (line.kind === 'session') {
      // Each file of the log repeats the state at its beginning.
      if (last !== undefined && !last.isClosed && last.policy === line.policy && line.seq >= last.seq) continue;
      if (last !== undefined && last.number === opening) break;
      const { policy, seq, snapshot } = line;
      const isWhole = seq === 0 && snapshot !== null;
      const whole = `a log from the beginning of the session on, with its earlier files; ${instead}`;
      lack = isWhole ? undefined : [where, whole, `event ${seq}`];
      const of = snapshot ?? ({ policy, config: {}, at: 0 } as Snapshot);
      const number = last === undefined ? 0 : last.number + 1;
      last = { number, policy, snapshot: of, reader: new Reader(of), seq, isClosed: false };
    } else if (last !== undefined && line.kind === 'closed') last.isClosed = line.reason !== 'stopped';
    if (line.kind !== 'event' || last === undefined) continue;
    if (line.seq !== last.seq + 1)
      lack ??= [where, `event ${last.seq + 1}: a log without gaps; ${instead}`, `event ${line.seq}`];
    last.seq = line.seq;
    if (lack !== undefined || (opening !== undefined && last.number !== opening)) continue;
    const { event, decisions } = line;
    last.reader.read(line.seq, event as unknown as VocabularyEvent, decisions as unknown as VocabularyDecision[]);
  }
  if (last === undefined || (opening !== undefined && last.number !== opening))
    return refuse('unknown_id', 'session', 'a session of the log', session);
  if (lack !== undefined) refuse('infeasible', ...lack);
  const { snapshot, reader, number } = last;
  const { events, supplied, requests, isExhausted } = reader;
  return { opening: number, snapshot, beginsAt: reader.beginsAt ?? 0, events, supplied, requests, isExhausted };
}

const isRequested = (
  one: NumberedEvent,
): one is NumberedEvent & { event: Extract<VocabularyEvent, { type: 'round.requested' }> } =>
  one.event.type === 'round.requested';

/** Returns the id of the round that was requested last, up to and including an event. */
export const roundAt = ({ events }: LoggedJob, at: number): string | undefined =>
  events.slice(0, at).findLast(isRequested)?.event.roundId;

/** Returns the numbers of the events that begin rounds. */
export const roundBeginnings = ({ events }: LoggedJob): number[] => events.filter(isRequested).map(({ seq }) => seq);

/** Returns the number of the last event before the first round: until then the host only describes its machines. */
export function beforeRounds({ events }: LoggedJob): number {
  const first = events.find(isRequested);
  return (first?.seq ?? 1) - 1;
}

/** Returns the ids of the engines that take requests after an event; none where the log names none. */
export function enginesAt({ events }: LoggedJob, at: number): string[] {
  let ids = new Set<string>();
  for (const { event } of events.slice(0, at)) {
    if (event.type === 'engine.added') ids.add(event.engineId);
    else if (event.type === 'engine.drained' || event.type === 'engine.lost') ids.delete(event.engineId);
    else if (event.type === 'engines.changed') ids = new Set(event.engineIds);
  }
  return [...ids];
}

/** Whether deferred prompts keep the tokens of their responses. */
export function keepsTokens({ policy, config }: Pick<Snapshot, 'policy' | 'config'>): boolean {
  const { partialRollout = false, maxStaleness = 0 } = config as { partialRollout?: boolean; maxStaleness?: number };
  return policy === 'lossless-tail' ? maxStaleness > 0 : partialRollout;
}
