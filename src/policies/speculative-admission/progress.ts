/** From a held response to a prompt that counts, or does not: collected, judged, counted, filtered, quarantined. */
import type { Context } from '../../core/definition.ts';
import type { AdmissionDecision } from './decisions.ts';
import { countedResponses, dropHeld, remove } from './leave.ts';
import { abortAll } from './requests.ts';
import type { AdmissionState, FaultKind, PromptState } from './state.ts';

type Ctx = Context<AdmissionDecision>;

/** The open round, or between rounds the last one. */
export function currentRoundId(state: AdmissionState): string {
  return state.round?.id ?? state.recentRounds.newest!;
}

/** A prompt has its R0-th response: its siblings are aborted, and it is judged as soon as that is possible. */
export function collect(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { held, responses } = prompt;
  prompt.status = 'collected';
  const requestIds: string[] = [];
  for (const one of responses) if (one.status === 'held') requestIds.push(one.requestId);
  ctx.emit({
    type: 'prompt.collected',
    at: ctx.at,
    promptId: prompt.spec.promptId,
    roundId: currentRoundId(state),
    requestIds,
    reason: { code: 'responses_held', held, launched: responses.length },
  });
  abortAll(state, prompt, { code: 'prompt_collected', held, needed: state.config.responsesPerPrompt }, ctx);
  judge(state, prompt, ctx);
}

/** The host has judged that a prompt counts: it does as soon as there is room for it, in this round or in a later one. */
export function pass(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  prompt.status = 'passed';
  count(state, prompt, ctx);
}

/** Lets a collected prompt count, as soon as its filter can tell; the filter `host` waits for the host. */
export function judge(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  if (prompt.status === 'passed') count(state, prompt, ctx);
  if (prompt.status !== 'collected') return;
  if (state.config.filter === 'none') count(state, prompt, ctx);
  else if (state.config.filter === 'zero-variance') judgeRewards(state, prompt, ctx);
}

function judgeRewards(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { responsesPerPrompt, varianceTolerance: tolerance } = state.config;
  if (prompt.rewards < responsesPerPrompt) return;
  const rewards = prompt.responses.flatMap((one) => (one.status === 'held' ? [one.reward!] : []));
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const variance = rewards.reduce((sum, reward) => sum + (reward - mean) * (reward - mean), 0) / rewards.length;
  const standardDeviation = Math.sqrt(variance);
  // A single response has no variance: that is not the same as zero variance.
  if (rewards.length === 1 || standardDeviation > tolerance) count(state, prompt, ctx);
  else reject(state, prompt, { code: 'zero_variance', standardDeviation, tolerance }, ctx);
}

/** A prompt counts. Between rounds, or with its quota full, it waits for the next round to open (it is carried). */
function count(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { round } = state;
  const { lane } = prompt;
  const { promptId, domain, promptTokens } = prompt.spec;
  if (round === null || lane === null || lane.counted === lane.quota) return;
  prompt.status = 'counted';
  lane.members.delete(prompt);
  lane.counted += 1;
  round.counted += 1;
  state.unsettled ??= 'counted';
  ctx.emit({
    type: 'prompt.counted',
    at: ctx.at,
    promptId,
    roundId: round.id,
    ...(domain === undefined ? undefined : { domain }),
    ...(promptTokens === undefined ? undefined : { promptTokens }),
    responses: countedResponses(prompt, round.weightVersion),
    reason: {
      code: state.config.filter === 'none' ? 'no_filter' : 'passed',
      counted: round.counted,
      needed: state.config.promptsPerRound,
    },
  });
}

/** A filtered prompt leaves and is replaced. */
export function reject(
  state: AdmissionState,
  prompt: PromptState,
  reason: Extract<AdmissionDecision, { type: 'prompt.filtered' }>['reason'],
  ctx: Ctx,
): void {
  const { promptId, ref } = prompt.spec;
  ctx.emit({
    type: 'prompt.filtered',
    at: ctx.at,
    promptId,
    roundId: currentRoundId(state),
    ...(ref === undefined ? undefined : { ref }),
    dropped: dropHeld(prompt, 'filtered'),
    reason,
  });
  replace(state, prompt, 'filtered');
}

/** A prompt that cannot get its responses leaves by name and is replaced. */
export function quarantine(
  state: AdmissionState,
  prompt: PromptState,
  kind: FaultKind | 'reward',
  failures: number,
  ctx: Ctx,
): void {
  const { promptId, ref } = prompt.spec;
  const dropped = dropHeld(prompt, 'quarantined');
  abortAll(state, prompt, { code: 'prompt_quarantined', held: prompt.held }, ctx);
  ctx.emit({
    type: 'prompt.quarantined',
    at: ctx.at,
    promptId,
    roundId: currentRoundId(state),
    ...(ref === undefined ? undefined : { ref }),
    dropped,
    reason: { code: kind, failures, budget: kind === 'reward' ? 0 : state.config.retry[kind] },
  });
  replace(state, prompt, 'quarantined');
}

function replace(state: AdmissionState, prompt: PromptState, code: 'filtered' | 'quarantined'): void {
  const { lane } = prompt;
  remove(state, prompt);
  if (lane === null || state.round === null) return;
  lane.admitted -= 1;
  state.unsettled = code;
}
