/** Configurations under which the laws are checked, for every definition of the registry. */
const admission = { promptsPerRound: 3, responsesPerPrompt: 2 };

const replicas = [
  { id: 'a', gpuIds: ['g0', 'g1'] },
  { id: 'b', gpuIds: ['g2'] },
  { id: 'c', gpuIds: ['g3'] },
];
/** Two servers of four GPUs; a profile on which the greatest TP is the quickest for long responses only. */
const tp = {
  servers: ['a', 'b'].map((serverId) => ({ serverId, gpuIds: [0, 1, 2, 3].map((gpu) => `${serverId}${gpu}`) })),
  kvHeads: 8,
  modelBytes: 40,
  gpuMemoryBytes: 100,
};
const tpProfile = (eps: readonly (number | undefined)[], skews: readonly number[]) =>
  [1, 2, 4].flatMap((degree) =>
    eps
      .filter((ep) => ep === undefined || degree % ep === 0)
      .flatMap((ep) =>
        skews.flatMap((routingSkew) =>
          [1, 4, 16].flatMap((batchSize) =>
            [1, 16].map((sequenceLength) => ({
              tp: degree,
              ...(ep === undefined ? undefined : { ep, routingSkew }),
              batchSize,
              sequenceLength,
              decodeStepSeconds:
                (0.04 * (ep === undefined || ep === 1 ? 1 : routingSkew / ep)) / degree +
                0.004 * degree +
                (1e-4 * batchSize * sequenceLength) / degree,
              prefillSeconds: (1e-3 * batchSize * sequenceLength) / degree,
              bytes: (40 + batchSize * sequenceLength) / degree,
            })),
          ),
        ),
      ),
  );

/** A job of four GPUs in two servers, with two training replicas. */
export const smallCluster = {
  promptsPerRound: 3,
  responsesPerPrompt: 2,
  servers: [
    { serverId: 's0', gpuIds: ['g0', 'g1'] },
    { serverId: 's1', gpuIds: ['g2', 'g3'] },
  ],
  kvHeads: 4,
  modelBytes: 1e9,
  gpuMemoryBytes: 8e9,
  kvBytesPerToken: 1e5,
  maxResponseTokens: 1000,
  trainingReplicas: [
    { id: 'd0', gpuIds: ['g0', 'g1'] },
    { id: 'd1', gpuIds: ['g2', 'g3'] },
  ],
};

/** Engines of one GPU, two to a server. */
const engines = (n: number, kvCapacityTokens: number) =>
  Array.from({ length: n }, (_, index) => ({
    engineId: `e${index}`,
    serverId: `s${index >> 1}`,
    gpuIds: [`g${index}`],
    kvCapacityTokens,
  }));

/** Two nodes with two ranks each, and little host memory. */
const loaderNodes = [
  { nodeId: 'n0', hostMemoryBytes: 80, ranks: [0, 1] },
  { nodeId: 'n1', hostMemoryBytes: 60, weight: 2, ranks: [2, 3] },
];

/** Whether a host with this configuration may forget what it computes: `askAgain: false` says that somebody does not. */
export const mayForget = (config: unknown): boolean => (config as { askAgain?: boolean }).askAgain !== false;

export const exampleConfigs: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  'frontier-group-dispatch': [
    { responsesPerPrompt: 2, width: 2 },
    { responsesPerPrompt: 3, width: 'auto', startRequests: 6, groupsPerUpdate: 2, awaitRetries: true },
    { responsesPerPrompt: 2, width: 2, awaitRetries: true, closeAtOnce: true },
  ],
  'speculative-admission': [
    admission,
    {
      ...admission,
      placement: 'policy',
      maxInFlightPerEngine: 3,
      retry: { infrastructure: 1, data: 0, environment: 1 },
    },
    { ...admission, filter: 'zero-variance', maxInFlight: 5, responseTimeoutSeconds: 20 },
    { ...admission, filter: 'host', maxFiltered: 2, quotas: { code: 2, math: 1 }, allowOverlap: true },
    { ...admission, partialRollout: true, maxStaleness: 1, filter: 'zero-variance', maxFiltered: 1 },
    { ...admission, maxStaleness: 2, placement: 'policy', quotas: { code: 1, math: 2 }, allowOverlap: true },
    { ...admission, speculation: 'auto', responsesPerPrompt: 1 },
    { ...admission, onRestart: 'continue', maxInFlight: 4, responseTimeoutSeconds: 30, filter: 'zero-variance' },
  ],
  'adaptive-tp': [
    tp,
    { ...tp, preemptionFloor: 0, calmSteps: 2, profile: tpProfile([undefined], [1]) },
    {
      ...tp,
      experts: 8,
      minTp: 2,
      profile: tpProfile([1, 2, 4], [1, 2]),
      startTp: { long: 4 },
      expectedWorkload: { short: { responses: 8, promptTokens: 2, responseTokens: 3, longestTokens: 9 } },
    },
  ],
  'long-prompt-queue': [
    { promptsPerRound: 3 },
    { promptsPerRound: 4, order: 'longest-expected-first', maxDeferrals: 2, maxWaitRounds: 3 },
  ],
  'round-composition': [
    { promptsPerRound: 3, responsesPerPrompt: 2, windowRounds: 3, rememberedPrompts: 9 },
    { promptsPerRound: 2, responsesPerPrompt: 2, promptSpeculation: 1.5, windowRounds: 2, rememberedPrompts: 4 },
    { promptsPerRound: 3, responsesPerPrompt: 1, windowRounds: 1, rememberedPrompts: 1 },
  ],
  'prompt-selection': [
    { promptsPerRound: 3, responsesPerPrompt: 2, threshold: 1, rememberedPrompts: 9 },
    {
      ...{ promptsPerRound: 2, responsesPerPrompt: 2, fill: 'kept', threshold: 4, lengthExponent: 1, retention: 0.5 },
      ...{ explorationShare: 0, domainFloor: 0, maxPasses: 2, maxOffered: 3, seed: 7 },
    },
    {
      ...{ responsesPerPrompt: 2, rewards: 'real', normalization: 'none', unbiased: true, threshold: 4 },
      ...{ explorationShare: 0.2, domainFloor: 0.5, rememberedPrompts: 4 },
    },
    { promptsPerRound: 2, responsesPerPrompt: 3, minResponses: 2, maxResponses: 6, tokensPerRound: 400, threshold: 2 },
    { promptsPerRound: 3, responsesPerPrompt: 2, threshold: 4, passedOver: 'last' },
  ],
  'staleness-pacing': [
    { groupsPerBatch: 2 },
    { groupsPerBatch: 2, maxStaleness: 2, windowGroups: 3 },
    { groupsPerBatch: 3, maxStaleness: 0, windowGroups: 3 },
    { groupsPerBatch: 1, maxStaleness: 3, maxGroups: 3, maxBatches: 2 },
  ],
  watchdog: [{}, { floorSeconds: 2, startSeconds: 20, factor: 1.5, maxOwed: 6 }],
  'sandbox-timeout': [
    {},
    { timeoutFactor: 1.5, minTimeoutSeconds: 0, exploreEvery: 3, maxTestCases: 3, historyRuns: 5 },
    { exploreEvery: 0, maxTestCases: 1, historyRuns: 1 },
  ],
  'environment-slots': [
    { slots: { kind0: 3, kind1: 12 }, maxIdleSeconds: 20 },
    {
      slots: { kind0: 2, kind1: 2 },
      ...{ retries: 0, suspendAfter: 1, retrySeconds: 5, maxRetrySeconds: 20 },
      ...{ maxIdleSeconds: 30, maxStartSeconds: 40, endGraceSeconds: 10 },
      ...{ toolTimeoutFactor: 2, minToolTimeoutSeconds: 0, maxToolTimeoutSeconds: 60, toolExploreEvery: 3 },
      idPrefix: 'e-',
    },
  ],
  'program-scheduling': [
    {},
    { kvCapacityTokens: 1000, maxPauseSeconds: 60 },
    { kvCapacityTokens: 300, budgetShare: 0.5, prefillTokensPerSecond: 50 },
    { tailSlowdown: 3 },
  ],
  'divided-rollout': [
    {},
    { kvCapacityTokens: 1500, maxWaitSeconds: 60 },
    {
      kvCapacityTokens: 400,
      budgetShare: 0.5,
      poolTokensPerSecond: 50_000,
      prefillTokensPerSecond: 50,
      maxWaitSeconds: 8,
    },
  ],
  'group-assembly': [{ askAgain: false }, {}],
  'reward-dispatch': [
    {},
    {
      kindByDomain: { code: 'sandbox' },
      retry: { infrastructure: 1, timeout: 1 },
      saturatedQueued: 3,
      answerGraceSeconds: 5,
      cancelGraceSeconds: 5,
    },
    {
      defaultKind: 'judge',
      budgetSeconds: { judge: 7 },
      retry: { infrastructure: 0 },
      onTimeout: 'fail',
      maxQueued: 3,
      idPrefix: 'a-',
    },
  ],
  'shadow-loader': [
    { nodes: loaderNodes },
    { nodes: [{ ...loaderNodes[0], slots: 1 }, loaderNodes[1]], prefetchSteps: 2, prefetchFraction: 1, idPrefix: 'l-' },
    { prefetchSteps: 0, retry: { infrastructure: 1, data: 1, transfer: 0 }, channels: 1 },
  ],
  'stream-training': [
    { replicas, groupsPerRound: 6 },
    { replicas, groupsPerRound: 8, reference: 'swap', minFetchGroups: 2, unit: 'tokens', reduction: 'mean' },
    { replicas, groupsPerRound: 5, fetch: { once: 0.5 }, gradientOffload: 'never', collective: 'sum' },
    { replicas: replicas.slice(1), groupsPerRound: 3, unit: 'constant', divisor: 64, idPrefix: 's-' },
  ],
  // How well a plan is searched is for the tests of flex-ulysses: here it is the time.
  flexrl: [
    { devices: 4, effort: 'fast', nodes: loaderNodes },
    { devices: 6, maxDegree: 2, balanceTolerance: 0, effort: 'fast', nodes: loaderNodes, prefetchSteps: 2 },
    {
      devices: 8,
      effort: 'fast',
      costs: {
        compute: [
          { tokens: 0, value: 0 },
          { tokens: 4000, value: 9 },
        ],
      },
      idPrefix: 'f-',
    },
  ],
  'complete-group-pipelining': [
    { responsesPerPrompt: 2, globalBatchSamples: 4, maxTokensPerGpu: 100 },
    {
      responsesPerPrompt: 3,
      globalBatchSamples: 9,
      maxTokensPerGpu: 150,
      filter: 'zero-variance',
      otherVersions: 'drop',
      baseline: 'leave-one-out',
      idPrefix: 'c-',
    },
    { responsesPerPrompt: 2, globalBatchSamples: 2, incompleteGroups: 'train', normalization: 'none' },
    { responsesPerPrompt: 1, globalBatchSamples: 2, pipelining: false, singleResponse: 'reward' },
  ],
  'gpu-scale-down': [
    { ...admission, engines: engines(4, 500), maxResponseTokens: 50 },
    { ...admission, engines: engines(4, 200), maxResponseTokens: 50, lastFraction: 1, quantile: 0.6 },
    {
      ...admission,
      engines: engines(6, 300),
      communicationGroups: [['g0', 'g1'], ['g4']],
      maxResponseTokens: 50,
      progressUnit: 'prompts',
      trigger: 0.3,
      maxMigrationAttempts: 1,
    },
    { ...admission, maxResponseTokens: 50, lastFraction: 1 },
  ],
  'agentic-rollout': [
    { ...admission, slots: { box: 3 }, environment: 'box', allowOverlap: true, maxStaleness: 1, partialRollout: true },
    {
      ...admission,
      ...{ slots: { kind0: 2, kind1: 1 }, suspendAfter: 1, retrySeconds: 5, maxRetrySeconds: 20, maxIdleSeconds: 30 },
      ...{ kvCapacityTokens: 500, maxInFlight: 4, responseTimeoutSeconds: 60, filter: 'zero-variance' },
      ...{ quotas: { code: 2, math: 1 } },
    },
    {
      ...admission,
      ...{ composition: true, windowRounds: 2, rememberedPrompts: 9, slots: { box: 2 }, environment: 'box' },
      ...{ filter: 'zero-variance', maxFiltered: 2 },
    },
  ],
  'lossless-tail': [
    { ...admission, windowRounds: 2, rememberedPrompts: 9 },
    { ...admission, windowRounds: 3, rememberedPrompts: 4, filter: 'zero-variance', placement: 'policy' },
    {
      ...admission,
      ...{ windowRounds: 1, rememberedPrompts: 1, filter: 'host', maxFiltered: 2, allowOverlap: true, maxInFlight: 4 },
    },
    { ...admission, windowRounds: 2, maxStaleness: 2, promptSpeculation: 1.5 },
    {
      ...admission,
      windowRounds: 2,
      rememberedPrompts: 9,
      dividedRollout: { kvCapacityTokens: 1500, maxWaitSeconds: 60 },
    },
    {
      ...{ ...admission, windowRounds: 2, rememberedPrompts: 9, filter: 'zero-variance' },
      promptSelection: { threshold: 3, explorationShare: 0 },
    },
  ],
  rolloutpipe: [
    { responsesPerPrompt: 2, globalBatchSamples: 4, width: 2, maxTokensPerGpu: 100 },
    {
      responsesPerPrompt: 3,
      globalBatchSamples: 3,
      width: 'auto',
      startRequests: 6,
      filter: 'zero-variance',
      awaitRetries: true,
    },
    { responsesPerPrompt: 2, globalBatchSamples: 4, frontier: false, incompleteGroups: 'train', otherVersions: 'drop' },
    { responsesPerPrompt: 1, globalBatchSamples: 2, pipelining: false, width: 1, idPrefix: 'r-' },
    { responsesPerPrompt: 2, globalBatchSamples: 2, pipelining: false, frontier: false },
  ],
  rollpacker: [
    smallCluster,
    { ...smallCluster, rewardKindByDomain: { code: 'sandbox' }, quotas: { code: 2, math: 1 }, filter: 'zero-variance' },
    {
      ...smallCluster,
      tailBatching: false,
      adaptiveTp: false,
      adaptiveTimeout: false,
      asyncReward: false,
      streamTraining: false,
    },
    {
      ...smallCluster,
      tailBatching: false,
      composition: true,
      windowRounds: 2,
      rememberedPrompts: 9,
      filter: 'zero-variance',
      maxFiltered: 2,
    },
    {
      ...smallCluster,
      tailBatching: false,
      composition: true,
      windowRounds: 3,
      rememberedPrompts: 4,
      asyncReward: false,
      streamTraining: false,
      allowOverlap: true,
    },
    {
      ...smallCluster,
      allowOverlap: true,
      maxStaleness: 1,
      partialRollout: true,
      defaultRewardKind: 'sandbox',
      judgeOffload: true,
      judge: {
        layers: 4,
        layerBytes: 1e8,
        sequenceTokens: 8192,
        activationBytes: { perToken: 1e5 },
        layerSeconds: { base: 1e-3, perToken: 1e-6 },
        memoryBytes: 1.1e9,
        pcieBytesPerSecond: 2e10,
        actorSmShare: 0.7,
      },
    },
  ],
  'tail-pipelining': [
    { ...admission, globalBatchSamples: 4 },
    {
      ...admission,
      globalBatchSamples: 2,
      frontier: true,
      width: 2,
      filter: 'zero-variance',
      allowOverlap: true,
    },
    {
      ...admission,
      globalBatchSamples: 4,
      frontier: true,
      width: 'auto',
      startRequests: 6,
      incompleteGroups: 'train',
      maxWaitRounds: 2,
      retry: { infrastructure: 1, data: 0, environment: 1 },
      idPrefix: 't-',
    },
    {
      ...admission,
      globalBatchSamples: 2,
      pipelining: false,
      placement: 'policy',
      maxInFlightPerEngine: 3,
      responseTimeoutSeconds: 20,
      allowOverlap: true,
    },
    {
      ...admission,
      ...{
        globalBatchSamples: 4,
        frontier: true,
        width: 1,
        filter: 'host',
        maxFiltered: 2,
        quotas: { code: 2, math: 1 },
      },
    },
  ],
  'tail-batching': [
    admission,
    { ...admission, placement: 'policy', maxDeferrals: 2, filter: 'host', allowOverlap: true },
    { ...admission, partialRollout: true, maxStaleness: 2, order: 'longest-expected-first', maxWaitRounds: 2 },
    { ...admission, maxStaleness: 1, quotas: { code: 2, math: 1 }, filter: 'zero-variance', maxFiltered: 2 },
    { ...admission, filter: 'zero-variance', promptSelection: { threshold: 2, maxPasses: 2, rememberedPrompts: 9 } },
    {
      ...{ ...admission, responseSpeculation: 1, maxWaitRounds: 2 },
      promptSelection: { unbiased: true, normalization: 'none', threshold: 4, explorationShare: 0.2 },
    },
  ],
};
