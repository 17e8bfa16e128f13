/** What hosts do by themselves: rounds, rounds whose requests they mint, steps of a loader, and runs of tests. */
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import type { Report } from '../../src/testing/hosts/obedience.ts';
import type { Work, ZooHost } from './host.ts';

/** Reward workers, in the form of their event. */
export interface Worker {
  readonly workerId: string;
  readonly kind: 'rule' | 'sandbox' | 'judge';
  readonly slots: number;
}

/** Machines that a host reports at the beginning, and again and again where they have a heartbeat. */
export interface Machines {
  readonly engines: readonly string[];
  readonly workers?: readonly Worker[];
  /** Seconds between heartbeats; none if absent. */
  readonly beatSeconds?: number;
  /** When the last heartbeat comes. */
  readonly until: number;
}

/** Reports that machines are there. */
function announce(host: ZooHost, { engines, workers = [], beatSeconds, until }: Machines): void {
  // A policy that has servers makes the engines.
  const own = 'servers' in host.config ? [] : engines;
  const all: Report[] = [
    ...own.map((engineId) => ({ type: 'engine.added', engineId })),
    ...workers.map((worker) => ({ type: 'reward-worker.added', ...worker })),
  ];
  for (const one of all) host.later(0, one);
  for (let at = beatSeconds ?? until; at < until; at += beatSeconds ?? until)
    for (const one of all) host.later(at, one);
}

const ends = ['round.drained', 'round.rewarded', 'round.trained'];

/** Rounds, each requested when the one before has ended in every respect. */
export function rounds(members: readonly AnyPolicyDefinition[], machines: Machines): Work {
  const needed = ends.filter((type) =>
    members.some(({ decisions }) => decisions.some((message) => message.type === type)),
  );
  const isTrained = needed.includes('round.trained');
  let missing = new Set<string>();
  let away = 0;
  let counted = 0;
  const next = (host: ZooHost, seconds: number): void => {
    host.round += 1;
    missing = new Set(needed);
    counted = 0;
    host.later(seconds, { type: 'round.requested', roundId: `r${host.round}`, weightVersion: host.weightVersion });
  };
  const onward = (host: ZooHost): void => {
    if (missing.size > 0 || away > 0) return;
    if (!host.takes('weights.published')) host.weightVersion += 1;
    next(host, isTrained ? 2 : 42);
  };
  return {
    begin: (host) => {
      announce(host, machines);
      next(host, 1);
    },
    told: (decision, host) => {
      if (decision.type === 'gpus.reclaim') away += 1;
      if (decision.type === 'prompt.counted' && host.takes('group.completed')) {
        const { roundId, promptId: groupId, responses } = decision as unknown as Record<string, never[]>;
        counted += 1;
        host.atOnce({ type: 'group.completed', roundId, groupId, samples: responses!.length, tokens: 9000 });
        // Half of the replicas stream from the middle of the round on.
        const gpuIds = (host.config.replicas as { gpuIds: string[] }[])[0]!.gpuIds;
        if (counted === 2) host.later(4, { type: 'gpus.released', roundId, gpuIds });
      }
      if (decision.type === 'round.trained' && host.takes('group.completed')) {
        const gpuIds = (host.config.replicas as { gpuIds: string[] }[])[0]!.gpuIds;
        host.later(1, { type: 'gpus.returned', roundId: decision.roundId as string, gpuIds });
      }
      if (missing.delete(decision.type)) onward(host);
    },
    sent: ({ type }, host) => {
      if (type !== 'gpus.returned' || away === 0) return;
      away -= 1;
      onward(host);
    },
  };
}

/** Rounds of a host that mints the requests of all their prompts at once. */
export function minted(prompts: number, responses: number): Work {
  const next = (host: ZooHost, seconds: number): void => {
    host.round += 1;
    const roundId = `r${host.round}`;
    const ids = Array.from({ length: prompts }, () => host.mint('p'));
    const weightVersion = host.weightVersion;
    const opened = { roundId, kind: 'long', weightVersion, prompts: ids.map((promptId) => ({ promptId })) };
    host.later(seconds, { type: 'round.opened', ...opened });
    for (const promptId of ids) {
      for (let index = 0; index < responses; index += 1) {
        const requestId = `${promptId}/${index}#0`;
        host.later(seconds + 0.5, { type: 'request.arrived', requestId, promptId, roundId, index });
      }
    }
  };
  return {
    begin: (host) => next(host, 1),
    told: ({ type }, host) => {
      if (type === 'round.trained') next(host, 2);
    },
  };
}

/** Training steps on videos, two of them drawn ahead. */
export function steps(samplesPerStep: number, beatSeconds: number, until: number): Work {
  const left = new Map<string, Set<string>>();
  const samples = new Map<string, string[]>();
  const draw = (host: ZooHost, seconds: number): void => {
    const stepId = host.mint('s');
    const ids = Array.from({ length: samplesPerStep }, () => host.mint('x'));
    left.set(stepId, new Set(ids));
    samples.set(stepId, ids);
    const media = { frames: 4, resolution: { width: 448, height: 448 }, bytes: 6e7 };
    const all = ids.map((sampleId) => ({ sampleId, kind: 'video', path: `/data/${sampleId}.mp4`, ...media }));
    host.later(seconds, { type: 'samples.drawn', stepId, samples: all });
  };
  let ready = 0;
  let training = false;
  /** The batch of the next step is ready once all of its samples are registered. */
  const start = (host: ZooHost): void => {
    const stepId = `s${ready}`;
    if (training || left.get(stepId)?.size !== 0) return;
    training = true;
    const sequences = samples
      .get(stepId)!
      .map((sampleId, index) => ({ tokens: 3000 + 900 * index, sampleId, frames: 4 }));
    host.later(0.5, { type: 'batch.ready', batchId: `b${ready}`, stepId, sequences });
  };
  return {
    begin: (host) => {
      for (let at = beatSeconds; at < until; at += beatSeconds) {
        for (const node of host.config.nodes as object[]) host.later(at, { type: 'node.added', ...node });
      }
      draw(host, 1);
      draw(host, 1.2);
    },
    told: ({ type, sampleId }, host) => {
      if (type === 'sample.registered') {
        for (const one of left.values()) one.delete(sampleId as string);
        start(host);
      }
      if (type === 'batch.materialized') host.later(22, { type: 'step.completed', stepId: `s${ready}` });
    },
    sent: ({ type }, host) => {
      if (type !== 'step.completed') return;
      ready += 1;
      training = false;
      draw(host, 0.5);
      start(host);
    },
  };
}

/** Runs of tests in sandboxes, one every few seconds. */
export function tests(count: number, everySeconds: number): Work {
  return {
    begin: (host) => {
      for (let index = 0; index < count; index += 1) {
        const testCaseId = `t${index % 5}`;
        host.later(1 + everySeconds * index, { type: 'sandbox.requested', runId: `u${index}`, testCaseId });
      }
    },
  };
}
