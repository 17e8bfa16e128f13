/** The hosts of logs with a fault. */
import type { AnyDecision } from '../../src/core/machine/definition.ts';
import type { Report } from '../../src/testing/hosts/obedience.ts';
import type { ZooHost } from './host.ts';
import {
  cluster,
  judged,
  judges,
  neighbour,
  pipelined,
  placed,
  plain,
  queue,
  round,
  type Scene,
  sandboxes,
  scene,
  videos,
  whole,
} from './scene.ts';
import type { Manner } from './times.ts';
import { minted, steps, tests } from './works.ts';

type Fault = NonNullable<Manner['fault']>;
type Matches = (report: Report, host: ZooHost, cause: AnyDecision | undefined) => boolean;

const lose =
  (matches: Matches): Fault =>
  (report, cause, host) =>
    matches(report, host, cause) ? undefined : report;
/** Loses some of the reports that match, by their number. */
const loseSome = (matches: Matches, ...numbers: readonly number[]): Fault => {
  let seen = 0;
  return lose((...about) => matches(...about) && numbers.includes(seen++));
};
const is =
  (type: string, from: number): Matches =>
  (report, host) =>
    report.type === type && host.round >= from;

/** Scenes of logs with a fault, by the name of the log. */
export const stuck: Readonly<Record<string, () => Scene>> = {
  'verl-7155': () =>
    scene([['tail-batching', { ...whole, placement: 'policy' }]], 1, {
      until: 3000,
      beatSeconds: 200,
      fault: loseSome(is('response.completed', 3), 5),
    }),
  'verl-6673': () =>
    scene([['tail-pipelining', pipelined]], 2, {
      until: 2400,
      beatSeconds: 200,
      fault: (() => {
        let scored = 0;
        // One that computes all rewards, one after the other.
        return lose((report, host) => is('reward.ready', 2)(report, host, undefined) && scored++ >= 3);
      })(),
    }),
  'verl-5265': () =>
    scene([['flexrl', { devices: 4, effort: 'fast', nodes: videos }]], 3, {
      until: 1500,
      work: steps(3, 60, 1500),
      fault: lose(({ type, preprocessId }) => type === 'sample.preprocessed' && preprocessId === 'preprocess/13'),
    }),
  'verl-1303': () =>
    scene([queue, plain, ['stream-training', { replicas: cluster.trainingReplicas, groupsPerRound: 4 }]], 4, {
      until: 2000,
      fault: lose((report, host) => is('train.consumed', 2)(report, host, undefined) && report.replica === 'da'),
      server: { beside: neighbour(40, 2000) },
    }),
  'nemo-rl-3238': () =>
    scene([['rolloutpipe', { responsesPerPrompt: 2, globalBatchSamples: 4, width: 3 }]], 5, {
      until: 2400,
      work: minted(6, 2),
      fault: loseSome(is('response.completed', 1), 3),
      server: { beside: neighbour(50, 2400), rotations: [700] },
    }),
  'nemo-rl-3938': () =>
    scene([['tail-batching', { ...whole, retry: { data: 1 } }]], 6, {
      until: 2400,
      beatSeconds: 200,
      fault: (report, _, host) => {
        if (report.type === 'response.completed' && String(report.requestId).startsWith('p14/')) {
          return {
            type: 'response.failed',
            requestId: report.requestId,
            kind: 'data',
            message: 'refused: 40,211 tokens',
          };
        }
        return report.type === 'prompts.supplied' && host.now > 10 && host.round === 3 && host.running.size > 0
          ? undefined
          : report;
      },
    }),
  'nemo-rl-3488': () =>
    scene([['lossless-tail', { ...round, windowRounds: 2, rememberedPrompts: 40 }]], 7, {
      until: 4000,
      beatSeconds: 400,
      fault: lose(is('response.completed', 3)),
    }),
  'nemo-rl-3066': () =>
    scene([['tail-batching', round]], 8, {
      until: 2000,
      beatSeconds: 200,
      fault: (report, _, host) => {
        if (!is('round.requested', 3)(report, host, undefined)) return report;
        return host.round === 3 ? { type: 'host.restarted', idPrefix: 'again-' } : undefined;
      },
    }),
  'nemo-gym-2385': () =>
    scene([['tail-batching', { ...round, filter: 'host' }]], 9, {
      until: 2400,
      beatSeconds: 200,
      fault: lose(is('prompt.judged', 2)),
    }),
  'skyrl-1173': () =>
    scene([['tail-pipelining', { ...whole, globalBatchSamples: 4, placement: 'policy' }]], 10, {
      until: 3000,
      beatSeconds: 200,
      fault: loseSome(is('response.completed', 2), 2, 5),
    }),
  'skyrl-1691': () =>
    scene([['tail-batching', { ...whole, placement: 'policy' }]], 11, {
      until: 3000,
      beatSeconds: 200,
      fault: lose((report, host, cause) => {
        return is('response.completed', 3)(report, host, cause) && (cause as { engineId?: string }).engineId === 'e2';
      }),
      server: { rotations: [300, 900], deleted: 1 },
    }),
  'skyrl-9': () =>
    scene([['sandbox-timeout', { maxTimeoutSeconds: 60 }]], 12, {
      until: 1500,
      work: tests(75, 5),
      fault: lose(({ type }, { now }) => type === 'sandbox.finished' && now > 250),
      server: { drops: [150, 210], beside: neighbour(120, 1500) },
    }),
  'prime-rl-1667': () =>
    scene([['rolloutpipe', { responsesPerPrompt: 2, globalBatchSamples: 4, width: 4 }]], 13, {
      until: 2400,
      work: minted(4, 2),
      fault: lose(is('weights.published', 2)),
      server: { beside: neighbour(130, 2400) },
    }),
  'prime-rl-3140': () =>
    scene([['tail-batching', whole]], 14, {
      until: 2700,
      beatSeconds: 200,
      turns: 0.5,
      fault: lose(is('tool.finished', 3)),
    }),
  'prime-rl-2912': () =>
    scene([['lossless-tail', { ...round, windowRounds: 2, rememberedPrompts: 40 }]], 15, {
      until: 9600,
      beatSeconds: 600,
      fault: lose(is('round.requested', 3)),
    }),
  'prime-rl-1713': () =>
    scene([['tail-batching', { ...whole, placement: 'policy', responseTimeoutSeconds: 600 }]], 16, {
      until: 2600,
      server: { beside: neighbour(130, 2600) },
      fault: (() => {
        const some = loseSome(is('response.completed', 3), 4);
        return (report, cause, host) =>
          report.type === 'timer.fired' && host.round >= 3 ? undefined : some(report, cause, host);
      })(),
    }),
  'verifiers-1245': () =>
    scene(
      [
        [
          'rollpacker',
          {
            ...cluster,
            tailBatching: false,
            adaptiveTimeout: false,
            defaultRewardKind: 'sandbox',
            rewardBudgetSeconds: { sandbox: 2700 },
            maxTimeoutSeconds: 2700,
          },
        ],
      ],
      17,
      { until: 2200, beatSeconds: 200, workers: sandboxes, fault: loseSome(is('reward.finished', 2), 5) },
    ),
  'openrlhf-1123': () =>
    scene(judged({ budgetSeconds: { judge: 3600 } }), 18, {
      until: 3000,
      beatSeconds: 200,
      workers: judges,
      medians: { 'reward.finished': 18 },
      fault: lose((report, host, cause) => {
        return is('reward.finished', 3)(report, host, cause) && (cause as { workerId?: string }).workerId === 'w1';
      }),
    }),
  'openrlhf-349': () =>
    scene(
      [
        queue,
        plain,
        ['group-assembly', {}],
        ['complete-group-pipelining', { responsesPerPrompt: 2, globalBatchSamples: 4 }],
      ],
      19,
      {
        until: 2400,
        fault: loseSome(is('update.consumed', 2), 1),
        server: { beside: neighbour(190, 2400) },
      },
    ),
  'slime-2176': () =>
    scene(
      judged(
        { budgetSeconds: { judge: 3600 }, cancelGraceSeconds: 7200 },
        { ...round, promptSpeculation: 2.5, responseSpeculation: 1 },
      ),
      52,
      {
        until: 2400,
        beatSeconds: 200,
        workers: [{ workerId: 'w0', kind: 'judge', slots: 1 }],
        medians: { 'reward.finished': 18 },
        fault: lose((report, host, cause) => {
          return is('reward.finished', 2)(report, host, cause) && cause?.type === 'reward.cancel';
        }),
      },
    ),
  'slime-2340': () =>
    scene([['tail-batching', { ...round, placement: 'policy', abortGraceSeconds: 7200 }]], 21, {
      until: 2700,
      beatSeconds: 200,
      fault: lose(is('request.aborted', 2)),
      server: { rotations: [600] },
    }),
  'miles-1012': () =>
    scene(
      [
        ['long-prompt-queue', { promptsPerRound: 6 }],
        ['speculative-admission', { ...whole, promptsPerRound: 6 }],
        ['frontier-group-dispatch', { responsesPerPrompt: 2, width: 3, awaitRetries: true }],
      ],
      22,
      {
        until: 27_000,
        fault: (() => {
          const held = new Set<string>();
          return lose((report, host) => {
            if (!is('response.completed', 2)(report, host, undefined)) return false;
            const { promptId } = host.running.get(report.requestId as string)!;
            if (held.size < 3) held.add(promptId);
            return held.has(promptId);
          });
        })(),
        server: { beside: neighbour(220, 27_000) },
      },
    ),
  'miles-1673': () =>
    scene([['lossless-tail', { ...round, windowRounds: 2, rememberedPrompts: 40 }]], 23, {
      until: 3000,
      beatSeconds: 200,
      fault: (report, _, host) => {
        if (report.type !== 'prompts.supplied' || host.round < 3) return report;
        return { ...report, prompts: (report.prompts as object[]).slice(0, 3) };
      },
    }),
  'trl-6796': () =>
    scene([['tail-pipelining', { ...pipelined, frontier: true, width: 3 }]], 24, {
      until: 2400,
      beatSeconds: 200,
      fault: lose(is('weights.published', 2)),
    }),
  'roll-215': () =>
    scene([['rollpacker', { ...cluster, tailBatching: false, defaultRewardKind: 'sandbox' }]], 25, {
      until: 2000,
      beatSeconds: 200,
      workers: sandboxes,
      turns: 0.4,
      fault: loseSome(is('tool.finished', 2), 1),
    }),
  'ms-swift-6962': () =>
    scene(
      [
        queue,
        ['speculative-admission', { ...round, placement: 'policy' }],
        ['gpu-scale-down', { ...round, engines: placed, maxResponseTokens: 20_000 }],
      ],
      26,
      { until: 2400, beatSeconds: 200, fault: lose(is('gpus.returned', 3)) },
    ),
};
