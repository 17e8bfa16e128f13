/** The benchmarks of `npm run bench`, by file, and the policy that each measures, if it measures one. */
export const benchmarks: Readonly<Record<string, string | null>> = {
  'rates/admission': 'speculative-admission',
  'rates/adaptive-tp': 'adaptive-tp',
  'rates/complete-group-pipelining': 'complete-group-pipelining',
  'flex-ulysses/plans': null,
  'flex-ulysses/alike': null,
  'frontier/rate': 'frontier-group-dispatch',
  'rates/gpu-scale-down': 'gpu-scale-down',
  'rates/group-assembly': 'group-assembly',
  'sandbox/timeout': 'sandbox-timeout',
  'overhead/state': null,
  'rpc/calls': null,
  'python/calls': null,
  'rpc/decision-log': null,
  'engines/sim-engine': null,
  'engines/mock-engine': null,
  'rates/program-scheduling': 'program-scheduling',
  'rates/reward-dispatch': 'reward-dispatch',
  'rates/shadow-loader': 'shadow-loader',
  'rates/stream-training': 'stream-training',
  'simulated/stream-steps': null,
  playground: null,
  'overhead/import': null,
};

/** Where a policy's rates may be stated. */
export function documentsOf(policy: string): readonly string[] {
  return [`src/policies/${policy}/README.md`, `docs/${policy}.md`];
}
