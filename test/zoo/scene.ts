/** Hosts for logs of the zoo, and the configurations of their policies. */
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { registry } from '../../src/index.ts';
import { type Work, ZooHost } from './host.ts';
import type { Run, ServerLog } from './record.ts';
import type { Manner } from './times.ts';
import { rounds, tests, type Worker } from './works.ts';

/** How one log comes about. */
export interface Scene extends Run {
  /** The log is that of a server. */
  readonly server?: ServerLog;
}

const of = (id: string): AnyPolicyDefinition =>
  (registry.policies as readonly AnyPolicyDefinition[]).find((one) => one.id === id)!;

const engines = ['e0', 'e1', 'e2', 'e3'];
export const round = { promptsPerRound: 4, responsesPerPrompt: 2 };
/** Without speculation every round waits for all. */
export const whole = { ...round, promptSpeculation: 1, responseSpeculation: 1 };
export const queue: [string, object] = ['long-prompt-queue', { promptsPerRound: 4 }];
export const plain: [string, object] = ['speculative-admission', round];
export const cluster = {
  ...round,
  servers: ['a', 'b'].map((one) => ({ serverId: one, gpuIds: [`${one}0`, `${one}1`] })),
  kvHeads: 4,
  modelBytes: 1e9,
  gpuMemoryBytes: 8e9,
  kvBytesPerToken: 1e5,
  maxResponseTokens: 20_000,
  trainingReplicas: ['a', 'b'].map((one) => ({ id: `d${one}`, gpuIds: [`${one}0`, `${one}1`] })),
};
export const placed = engines.map((engineId, n) => {
  return { engineId, serverId: `n${n >> 1}`, gpuIds: [`g${n}`], kvCapacityTokens: 200_000 };
});
export const judges: readonly Worker[] = ['w0', 'w1'].map((workerId) => ({ workerId, kind: 'judge', slots: 4 }));
export const sandboxes: readonly Worker[] = ['w0', 'w1'].map((workerId) => ({ workerId, kind: 'sandbox', slots: 4 }));
export const videos = ['n0', 'n1'].map((nodeId, n) => ({ nodeId, hostMemoryBytes: 2e9, ranks: [2 * n, 2 * n + 1] }));

interface More extends Partial<Manner> {
  readonly until: number;
  readonly workers?: readonly Worker[];
  readonly beatSeconds?: number;
  /** Which policy is recorded; the last one if absent. */
  readonly recorded?: number;
  readonly isHealthy?: boolean;
  readonly server?: ServerLog;
  readonly work?: Work;
}

/** A host that runs rounds with a chain of policies. */
export function scene(chain: readonly (readonly [id: string, config: object])[], seed: number, more: More): Scene {
  const { until, workers, beatSeconds, recorded = chain.length - 1, isHealthy, server, work, ...manner } = more;
  const members = chain.map(([id, config]) => [of(id), config] as const);
  const machines = { engines, until, ...(workers && { workers }), ...(beatSeconds && { beatSeconds }) };
  const does =
    work ??
    rounds(
      members.map(([definition]) => definition),
      machines,
    );
  const host = new ZooHost(members, { seed, engines, ...manner }, does);
  return { host, recorded, until, isHealthy: isHealthy === true, ...(server && { server }) };
}

/** Another job on the same server, in good health. */
export const neighbour = (seed: number, until: number, runs = 20): Scene =>
  scene([['sandbox-timeout', {}]], seed, { until, work: tests(runs, until / runs) });

export const judged = (config: object, admission: object = round): [string, object][] => [
  ['tail-batching', admission],
  ['group-assembly', {}],
  ['reward-dispatch', { defaultKind: 'judge', ...config }],
];
export const pipelined = { ...round, globalBatchSamples: 4 };
