/** How a response gets in line for its reward, and how it leaves. */
import type { Context } from '../../core/definition.ts';
import type { RewardKind } from '../../schemas/reward-workers.ts';
import { cancelDispatch } from './dispatches.ts';
import { join, leave } from './group.ts';
import { named, queueAgain, takeFromLine } from './pool.ts';
import { kindOfDomain } from './schema.ts';
import type { RewardState, Sample } from './state.ts';
import type { CancelCode, RewardDecision } from './words.ts';

type Ctx = Context<RewardDecision>;

/** What is known of a reward that is wanted. */
export interface Wanted {
  readonly requestId: string;
  readonly promptId?: string | undefined;
  readonly roundId?: string | undefined;
  readonly kind?: RewardKind | undefined;
  readonly domain?: string | undefined;
  readonly budgetSeconds?: number | undefined;
}

/** How a reward is computed: as asked for, else by the domain, else by the default. */
export function kindOf({ config }: RewardState, { kind, domain }: Wanted): RewardKind {
  return kind ?? kindOfDomain(config, domain);
}

/** Takes a response in. One that is in already is the same: its reward is computed once. */
export function want(state: RewardState, wanted: Wanted, ctx: Ctx): void {
  const { requestId, promptId, roundId } = wanted;
  const known = state.samples.get(requestId);
  if (known !== undefined) {
    const reason = { code: 'already_requested', afterSeconds: ctx.at - known.requestedAt } as const;
    ctx.emit({ type: 'reward.merged', at: ctx.at, requestId, reason });
    return;
  }
  const kind = kindOf(state, wanted);
  const sample: Sample = {
    requestId,
    promptId: promptId ?? null,
    kind,
    budgetSeconds: wanted.budgetSeconds ?? state.config.budgetSeconds[kind],
    seq: state.seq++,
    requestedAt: ctx.at,
    since: ctx.at,
    cause: 'requested',
    failures: 0,
    timeouts: 0,
    attempts: 0,
    dispatch: null,
    final: false,
    prompt: null,
    round: null,
    placeInPrompt: -1,
    placeInRound: -1,
    heapIndex: -1,
    previous: null,
    next: null,
  };
  state.samples.set(requestId, sample);
  if (roundId !== undefined) attach(state, sample, roundId);
  state.pools[kind].fresh.push(sample);
}

/** Makes a response leave: nothing of it is kept. */
export function end(state: RewardState, sample: Sample): void {
  state.samples.delete(sample.requestId);
  detach(state, sample);
}

/** Lets a response leave with its round, and with its prompt in that round. */
export function attach(state: RewardState, sample: Sample, roundId: string): void {
  const { promptId } = sample;
  sample.round = join(state.rounds, roundId, 'placeInRound', sample);
  if (promptId !== null) sample.prompt = join(state.prompts, promptId, 'placeInPrompt', sample);
}

/** It leaves with neither its round nor its prompt any more. */
function detach(state: RewardState, sample: Sample): void {
  leave(state.prompts, sample.prompt, sample);
  leave(state.rounds, sample.round, sample);
  sample.prompt = null;
  sample.round = null;
}

/** A completed round trains on it: nothing takes its reward away any more. */
export function keep(state: RewardState, sample: Sample): void {
  sample.final = true;
  detach(state, sample);
}

/** A reward is not needed any more. */
export function cancel(state: RewardState, sample: Sample, code: CancelCode, ctx: Ctx): void {
  const afterSeconds = ctx.at - sample.requestedAt;
  const { dispatch } = sample;
  ctx.emit({ type: 'reward.cancelled', at: ctx.at, ...named(sample), reason: { code, afterSeconds } });
  if (dispatch === null) takeFromLine(state, sample);
  else cancelDispatch(state, dispatch, { code, afterSeconds }, ctx);
  end(state, sample);
}

/** A try has failed through no fault of the response. */
export function fault(state: RewardState, sample: Sample, ctx: Ctx): void {
  const budget = state.config.retry.infrastructure;
  sample.failures += 1;
  if (sample.failures <= budget) {
    queueAgain(state, sample, 'retry_infrastructure', ctx.at);
    return;
  }
  const reason = { code: 'infrastructure', failures: sample.failures, budget } as const;
  ctx.emit({ type: 'reward.failed', at: ctx.at, ...named(sample), reason });
  end(state, sample);
}
