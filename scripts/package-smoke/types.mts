/** The types, as a consumer's compiler sees them; the same file is checked as ESM and as CommonJS. */
import { create, definePolicy, type Policy, registry, type TailBatchingInput, tailBatching, z } from 'rollflex';
import { type MockEngineInput, type RunningMockEngine, startMockEngine } from 'rollflex/mock-engine';
import { type ParamsOf, RpcServer } from 'rollflex/rpc';
import { type Prompt, promptId } from 'rollflex/schemas';
import { type ComparisonResult, compare } from 'rollflex/sim';
import { checkLaws } from 'rollflex/testing';

const config: TailBatchingInput = { promptsPerRound: 2, responsesPerPrompt: 2 };
const tail = create(tailBatching, config);
tail.on('request.abort', (decision) => {
  const id: string = decision.requestId;
  const code: 'prompt_collected' | string = decision.reason.code;
  return [id, code];
});
// @ts-expect-error no decision has this name
tail.on('request.started', () => undefined);
// @ts-expect-error tokens are missing
tail.send({ type: 'response.completed', at: 0, requestId: 'a' });
// @ts-expect-error no policy has this id
registry.create('nothing', {});
export const factors: number[] = registry.plan('gradient-renormalization', { replicas: [{ samples: 1 }] }).factors;
// @ts-expect-error a replica counts its samples
registry.plan('gradient-renormalization', { replicas: [{}] });
// @ts-expect-error a recipe has no plan
registry.plan('tail-batching', {});
const prompts: Prompt[] = [{ promptId: 'a' }];
tail.send({ type: 'prompts.supplied', at: 0, roundId: 'r', prompts });
export const made: Policy<never, never, never, never, never> | undefined = undefined;
export const used: [typeof definePolicy, typeof z, typeof promptId, typeof compare, typeof checkLaws] = [
  definePolicy,
  z,
  promptId,
  compare,
  checkLaws,
];
export const opened: ParamsOf<'session.open'> = { policy: 'tail-batching', onExisting: 'fail' };
export const served: number = new RpcServer().limits.maxSessions;
export const slow: MockEngineInput = { faults: [{ fault: 'slow', factor: 2, at: 1 }] };
export const urlOf = (running: RunningMockEngine): [string, typeof startMockEngine] => [running.url, startMockEngine];
export type Used = ComparisonResult;
