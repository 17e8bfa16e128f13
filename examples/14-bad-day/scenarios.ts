/** Ten bad days: what goes wrong, and when to ask why nothing goes on. */
import type { Host } from './host.ts';
import type { Outside } from './outside.ts';

export interface Scenario {
  readonly title: string;
  readonly policies: readonly (readonly [id: string, config: object])[];
  readonly outside?: Outside;
  /** What else goes wrong. */
  readonly fault?: (host: Host) => void;
  /** The worst moment, in seconds. */
  readonly worst: number;
}

const round = { promptsPerRound: 8, responsesPerPrompt: 4, placement: 'policy' };
const tail = (config: object = {}) => [['tail-batching', { ...round, ...config }]] as const;
/** Whether something goes wrong at this time. */
const within = (from: number, to: number) => (now: number) => now >= from && now < to;

/** All rewards are 0, until somebody sees that a round ended without a prompt, and goes back to an earlier checkpoint. */
function collapse(): Scenario {
  let until = Number.POSITIVE_INFINITY;
  return {
    title: 'The model collapses to one reward',
    policies: tail({ filter: 'zero-variance', maxFiltered: 48 }),
    outside: {
      prompts: 160,
      reward: (score, now) => (within(100, until)(now) ? 0 : score),
      heard: ({ type, reason }, now) => {
        if (type === 'round.completed' && reason.code === 'filtered') until = Math.min(until, now);
      },
    },
    worst: 180,
  };
}

export const scenarios: readonly Scenario[] = [
  {
    title: 'All engines refuse for a minute',
    policies: tail(),
    fault: (host) => host.later(100, () => host.cluster.fault({ fault: 'crash', restartAfterSeconds: 60 })),
    worst: 150,
  },
  {
    title: 'Half of the engines stall',
    policies: tail({ responseTimeoutSeconds: 60 }),
    fault: (host) => host.later(100, () => host.cluster.fault({ fault: 'hang', engine: 1, seconds: 600 })),
    worst: 300,
  },
  {
    title: 'Sandboxes do not start for five minutes',
    policies: [
      ['agentic-rollout', { promptsPerRound: 8, responsesPerPrompt: 4, environment: 'box', slots: { box: 32 } }],
    ],
    outside: { starts: (now) => !within(100, 400)(now) },
    worst: 300,
  },
  {
    title: 'The judge is gone for two minutes',
    policies: [
      ['reward-dispatch', { defaultKind: 'judge' }],
      ['tail-batching', { ...round, filter: 'zero-variance' }],
    ],
    outside: { judges: (now) => !within(100, 220)(now) },
    worst: 200,
  },
  {
    title: 'An engine does not get the new weights',
    policies: tail({ maxStaleness: 1 }),
    outside: { loads: (engine, now) => engine === 0 || !within(50, 160)(now) },
    worst: 150,
  },
  collapse(),
  {
    title: 'The clock jumps ahead by ten minutes, and back',
    policies: tail({ responseTimeoutSeconds: 60 }),
    outside: { ahead: (now) => (within(100, 130)(now) ? 600 : 0) },
    worst: 115,
  },
  {
    title: 'The host restarts, at weights of two versions ago',
    policies: tail(),
    fault: (host) => host.later(100, () => host.restart(host.weightVersion - 2)),
    worst: 101,
  },
  {
    title: 'The data set ends',
    policies: tail(),
    outside: { prompts: 30 },
    worst: 60,
  },
];
