/** The benchmarks, and the policy that each measures, if it measures one. */
export const benchmarks: Readonly<Record<string, string | null>> = {
  admission: 'speculative-admission',
  'adaptive-tp': 'adaptive-tp',
  'complete-group-pipelining': 'complete-group-pipelining',
  'flex-ulysses': null,
  'flex-ulysses-alike': null,
  'frontier-group-dispatch': 'frontier-group-dispatch',
  'gpu-scale-down': 'gpu-scale-down',
  'group-assembly': 'group-assembly',
  'sandbox-timeout': 'sandbox-timeout',
  state: null,
  rpc: null,
  python: null,
  'decision-log': null,
  'sim-engine': null,
  'mock-engine': null,
  calibration: null,
  'reward-dispatch': 'reward-dispatch',
  'shadow-loader': 'shadow-loader',
  'stream-training': 'stream-training',
  'stream-steps': null,
  playground: null,
  import: null,
};

/** Where a policy's rates may be stated. */
export function documentsOf(policy: string): readonly string[] {
  return [`src/policies/${policy}/README.md`, `docs/${policy}.md`];
}
