/** Inputs under which the laws of planners are checked, for every planner of the registry: each has a plan. */
const judge = {
  layers: 28,
  layerBytes: 466e6,
  fixedBytes: 2.2e9,
  sequenceTokens: 8192,
  activationBytes: { base: 0.5e9, perToken: 1e5 },
  layerSeconds: { perToken: 2.5e-6, perTokenSquared: 1e-11 },
  memoryBytes: 9e9,
  pcieBytesPerSecond: 25e9,
  actorSmShare: 0.7,
};

const drafts = {
  groups: [{ sequences: 8 }],
  passSeconds: [
    { tokens: 1, seconds: 0.0075 },
    { tokens: 180, seconds: 0.0075 },
    { tokens: 1000, seconds: 0.034 },
  ],
  drafter: { passSeconds: 0.0007 },
  maxDraftTokens: 8,
};

export const exampleInputs: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  'flex-ulysses': [
    { lengths: [32_768, 16_384, 4096, 4096, 4096, 0], devices: 4, maxDegree: 4 },
    {
      lengths: [900, 800, 20, 30, 40, 50],
      devices: 6,
      balanceTolerance: 0,
      effort: 'fast',
      frames: [9, 0, 1, 2, 0, 2],
      packThresholdTokens: 100,
      packCapTokens: 120,
      costs: { timing: 'H200' },
    },
    { lengths: [900, 800, 20, 30, 40, 50], devices: 6, balanceTolerance: 0, effort: 'fast' },
    { lengths: [900, 800, 20, 30, 40, 50], devices: 8, strategy: 'paper' },
    { lengths: [900, 800, 20], devices: 4, strategy: 'bucketing', costs: { workload: { perToken: 1 } } },
    { lengths: [900, 800, 20, 30], devices: 2, strategy: 'karmarkar-karp' },
    {
      lengths: [500, 400, 300, 20],
      devices: 8,
      maxDegree: 4,
      attentionHeads: 28,
      kvHeads: 4,
      devicesPerNode: 2,
      memoryCapTokens: 400,
      overCap: 'allow',
      strategy: 'ulysses',
      ulyssesDegree: 2,
      costs: {
        compute: { perToken: 24_576, perTokenSquared: 1 },
        communication: [
          { degree: 2, cost: { perToken: 0.3 } },
          { degree: 4, cost: [{ tokens: 1000, value: 2 }] },
        ],
        timing: {
          attentionSeconds: { perPack: 1e-5, perToken: 1e-8, perTokenSquared: 1e-11 },
          allToAllSeconds: { perPeer: 1e-5, perToken: 1e-7, perTokenBetweenNodes: 1e-6, perTokenSquared: 1e-12 },
        },
      },
      previous: { assignments: [{ sequence: 0, degree: 2, devices: [0, 1] }] },
    },
  ],
  'gradient-renormalization': [
    { replicas: [{ samples: 3 }, { samples: 0 }, { samples: 5 }] },
    {
      replicas: [
        {
          samples: 4,
          tokens: 90,
          groups: 2,
          microBatches: [
            { samples: 1, tokens: 20, groups: 1 },
            { samples: 3, tokens: 70, groups: 1 },
          ],
        },
        { samples: 0, tokens: 0, groups: 0, microBatches: [] },
      ],
      unit: 'tokens',
      collective: 'mean',
      accumulation: 'mean',
    },
    {
      replicas: [{ samples: 4, microBatches: [{ samples: 2 }, { samples: 2 }] }, { samples: 2 }],
      unit: 'constant',
      divisor: 12.5,
      accumulated: true,
    },
    { replicas: [{ samples: 7, groups: 1 }], unit: 'groups', reduction: 'sum' },
  ],
  'grpo-advantages': [
    { groups: [{ rewards: [0, 1, 1, 0.5] }, { rewards: [5, 5, 5] }, { rewards: [2] }] },
    {
      groups: [{ groupId: 'q1', rewards: [1, 1, 0, -2], responseIds: ['a', 'a', 'b', 'c'] }],
      baseline: 'leave-one-out',
      normalization: 'none',
      std: 'population',
      epsilon: 0,
      varianceTolerance: 0,
      singleResponse: 'reward',
    },
  ],
  'draft-budget': [
    drafts,
    { ...drafts, groups: [{ sequences: 256 }], margin: 0 },
    {
      ...drafts,
      groups: [
        { sequences: 2, remainingTokens: 9000, weight: 4.5 },
        { sequences: 300, remainingTokens: 2 },
      ],
      seen: [
        { offered: 1000, accepted: 700.5 },
        { offered: 900, accepted: 400 },
      ],
      prior: { acceptance: 0.7, tokens: 5 },
      drafter: { stepSeconds: 0.002, passSeconds: 0.0004, secondsPerToken: 1e-6 },
      perSequence: true,
    },
  ],
  'judge-offload': [
    judge,
    {
      ...judge,
      activationBytes: [
        { tokens: 1024, value: 0.6e9 },
        { tokens: 16_384, value: 2.4e9 },
      ],
      layerSeconds: [{ tokens: 32_768, value: 0.05 }],
      transferOverheadSeconds: 1e-4,
      judgeSmShare: 0.226,
      maxPrefetchDepth: 2,
      latencyTolerance: 0,
    },
    { ...judge, memoryBytes: 80e9 },
  ],
  'micro-batches': [
    { lengthsByRank: [[700, 600, 500, 0], [300], []], maxTokensPerMicroBatch: 800 },
    {
      lengths: [900, 700, 600, 500, 200, 100],
      ranks: 4,
      maxTokensPerMicroBatch: 800,
      overlong: 'alone',
      minMicroBatches: 2,
      divisibleBy: 3,
      compute: [{ tokens: 1000, value: 5 }],
    },
    {
      lengths: [1600, 300],
      ranks: 2,
      assignments: [
        { sequence: 0, degree: 2, devices: [0, 1] },
        { sequence: 1, degree: 1, devices: [1] },
      ],
      maxTokensPerMicroBatch: 900,
      compute: { perTokenSquared: 1 },
    },
  ],
};
