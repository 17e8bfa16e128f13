/** Work that a host begins itself: a round, a step or requests, depending on the events of the policy. */

import type { Desk, Plan, Report } from './obedience.ts';
import { batchOf, finalPrompts } from './obedient-answers.ts';

/** Returns a numeric setting, or a default if it is absent. */
const setting = ({ config }: Desk, name: string, otherwise: number): number => {
  const value = config[name];
  return typeof value === 'number' ? value : otherwise;
};

const times = <T>(n: number, make: (index: number) => T): T[] => Array.from({ length: n }, (_, index) => make(index));

function newRound(desk: Desk): { roundId: string; kind: 'short' | 'long'; weightVersion: number } {
  const kind = desk.choices.below(3) === 0 ? 'long' : 'short';
  // Sometimes the weights stay those of the previous round.
  desk.weightVersion += desk.choices.below(2);
  return { roundId: desk.mint('r'), kind, weightVersion: desk.weightVersion };
}

const opened = (round: object, prompts: readonly object[] = []): Report => ({
  type: 'round.opened',
  ...round,
  prompts,
});

function completed(round: { weightVersion: number }, promptIds: readonly string[]): Report {
  const prompts = finalPrompts(promptIds, round.weightVersion);
  const reason = { code: 'quota_reached', counted: prompts.length, needed: prompts.length };
  return { type: 'round.completed', ...round, prompts, deferred: 0, reason };
}

/** Reports that the source has prompts again, if the host may still supply some. */
const source = ({ supplies }: Desk): Report[] => (supplies > 0 ? [{ type: 'source.reopened' }] : []);

function requested(desk: Desk): Plan {
  const { roundId, weightVersion } = newRound(desk);
  return [[...source(desk), { type: 'round.requested', roundId, weightVersion }]];
}

/** Plans groups for a round whose training begins before all groups have arrived. */
function trained(desk: Desk): Plan {
  const round = newRound(desk);
  const groupIds = times(setting(desk, 'groupsPerRound', 3), () => desk.mint('g'));
  const { roundId } = round;
  const gpuIds = (desk.config.replicas as { gpuIds: string[] }[]).flatMap((one) => one.gpuIds);
  return [
    [
      opened(round),
      { type: 'gpus.released', roundId, gpuIds },
      ...groupIds.map((groupId) => ({ type: 'group.completed', roundId, groupId })),
    ],
    [completed(round, groupIds)],
  ];
}

/** Plans groups with their rewards, and then the end of the round. */
function rewarded(desk: Desk): Plan {
  const round = newRound(desk);
  const { roundId, weightVersion } = round;
  const size = setting(desk, 'responsesPerPrompt', 1);
  const groupsPerUpdate = setting(desk, 'globalBatchSamples', size) / size;
  const promptIds = times(2 * groupsPerUpdate + 1, () => desk.mint('p'));
  const groups = promptIds.map((promptId) => {
    const responses = times(size, (index) => ({ requestId: `${promptId}/${index}#0`, tokens: 1, reward: index % 2 }));
    const reason = { code: 'all_rewarded', responses: size, missing: 0, waitedSeconds: 0 };
    return { type: 'group.rewarded', roundId, promptId, samples: size, tokens: size, responses, reason };
  });
  const reason = { code: 'all_groups', groups: groups.length, afterSeconds: 0 };
  const prompts = finalPrompts(promptIds, weightVersion);
  return [[opened(round), ...groups], [{ type: 'round.rewarded', ...round, prompts, reason }]];
}

/** Plans prompts whose responses an admission policy accepts and counts. */
function counted(desk: Desk): Plan {
  const round = newRound(desk);
  const { roundId } = round;
  const size = setting(desk, 'responsesPerPrompt', 2);
  const promptIds = times(setting(desk, 'promptsPerRound', 3), () => desk.mint('p'));
  const idsOf = (promptId: string): string[] => times(size, (index) => `${promptId}/${index}#0`);
  const accepted = promptIds.flatMap((promptId) =>
    idsOf(promptId).map((requestId, index) => {
      const reason = { code: 'held', held: index + 1, needed: size };
      return { type: 'response.accepted', requestId, promptId, reason };
    }),
  );
  const all = promptIds.map((promptId, index) => ({
    type: 'prompt.counted',
    ...{ promptId, roundId, responses: idsOf(promptId).map((requestId) => ({ requestId, tokens: 1 })) },
    reason: { code: 'no_filter', counted: index + 1, needed: promptIds.length },
  }));
  const rewards = promptIds.flatMap(idsOf).map((requestId) => ({ type: 'reward.ready', requestId }));
  return [
    [opened(round), ...accepted, ...all],
    [completed(round, promptIds), ...rewards],
  ];
}

/** Plans requests for more prompts than are in service at the same time. */
function arriving(desk: Desk): Plan {
  const round = newRound(desk);
  const { roundId } = round;
  const promptIds = times(2 * setting(desk, 'width', 2) + 1, () => desk.mint('p'));
  const arrivals = promptIds.flatMap((promptId) =>
    times(setting(desk, 'responsesPerPrompt', 1), (index) => ({
      type: 'request.arrived',
      ...{ requestId: desk.mint('q'), promptId, roundId, index },
    })),
  );
  const prompts = promptIds.map((promptId) => ({ promptId }));
  return [[opened(round, prompts), ...arrivals], [completed(round, promptIds)]];
}

/** Plans a step with a sample of each kind, in one batch. */
function drawn(desk: Desk): Plan {
  const stepId = desk.mint('s');
  const media = { path: '/data/clip', frames: 2, resolution: { width: 28, height: 28 }, bytes: 5 };
  const samples = [
    { sampleId: desk.mint('x'), kind: 'text' },
    { sampleId: desk.mint('x'), kind: 'image', ...media, uses: 1 },
    { sampleId: desk.mint('x'), kind: 'video', ...media },
  ];
  const ids = samples.map((one) => one.sampleId);
  return batchOf(stepId, ids, desk, [{ type: 'samples.drawn', stepId, samples }]);
}

function wanted(desk: Desk): Plan {
  const { roundId } = newRound(desk);
  const one = (kind: string): Report => ({
    type: 'reward.requested',
    ...{ requestId: desk.mint('q'), promptId: desk.mint('p'), roundId, kind },
  });
  return [['rule', 'sandbox', 'judge', 'rule', 'rule'].map(one)];
}

/** Plans programs that request their first turns. */
function programs(desk: Desk): Plan {
  return [
    times(3, () => desk.mint('q')).flatMap((requestId) => [
      { type: 'program.opened', requestId },
      { type: 'turn.requested', requestId },
    ]),
  ];
}

/** Plans requests that are generated in chunks. */
function divided(desk: Desk): Plan {
  const ids = times(3, () => desk.mint('q'));
  const requests = ids.map((requestId) => ({ requestId, promptTokens: 1 }));
  return [[...ids.map((requestId) => ({ type: 'request.opened', requestId })), { type: 'chunks.requested', requests }]];
}

function tested(desk: Desk): Plan {
  return [times(3, () => ({ type: 'sandbox.requested', runId: desk.mint('u'), testCaseId: desk.mint('t') }))];
}

/** Plans programs that need environments, of each kind one more than may exist. */
function housed({ config, mint }: Desk): Plan {
  const slots = Object.entries((config.slots ?? {}) as Readonly<Record<string, number>>);
  const one = (environment: string) => ({ type: 'slot.requested', requestId: mint('q'), environment });
  return [slots.flatMap(([environment, most]) => times(most + 1, () => one(environment)))];
}

function rolledOut(desk: Desk): Plan {
  const round = newRound(desk);
  const reason = { code: 'queue_below_threshold', queued: 0, promptsPerRound: 1 };
  const workload = { responses: 1, promptTokens: 1, responseTokens: 1, longestTokens: 1 };
  const { roundId, kind } = round;
  return [
    [{ type: 'round.planned', ...round, queued: [], reason }],
    [{ type: 'step.finished', roundId, kind, tp: 1, preemptions: 0, seconds: 1, workload }],
  ];
}

/** Main work of a policy, by an event of the policy; the first match counts. */
const works: readonly (readonly [takes: string, work: (desk: Desk) => Plan])[] = [
  ['round.requested', requested],
  ['group.completed', trained],
  ['group.rewarded', rewarded],
  ['prompt.counted', counted],
  ['request.arrived', arriving],
  ['prompts.supplied', (desk) => [[...source(desk), opened(newRound(desk))]]],
  ['samples.drawn', drawn],
  ['reward.requested', wanted],
  ['sandbox.requested', tested],
  ['step.finished', rolledOut],
  ['slot.requested', housed],
  ['turn.requested', programs],
  ['chunks.requested', divided],
];

/** Plans work for a policy with these events; an empty plan if no work is known for them. */
export function freshWork(desk: Desk): Plan {
  return works.find(([type]) => desk.takes.has(type))?.[1](desk) ?? [];
}
