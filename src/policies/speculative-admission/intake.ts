/** Prompts coming in: added, merged with themselves, handed back when they come too late, and asked for. */
import type { Context } from '../../core/definition.ts';
import { copyPrompt, type Prompt } from '../../schemas/prompts.ts';
import { newPrompt } from './create.ts';
import type { AdmissionDecision } from './decisions.ts';
import type { AdmissionState, Round, Unsettled } from './state.ts';

type Ctx = Context<AdmissionDecision>;

/** The lane that a prompt of this domain belongs to. */
export function laneOf(round: Round, domain: string | undefined): Round['lanes'][number] | undefined {
  if (round.lanes[0]!.domain === null) return round.lanes[0];
  return round.lanes.find((lane) => lane.domain === domain);
}

/** Adds a prompt to the round; one that is in it already is the same prompt. */
export function addPrompt(state: AdmissionState, spec: Prompt, round: Round, ctx: Ctx): void {
  if (state.prompts.has(spec.promptId)) {
    merge(state, spec, round, ctx);
    return;
  }
  round.duplicates = 0;
  const lane = laneOf(round, spec.domain)!;
  const prompt = newPrompt(copyPrompt(spec), state.seq++, lane, {
    startVersion: round.weightVersion,
    firstPrefix: state.restarts,
  });
  state.prompts.set(spec.promptId, prompt);
  lane.standby.push(prompt);
}

function merge(state: AdmissionState, spec: Prompt, round: Round, ctx: Ctx): void {
  const { promptId, ref, kept } = spec;
  const finished = kept?.filter((one) => one.finished) ?? [];
  ctx.emit({
    type: 'prompt.merged',
    at: ctx.at,
    promptId,
    roundId: round.id,
    ...(ref === undefined ? undefined : { ref }),
    dropped: finished.map(({ requestId, tokens }) => ({ requestId, tokens, cause: 'merged' })),
    reason: { code: 'already_in_round' },
  });
  round.duplicates += 1;
  // A source that deals a shuffled data set repeats itself after at most twice its length.
  if (round.duplicates >= 2 * state.prompts.size) round.onlyDuplicates = true;
}

/** Prompts that were asked for have come. */
export function supply(state: AdmissionState, roundId: string, prompts: readonly Prompt[], ctx: Ctx): void {
  const { round } = state;
  if (round === null || round.id !== roundId) {
    for (const prompt of prompts) returnUnused(prompt, roundId, ctx);
    return;
  }
  for (const prompt of prompts) {
    const lane = laneOf(round, prompt.domain)!;
    if (lane.awaiting > 0) lane.awaiting -= 1;
    addPrompt(state, prompt, round, ctx);
  }
  state.unsettled = 'merged';
}

/** Hands back a prompt that came too late. */
function returnUnused(spec: Prompt, roundId: string, ctx: Ctx): void {
  const prompt = copyPrompt(spec);
  ctx.emit({ type: 'prompt.returned', at: ctx.at, prompt, roundId, dropped: [], reason: { code: 'round_closed' } });
}

/** Whether no domain of the source has more prompts. */
export function isSourceExhausted({ config, exhausted }: AdmissionState): boolean {
  const domains = Object.keys(config.quotas ?? {});
  return exhausted.all || (domains.length > 0 && domains.every((one) => exhausted.domains.has(one)));
}

/** The source, or one domain of it, has no more: the round ends with what there is. */
export function exhaust(state: AdmissionState, domain: string | undefined): void {
  const { exhausted, round } = state;
  if (domain === undefined) exhausted.all = true;
  else exhausted.domains.add(domain);
  if (round === null) return;
  const isAll = isSourceExhausted(state);
  for (const lane of round.lanes) {
    if (!isAll && (lane.domain === null || !exhausted.domains.has(lane.domain))) continue;
    lane.exhausted = true;
    lane.awaiting = 0;
  }
  state.unsettled = 'counted';
}

/** The source has prompts again, from the next round on. */
export function reopen({ exhausted }: AdmissionState): void {
  exhausted.all = false;
  exhausted.domains.clear();
}

/** Asks for the prompts that are missing and have not been asked for. */
export function requestMore(round: Round, code: Exclude<Unsettled, 'counted'>, ctx: Ctx): void {
  let total = 0;
  const domains: Record<string, number> = {};
  for (const lane of round.lanes) {
    if (lane.exhausted || round.onlyDuplicates || lane.counted === lane.quota) continue;
    const missing = lane.target - lane.admitted - lane.standby.size - lane.awaiting;
    if (missing <= 0) continue;
    lane.awaiting += missing;
    total += missing;
    if (lane.domain !== null) domains[lane.domain] = missing;
  }
  if (total === 0) return;
  const target = round.lanes.reduce((sum, lane) => sum + lane.target, 0);
  const known = round.lanes.reduce((sum, lane) => sum + lane.admitted + lane.standby.size, 0);
  ctx.emit({
    type: 'prompts.request',
    at: ctx.at,
    roundId: round.id,
    count: total,
    ...(Object.keys(domains).length === 0 ? undefined : { domains }),
    reason: code === 'round_opened' ? { code, target, known } : { code, target, admitted: known },
  });
}
