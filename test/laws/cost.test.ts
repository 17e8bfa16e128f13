import { test } from 'vitest';
import {
  adaptiveTp,
  completeGroupPipelining,
  dividedRollout,
  environmentSlots,
  frontierGroupDispatch,
  gpuScaleDown,
  groupAssembly,
  longPromptQueue,
  programScheduling,
  promptSelection,
  rewardDispatch,
  rolloutPipe,
  roundComposition,
  sandboxTimeout,
  speculativeAdmission,
  stalenessPacing,
  streamTraining,
  tailPipelining,
  watchdog,
} from '../../src/index.ts';

import { checkCost } from '../../src/testing/index.ts';

test('speculative-admission keeps law 10: no event walks over what is in flight', () => {
  const config = {
    promptsPerRound: 100_000,
    responsesPerPrompt: 2,
    promptSpeculation: 1,
    responseSpeculation: 1,
    filter: 'zero-variance',
  };
  checkCost(speculativeAdmission, config, (n) => ({
    build: [
      {
        type: 'round.opened',
        at: 0,
        roundId: 'r',
        kind: 'short',
        weightVersion: 0,
        prompts: Array.from({ length: n / 2 }, (_, index) => ({ promptId: `p${index}` })),
      },
    ] as never,
    probes: [
      { type: 'response.completed', at: 1, requestId: 'p7/0#0', tokens: 5 },
      { type: 'reward.ready', at: 1, requestId: 'p7/0#0', reward: 1 },
      { type: 'response.failed', at: 1, requestId: 'p8/0#0', kind: 'infrastructure' },
      { type: 'request.aborted', at: 1, requestId: 'p9/0#0' },
      { type: 'tool.started', at: 1, requestId: 'p10/0#0', tool: 'bash' },
      { type: 'tool.finished', at: 1, requestId: 'p10/0#0', outcome: 'success' },
      { type: 'response.completed', at: 1, requestId: 'p7/1#0', tokens: 5 },
      { type: 'prompts.supplied', at: 1, roundId: 'r', prompts: [{ promptId: 'new' }] },
    ] as never,
  }));
});

test('long-prompt-queue keeps law 10', () => {
  const deferred = (promptId: string, sinceRound: number) => ({
    type: 'prompt.deferred',
    at: 0,
    prompt: { promptId, deferral: { count: 1, sinceRound, sinceSeconds: 0 } },
    roundId: 'r',
    dropped: [],
    reason: { code: 'round_completed', held: 0, needed: 2 },
  });
  const config = { promptsPerRound: 50, order: 'longest-expected-first', maxWaitRounds: 1000, maxDeferrals: 5 };
  checkCost(longPromptQueue, config, (n) => ({
    build: Array.from({ length: n }, (_, index) => deferred(`p${index}`, 0)) as never,
    probes: [
      deferred('new', 0),
      deferred('p3', 0),
      { type: 'round.requested', at: 0, roundId: 'x', weightVersion: 0 },
    ] as never,
  }));
});

test('round-composition keeps law 10, with a large window and with many prompts beyond it', () => {
  const prompts = (n: number) => Array.from({ length: n }, (_, index) => ({ promptId: `p${index}` }));
  const requested = (roundId: string) => ({ type: 'round.requested', at: 0, roundId, weightVersion: 0 });
  const supplied = (n: number) => ({ type: 'prompts.supplied', at: 0, roundId: 'r', prompts: prompts(n) });
  const counted = (promptId: string) => ({
    ...{ type: 'prompt.counted', at: 0, promptId, roundId: 'r' },
    responses: [{ requestId: `${promptId}/0#0`, tokens: promptId.length }],
    reason: { code: 'no_filter', counted: 1, needed: 1 },
  });
  const returned = { type: 'prompt.returned', at: 0, roundId: 'r', dropped: [], reason: { code: 'round_failed' } };
  const exhausted = { type: 'source.exhausted', at: 0 };
  const probes = [
    counted('p3'),
    counted('new'),
    { ...returned, prompt: { promptId: 'new' } },
    requested('x'),
    requested('y'),
    { type: 'prompts.supplied', at: 0, roundId: 'x', prompts: prompts(1) },
  ] as never;
  const config = { promptsPerRound: 50, responsesPerPrompt: 1, rememberedPrompts: 1_000_000 };
  const build = (n: number) => [
    ...prompts(n).map(({ promptId }) => counted(promptId)),
    requested('r'),
    supplied(n),
    exhausted,
  ];
  checkCost(roundComposition, { ...config, windowRounds: 1000 }, (n) => ({ build: build(n) as never, probes }));
  checkCost(roundComposition, { ...config, windowRounds: 2 }, (n) => ({ build: build(n) as never, probes }));
});

test('sandbox-timeout keeps law 10', () => {
  const requested = (run: number) => ({
    type: 'sandbox.requested',
    at: 0,
    runId: `r${run}`,
    testCaseId: `c${run % 300}`,
  });
  const finished = (run: number, outcome: string) => ({
    type: 'sandbox.finished',
    at: 0,
    runId: `r${run}`,
    outcome,
    seconds: 1,
  });
  checkCost(sandboxTimeout, { maxTestCases: 150, historyRuns: 100 }, (n) => ({
    // Twice n requested, half of them ended: n in flight, anchors forgotten, the history full.
    build: [
      ...Array.from({ length: 2 * n }, (_, run) => requested(run)),
      ...Array.from({ length: n }, (_, run) => finished(2 * run, 'correct')),
    ] as never,
    probes: [
      requested(1_000_000),
      finished(1_000_000, 'correct'),
      finished(1, 'timeout'),
      finished(3, 'infrastructure'),
      { type: 'sandbox.cancelled', at: 0, runId: 'r5' },
      finished(5, 'wrong'),
      { type: 'sandbox.report.requested', at: 0 },
    ] as never,
  }));
});

test('reward-dispatch keeps law 10, with many waiting and with many running', () => {
  const requests = (n: number) =>
    Array.from({ length: n }, (_, index) => ({
      type: 'reward.requested',
      at: 0,
      requestId: `q${index}`,
      promptId: `p${index >> 3}`,
      roundId: 'r',
    }));
  const workers = (n: number) =>
    Array.from({ length: n }, (_, index) => ({
      type: 'reward-worker.added',
      at: 0,
      workerId: `w${index}`,
      kind: 'rule',
      slots: 4,
    }));
  const finished = { type: 'reward.finished', at: 1, outcome: 'scored', reward: 1, seconds: 1 };
  const probes = [
    { ...finished, dispatchId: 'reward/3' },
    { type: 'reward.finished', at: 1, dispatchId: 'reward/4', outcome: 'infrastructure', seconds: 1 },
    { type: 'reward.started', at: 1, dispatchId: 'reward/5' },
    { type: 'reward.withdrawn', at: 1, requestId: 'q6' },
    { type: 'reward.withdrawn', at: 1, requestId: 'q150' },
    { type: 'reward.requested', at: 1, requestId: 'new', roundId: 'r' },
    {
      type: 'prompt.filtered',
      at: 1,
      promptId: 'p5',
      roundId: 'r',
      dropped: [],
      reason: { code: 'host' },
    },
    { type: 'reward-worker.drained', at: 1, workerId: 'w1' },
    { type: 'reward-worker.lost', at: 1, workerId: 'w1' },
    { type: 'timer.fired', at: 1, timerId: 'reward-dispatch/deadline' },
  ];
  checkCost(rewardDispatch, {}, (n) => ({ build: [...workers(10), ...requests(n)] as never, probes: probes as never }));
  checkCost(rewardDispatch, {}, (n) => ({ build: [...workers(n), ...requests(n)] as never, probes: probes as never }));
});

test('stream-training keeps law 10', () => {
  const replicas = ['a', 'b'].map((id) => ({ id, gpuIds: [`${id}0`] }));
  const group = (groupId: string) => ({
    type: 'group.completed',
    at: 0,
    roundId: 'r',
    groupId,
    samples: 2,
    tokens: 10,
  });
  const opened = { type: 'round.opened', at: 0, roundId: 'r', kind: 'long', weightVersion: 0, prompts: [] };
  const report = { replica: 'a', samples: 2, tokens: 10, seconds: 1 };
  checkCost(streamTraining, { replicas, groupsPerRound: 10_000, minFetchGroups: 2 }, (n) => ({
    build: [opened, ...Array.from({ length: n }, (_, index) => group(`p${index}`))] as never,
    probes: [
      group('new'),
      group('p3'),
      { type: 'gpus.released', at: 1, roundId: 'r', gpuIds: ['a0', 'b0'] },
      { ...report, type: 'train.consumed', at: 2, fetchId: 'a#0', groups: ['p0', 'p1'] },
      { type: 'replica.lost', at: 3, replica: 'a' },
      { type: 'gpus.returned', at: 3, roundId: 'r', gpuIds: ['b0'] },
      { type: 'replica.added', at: 3, replica: 'a' },
    ] as never,
  }));
});

test('adaptive-tp keeps law 10: neither steps nor what was measured is walked over', () => {
  const config = {
    servers: [{ serverId: 'a', gpuIds: ['a', 'b', 'c', 'd'] }],
    kvHeads: 4,
    modelBytes: 1,
    gpuMemoryBytes: 10,
  };
  const workload = { responses: 8, promptTokens: 1, responseTokens: 5, longestTokens: 9 };
  const step = (roundId: string, preemptions: number) => ({
    type: 'step.finished',
    at: 0,
    roundId,
    kind: 'short',
    tp: 1,
    preemptions,
    seconds: 1,
    workload,
  });
  const row = (sequenceLength: number) => ({
    tp: 1,
    batchSize: 1,
    sequenceLength,
    decodeStepSeconds: 1,
    prefillSeconds: 0,
    bytes: 1,
  });
  const rows = (n: number) => Array.from({ length: n }, (_, at) => row(at + 1));
  const observed = { type: 'profile.observed', at: 0, roundId: 'r', tp: 1, batchSize: 1, sequenceLength: 7 };
  checkCost(adaptiveTp, config, (n) => ({
    build: [
      { type: 'profile.measured', at: 0, rows: rows(n) },
      ...Array.from({ length: n }, (_, at) => step(`r${at}`, 9)),
    ] as never,
    probes: [step('new', 9), step('r1', 9), { ...observed, decodeStepSeconds: 9 }, step('more', 90)] as never,
  }));
});

test('gpu-scale-down keeps law 10: nothing but a report walks over the requests that move', () => {
  const engines = ['e0', 'e1'].map((engineId, index) => {
    return { engineId, serverId: 's', gpuIds: [`g${index}`], kvCapacityTokens: 1e9 };
  });
  const config = { promptsPerRound: 1, responsesPerPrompt: 2, maxResponseTokens: 1000, engines };
  const reason = { code: 'prompt_collected', held: 2, needed: 2 };
  checkCost(gpuScaleDown, config, (n) => ({
    build: [
      { type: 'round.opened', at: 0, roundId: 'r', kind: 'long', weightVersion: 0, prompts: [] },
      { type: 'response.accepted', at: 0, requestId: 'x', promptId: 'x', reason: { code: 'held', held: 1, needed: 2 } },
      {
        type: 'progress.reported',
        at: 0,
        queryId: 'query-0',
        requests: Array.from({ length: 2 * n }, (_, index) => {
          return { requestId: `q${index}`, engineId: `e${index & 1}`, tokens: 1, promptTokens: 1 };
        }),
      },
    ] as never,
    probes: [
      { type: 'request.migrated', at: 0, releaseId: 'release-1', requestId: 'q0' },
      { type: 'request.abort', at: 0, requestId: 'q2', promptId: 'p', reason },
      { type: 'request.migrated', at: 0, releaseId: 'release-1', requestId: 'q2' },
      { type: 'response.completed', at: 0, requestId: 'q4', tokens: 5 },
      { type: 'migration.failed', at: 0, releaseId: 'release-1', requestId: 'q6' },
      { type: 'gpus.released', at: 0, roundId: 'r', releaseId: 'release-1', gpuIds: ['g0'] },
      { type: 'engine.lost', at: 0, engineId: 'e1' },
      { type: 'gpus.returned', at: 0, roundId: 'r', releaseId: 'release-1', gpuIds: ['g0'] },
    ] as never,
  }));
});

test('group-assembly keeps law 10: only a completed round walks over its own groups', () => {
  const held = { code: 'held', held: 1, needed: 2 };
  const accepted = (prompt: string, index: number) => {
    return { type: 'response.accepted', at: 0, requestId: `${prompt}/${index}#0`, promptId: prompt, reason: held };
  };
  const counted = (prompt: string) => ({
    type: 'prompt.counted',
    at: 0,
    promptId: prompt,
    roundId: 'r',
    responses: [0, 1].map((index) => ({ requestId: `${prompt}/${index}#0`, tokens: 5 })),
    reason: { code: 'no_filter', counted: 1, needed: 2 },
  });
  const ready = (requestId: string) => ({ type: 'reward.ready', at: 1, requestId, reward: 1 });
  const completed = {
    type: 'round.completed',
    at: 2,
    roundId: 'other',
    kind: 'short',
    weightVersion: 1,
    prompts: [],
    openedSeconds: 0,
    deferred: 0,
    reason: { code: 'round_failed', counted: 0, needed: 2 },
  };
  const prompt = { promptId: 'p9' };
  const deferred = {
    type: 'prompt.deferred',
    at: 1,
    prompt,
    roundId: 'r',
    dropped: [],
    reason: { code: 'round_completed', held: 0, needed: 2 },
  };
  const dropped = [{ requestId: 'p11/0#0', tokens: 5, cause: 'merged' }];
  checkCost(groupAssembly, {}, (n) => ({
    // A quarter of n prompts with two responses each counts and waits for rewards, another quarter does not count yet.
    build: Array.from({ length: n / 2 }, (_, index) => `p${index}`).flatMap((id, index) => [
      accepted(id, 0),
      accepted(id, 1),
      ...(index % 2 === 0 ? [counted(id)] : []),
    ]) as never,
    probes: [
      accepted('new', 0),
      accepted('p3', 2),
      counted('p5'),
      counted('kept'),
      ready('p5/0#0'),
      ready('p5/1#0'),
      ready('p5/1#0'),
      {
        type: 'reward.failed',
        at: 1,
        requestId: 'p2/0#0',
        kind: 'rule',
        reason: { code: 'infrastructure', failures: 1, budget: 0 },
      },
      deferred,
      { type: 'prompt.filtered', at: 1, promptId: 'p7', roundId: 'r', dropped: [], reason: { code: 'host' } },
      { type: 'prompt.merged', at: 1, promptId: 'p11', roundId: 'r', dropped, reason: { code: 'already_in_round' } },
      completed,
      { type: 'host.restarted', at: 3, idPrefix: 'b-' },
    ] as never,
  }));
});

test('complete-group-pipelining keeps law 10: only what ends a round walks over its groups', () => {
  const config = { responsesPerPrompt: 2, globalBatchSamples: 8, filter: 'zero-variance' };
  const group = (promptId: string, rewards = [0, 1], roundId = 'r') => {
    const responses = rewards.map((reward, index) => ({ requestId: `${promptId}/${index}#0`, tokens: 5, reward }));
    const reason = { code: 'all_rewarded', responses: 2, missing: 0, waitedSeconds: 0 };
    return { type: 'group.rewarded', at: 0, roundId, promptId, samples: rewards.length, tokens: 10, responses, reason };
  };
  const opened = (roundId: string) => {
    return { type: 'round.opened', at: 0, roundId, kind: 'long', weightVersion: 1, prompts: [] };
  };
  const ids = (from: number) => [0, 1, 2, 3].map((index) => `p${from + index}`);
  const consumed = (updateId: string, groups: string[]) => {
    return { type: 'update.consumed', at: 0, updateId, groups, seconds: 1 };
  };
  const stepped = (updateId: string) => ({ type: 'optimizer.stepped', at: 0, roundId: 'r', updateId });
  checkCost(completeGroupPipelining, config, (n) => ({
    // n groups of the round are in updates, n wait for the next round.
    build: [
      opened('r'),
      opened('s'),
      ...Array.from({ length: n }, (_, index) => [group(`p${index}`), group(`p${index}`, [0, 1], 's')]).flat(),
    ] as never,
    probes: [
      group('new'),
      group('new'),
      group('equal', [1, 1]),
      ...[1, 2, 3].map((index) => group(`more${index}`)),
      consumed('update#0', ids(0).slice(0, 2)),
      consumed('update#0', ids(0).slice(2)),
      stepped('update#0'),
      consumed('update#1', ids(4)),
      { type: 'update.lost', at: 0, updateId: 'update#1' },
      { type: 'update.lost', at: 0, updateId: 'update#3' },
      stepped('update#1'),
      group('late', [0, 1], 's'),
    ] as never,
  }));
});

test('frontier-group-dispatch keeps law 10, with many deferred and with many in service', () => {
  const arrived = (group: number, index: number) => {
    const promptId = `p${group}`;
    return { type: 'request.arrived', at: 0, requestId: `${promptId}/${index}#0`, promptId, roundId: 'r', index };
  };
  const completed = (requestId: string) => ({ type: 'response.completed', at: 1, requestId, tokens: 5 });
  const reason = { code: 'infrastructure', failures: 1, budget: 0 };
  const report = { type: 'train.consumed', fetchId: 'f', replica: 'a', samples: 1, tokens: 1, seconds: 1 };
  const probes = [
    arrived(1_000_000, 0),
    completed('p1/0#0'),
    completed('p1/1#0'),
    completed('p1/1#0'),
    { type: 'response.failed', at: 1, requestId: 'p0/0#0', kind: 'data' },
    { type: 'request.aborted', at: 1, requestId: 'p0/1#0' },
    { type: 'request.abort', at: 1, requestId: 'p99/1#0', promptId: 'p99', reason: { code: 'round_failed' } },
    { type: 'response.abandoned', at: 1, requestId: 'p98/0#0', promptId: 'p98', reason },
    { type: 'prompt.failed', at: 1, promptId: 'p97', roundId: 'r', dropped: [], reason },
    ...[2, 3, 4, 5, 6].map((at) => ({ ...report, at, groups: ['p'] })),
    { type: 'round.failed', at: 7, roundId: 'other' },
  ];
  for (const width of [2, 1_000_000, 'auto'] as const) {
    checkCost(frontierGroupDispatch, { responsesPerPrompt: 2, width }, (n) => ({
      build: Array.from({ length: n }, (_, index) => arrived(index >> 1, index & 1)) as never,
      probes: probes as never,
    }));
  }
});

test('rolloutpipe keeps law 10: no report walks over the round', () => {
  const ids = (n: number): string[] => Array.from({ length: n / 2 }, (_, index) => `p${index}`);
  const arrived = (promptId: string, index: number) => {
    return { type: 'request.arrived', at: 0, requestId: `${promptId}/${index}#0`, promptId, roundId: 'r', index };
  };
  const completed = (requestId: string) => ({ type: 'response.completed', at: 1, requestId, tokens: 5 });
  const ready = (requestId: string) => ({ type: 'reward.ready', at: 1, requestId, reward: 1 });
  const opened = (roundId: string, prompts: string[]) => {
    return {
      type: 'round.opened',
      at: 0,
      roundId,
      kind: 'long',
      weightVersion: 1,
      prompts: prompts.map((promptId) => ({ promptId })),
    };
  };
  for (const width of [2, 1_000_000]) {
    checkCost(rolloutPipe, { responsesPerPrompt: 2, globalBatchSamples: 2, width }, (n) => ({
      build: [opened('r', ids(n)), ...ids(n).flatMap((id) => [arrived(id, 0), arrived(id, 1)])] as never,
      probes: [
        completed('p0/0#0'),
        completed('p0/1#0'),
        ready('p0/0#0'),
        ready('p0/1#0'),
        ready('p0/1#0'),
        { type: 'response.failed', at: 1, requestId: 'p1/0#0', kind: 'data' },
        { type: 'request.aborted', at: 1, requestId: 'p1/1#0' },
        { type: 'update.consumed', at: 2, updateId: 'update#0', groups: ['p0'], seconds: 1 },
        { type: 'optimizer.stepped', at: 3, roundId: 'r', updateId: 'update#0' },
        opened('s', ['q']),
        { type: 'round.failed', at: 4, roundId: 's' },
      ] as never,
    }));
  }
});

test('tail-pipelining keeps law 10: no report walks over the round', () => {
  const supplied = (n: number) => Array.from({ length: n / 2 }, (_, index) => ({ promptId: `p${index}` }));
  const completed = (requestId: string) => ({ type: 'response.completed', at: 1, requestId, tokens: 5 });
  const ready = (requestId: string) => ({ type: 'reward.ready', at: 1, requestId, reward: 1 });
  const failed = (requestId: string) => ({ type: 'response.failed', at: 1, requestId, kind: 'infrastructure' });
  for (const frontier of [{}, { frontier: true, width: 2 }, { frontier: true, width: 1_000_000 }]) {
    const settings = { responsesPerPrompt: 2, globalBatchSamples: 2, responseSpeculation: 1.5, ...frontier };
    // Large enough for every n.
    const config = { promptsPerRound: 100_000, promptSpeculation: 1, ...settings };
    checkCost(tailPipelining, config, (n) => ({
      build: [
        { type: 'round.requested', at: 0, roundId: 'r', weightVersion: 1 },
        { type: 'prompts.supplied', at: 0, roundId: 'r', prompts: supplied(n) },
      ] as never,
      probes: [
        completed('p0/0#0'),
        failed('p0/1#0'),
        completed('p0/2#0'),
        ready('p0/0#0'),
        ready('p0/2#0'),
        ready('p0/2#0'),
        { type: 'request.aborted', at: 1, requestId: 'p0/1#1' },
        completed('p1/0#0'),
        { type: 'update.consumed', at: 2, updateId: 'update#0', groups: ['p0'], seconds: 1 },
        { type: 'optimizer.stepped', at: 3, roundId: 'r', updateId: 'update#0' },
        { type: 'prompts.supplied', at: 4, roundId: 'r', prompts: [{ promptId: 'q' }] },
      ] as never,
    }));
  }
});

test('watchdog keeps law 10: a check looks at the oldest of each engine, and not at all requests', () => {
  const launch = (requestId: string, engineId: string) => ({
    ...{ type: 'request.launch', at: 0, requestId, promptId: 'p', roundId: 'r', index: 0, weightVersion: 0, engineId },
    reason: { code: 'planned', inFlight: 0 },
  });
  checkCost(watchdog, {}, (n) => ({
    build: Array.from({ length: n }, (_, index) => launch(`x${index}`, `e${index % 8}`)) as never,
    probes: [
      { type: 'response.completed', at: 1, requestId: 'x7', tokens: 1 },
      launch('new', 'e0'),
      { type: 'timer.fired', at: 60, timerId: 'watchdog/check' },
      { type: 'timer.fired', at: 4000, timerId: 'watchdog/check' },
    ] as never,
  }));
});

test('program-scheduling keeps law 10: no event walks over the programs', () => {
  const [some, all] = [8000, 1_000_000_000];
  for (const kvCapacityTokens of [some, all]) {
    checkCost(programScheduling, { kvCapacityTokens }, (n) => ({
      build: [
        { type: 'engine.added', at: 0, engineId: 'e0' },
        { type: 'engine.added', at: 0, engineId: 'e1' },
        ...Array.from({ length: n }, (_, index) => [
          { type: 'program.opened', at: 0, requestId: `x${index}`, promptId: `p${index >> 3}`, promptTokens: 100 },
          { type: 'turn.requested', at: 0, requestId: `x${index}`, contextTokens: 1000 },
        ]).flat(),
      ] as never,
      probes: [
        { type: 'turn.finished', at: 1, requestId: 'x0', tokens: 10, cachedTokens: 0 },
        { type: 'tool.started', at: 1, requestId: 'x0', tool: 'bash' },
        { type: 'tool.finished', at: 2, requestId: 'x0', outcome: 'success' },
        { type: 'turn.requested', at: 2, requestId: 'x0', contextTokens: 1100 },
        { type: 'turn.requested', at: 3, requestId: 'x0', contextTokens: 1200 },
        { type: 'turn.finished', at: 4, requestId: 'x1', tokens: 10 },
        { type: 'program.closed', at: 5, requestId: 'x1' },
        { type: 'program.opened', at: 5, requestId: 'new' },
        { type: 'timer.fired', at: 40, timerId: 'program-scheduling/waits' },
      ] as never,
    }));
  }
});

test('staleness-pacing keeps law 10, with many groups in flight, complete, and in a window', () => {
  const roundId = 'r';
  const about = (index: number, at = 1) => ({ at, roundId, groupId: `p${index}`, launchId: `launch#${index}` });
  const done = (index: number, at = 1) => ({ type: 'group.completed', ...about(index, at), samples: 1, tokens: 1 });
  for (const windowGroups of [undefined, 4]) {
    const config = { groupsPerBatch: 1, maxStaleness: 1000, ...(windowGroups && { windowGroups }) };
    checkCost(stalenessPacing, config, (n) => ({
      build: [
        { type: 'round.requested', at: 0, roundId, weightVersion: 0 },
        {
          ...{ type: 'prompts.supplied', at: 0, roundId },
          prompts: Array.from({ length: n }, (_, index) => ({ promptId: `p${index}` })),
        },
        ...Array.from({ length: n / 4 }, (_, index) => done(n / 4 + index)),
      ] as never,
      probes: [
        { type: 'group.rejected', ...about(0), cause: 'failed' },
        done(2),
        done(1),
        { type: 'weights.published', at: 2, roundId, publicationId: 'batch#0', weightVersion: 1 },
        { type: 'weights.published', at: 3, roundId, publicationId: 'batch#1', weightVersion: 2 },
        { type: 'prompts.supplied', at: 4, roundId, prompts: [{ promptId: 'new' }] },
        done(3, 5),
      ] as never,
    }));
  }
});

test('divided-rollout keeps law 10: no event walks over the requests', () => {
  for (const kvCapacityTokens of [8000, 1_000_000_000]) {
    checkCost(dividedRollout, { kvCapacityTokens }, (n) => {
      const ids = Array.from({ length: n }, (_, index) => `x${index}`);
      const opened = ids.map((requestId, index) => ({
        ...{ type: 'request.opened', at: 0, requestId, promptId: `p${index >> 3}` },
      }));
      const requests = ids.map((requestId) => ({ requestId, promptTokens: 1000 }));
      return {
        build: [
          { type: 'engine.added', at: 0, engineId: 'e0' },
          { type: 'engine.added', at: 0, engineId: 'e1' },
          ...opened,
          { type: 'chunks.requested', at: 0, requests },
        ] as never,
        probes: [
          { type: 'chunk.finished', at: 1, requestId: 'x0', tokens: 60 },
          { type: 'chunk.finished', at: 2, requestId: 'x0', tokens: 90 },
          { type: 'response.completed', at: 3, requestId: 'x0', tokens: 95 },
          { type: 'request.aborted', at: 4, requestId: 'x1' },
          { type: 'request.opened', at: 5, requestId: 'new', promptId: 'p1' },
          { type: 'chunks.requested', at: 5, requests: [{ requestId: 'new', promptTokens: 10 }] },
        ] as never,
      };
    });
  }
});

test('environment-slots keeps law 10, with many programs that wait and as many that have an environment', () => {
  const requested = (count: number) => ({
    ...{ type: 'slot.requested', at: 0, requestId: `p${count}`, environment: 'box' },
  });
  const about = (type: string, number: number, at = 1) => ({ type, at, slotId: `slot/${number}` });
  checkCost(environmentSlots, {}, (n) => ({
    build: [
      { type: 'slots.changed', at: 0, environment: 'box', slots: n / 2 },
      ...Array.from({ length: n }, (_, count) => requested(count)),
      ...Array.from({ length: n / 2 - 1 }, (_, number) => about('slot.ready', number)),
      ...Array.from({ length: n / 4 }, (_, count) => ({
        type: 'tool.started',
        at: 2,
        requestId: `p${count}`,
        tool: 'bash',
      })),
    ] as never,
    probes: [
      about('slot.ready', n / 2 - 1, 3),
      requested(n),
      { type: 'tool.finished', at: 4, requestId: 'p7', outcome: 'success' },
      { type: 'tool.started', at: 4, requestId: 'p7', tool: 'bash' },
      { type: 'program.closed', at: 5, requestId: 'p8' },
      about('slot.ready', 8, 6),
      { type: 'program.closed', at: 5, requestId: `p${n - 1}` },
      about('slot.failed', 9, 7),
      { type: 'timer.fired', at: 30, timerId: 'environment-slots/due' },
    ] as never,
  }));
});

test('prompt-selection keeps law 10: what is known of prompts, and those that wait, are not walked over', () => {
  const config = { promptsPerRound: 1, responsesPerPrompt: 2, threshold: 4 };
  const responses = [0, 1].map((reward) => ({ requestId: `p7/${reward}#0`, tokens: 5, reward }));
  const known = { type: 'group.rewarded', roundId: 'r', promptId: 'p7', samples: 2, tokens: 10, responses } as const;
  const reason = { code: 'all_rewarded', responses: 2, missing: 0, waitedSeconds: 0 } as const;
  checkCost(promptSelection, config, (n) => ({
    build: [
      { type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 },
      ...[0, 1].map((round) => ({
        ...{ type: 'prompts.supplied', at: 0, roundId: 'r' },
        prompts: Array.from({ length: n / 2 }, (_, index) => ({ promptId: `p${index + (round * n) / 2}` })),
      })),
    ] as never,
    probes: [
      { at: 1, ...known, reason },
      { at: 1, ...known, roundId: 's', promptId: 'new', reason },
      { type: 'round.requested', at: 1, roundId: 'next', weightVersion: 1 },
      { type: 'round.requested', at: 1, roundId: 'last', weightVersion: 2 },
      { type: 'prompts.supplied', at: 1, roundId: 'last', prompts: [{ promptId: 'other' }] },
      {
        type: 'prompts.request',
        at: 1,
        roundId: 'last',
        count: 1,
        reason: { code: 'filtered', target: 1, admitted: 0 },
      },
      { type: 'host.restarted', at: 1, idPrefix: 'h-' },
    ] as never,
  }));
});
