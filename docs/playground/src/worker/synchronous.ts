/** The synchronous job: a comparison of the baseline, tail batching, and RollPacker up to some mechanism. */
import { isPolicyError, PolicyError } from 'rollflex';
import {
  basisLine,
  type ComparisonResult,
  clusterJob,
  comparing,
  type Job,
  jobPreset,
  type RunResult,
  rollpackerConfigOf,
  rollpackerScheduler,
  type Scheduler,
  variants,
} from 'rollflex/sim';
import { losslessScheduler } from '../../../../src/sim/colocated/ablation.ts';
import { workloadData } from '../../../../src/sim/report/data.ts';
import { returning } from '../../../../src/sim/workload/epochs.ts';
import { clusterOf, type SynchronousSettings } from '../settings/synchronous.ts';
import type { Keep } from './keep.ts';
import type { Library } from './library.ts';
import type { Shown, ShownConfig, ShownRow } from './messages.ts';
import { number, percent, seconds, times, timesIn } from './text.ts';

/** The job of a model and GPUs of the tables. Throws `PolicyError` `infeasible` for weights without room. */
function clusterOn(cluster: { model: string; gpu: string }, { g, TP, P, R, cap }: SynchronousSettings): Job {
  const shape = { gpus: g, tensorParallel: Number(TP), promptsPerRound: P, responsesPerPrompt: R, capTokens: cap };
  try {
    return clusterJob({ ...cluster, ...shape }).job;
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    const { code, expected, got } = error;
    throw new PolicyError(code, { expected, got, path: error.path === 'model' ? 'm' : 'TP', cause: error });
  }
}

/** The job that settings describe. Throws `PolicyError` `infeasible` for a TP that the model does not have. */
export function jobOf(settings: SynchronousSettings, sandboxSeconds: number[][]): Job {
  const cluster = clusterOf(settings);
  if (cluster !== undefined) {
    const job = clusterOn(cluster, settings);
    return { ...job, rewards: { ...job.rewards!, sandboxSeconds } };
  }
  const { job } = jobPreset(settings.m);
  const { hardware, rewards } = job;
  const tp = Number(settings.TP);
  const found = hardware!.costs.find((one) => one.tp === tp);
  if (found === undefined) {
    const expected = `one of ${hardware!.costs.map((one) => one.tp).join(', ')} for this model`;
    throw new PolicyError('infeasible', { expected, got: tp, path: 'TP' });
  }
  return {
    ...job,
    promptsPerRound: settings.P,
    responsesPerPrompt: settings.R,
    engines: settings.g / tp,
    cost: found.cost,
    hardware: { ...hardware!, maxResponseTokens: settings.cap },
    rewards: { ...rewards!, sandboxSeconds },
  };
}

const variant = (id: string) => variants.find((one) => one.id === id)!;

/** The switches of each scheduler, the baseline first. */
export function switchesOf({ etaP, etaR, up }: SynchronousSettings) {
  const factors = { promptSpeculation: etaP, responseSpeculation: etaR };
  return [
    { id: 'baseline', label: 'synchronous', switches: variant('baseline').switches },
    { id: 'tail-batching', label: 'tail batching', switches: { ...factors, ...variant('tail-batching').switches } },
    { id: 'rollpacker', label: 'RollPacker', switches: { ...factors, ...variant(up).switches } },
  ];
}

function schedulersOf(settings: SynchronousSettings, job: Job): Scheduler[] {
  try {
    const usual = switchesOf(settings).map(({ id, label, switches }) => rollpackerScheduler(job, id, switches, label));
    // Where no prompt comes back, nothing is known of its lengths.
    return settings.ep > 1 ? [...usual, losslessScheduler(job)] : usual;
  } catch (error) {
    if (!isPolicyError(error) || !/Tp$/.test(error.path)) throw error;
    // In the words of the settings: the recipe speaks of its own fields.
    const expected = `a TP with room for the weights and a response of ${number(settings.cap, 0)} tokens on ${settings.g} GPUs`;
    throw new PolicyError('infeasible', { expected, got: Number(settings.TP), path: 'TP', cause: error });
  }
}

/**
 * Simulates: the first seed alone, then all of them. Yields nothing after every run, and each result.
 *
 * @throws PolicyError as `compare` does, and for settings that do not go together
 */
export function* simulateSynchronous(
  settings: SynchronousSettings,
  library: Library,
  keep: Keep,
): Generator<{ shown: Shown; seeds: number } | undefined> {
  const job = jobOf(settings, library.sandboxSeconds());
  const schedulers = schedulersOf(settings, job);
  const { etaP, etaR, up, s, ...rest } = settings;
  const given = JSON.stringify([library.keyOf(settings.t), rest]);
  const run = (scheduler: Scheduler, seed: number, simulate: () => RunResult): RunResult => {
    const isFixed = ['baseline', 'oracle', 'lossless-tail'].includes(scheduler.id);
    const moved = isFixed ? [] : scheduler.id === 'rollpacker' ? [etaP, etaR, up] : [etaP, etaR];
    return keep.get(`${scheduler.id} ${seed} ${moved} ${given}`, simulate);
  };
  const [baseline, ...others] = schedulers;
  for (const seeds of s === 1 ? [1] : [1, s]) {
    const runs = comparing({
      job,
      workload: (seed) => {
        const once = library.synchronous(settings, seed);
        return settings.ep > 1 ? returning(once, settings.n * settings.P, settings.ep, seed) : once;
      },
      steps: settings.n,
      seeds: Array.from({ length: seeds }, (_, index) => index + 1),
      baseline: baseline!,
      schedulers: others,
      run,
    });
    let next = runs.next();
    while (next.done !== true) {
      yield undefined;
      next = runs.next();
    }
    yield { shown: shownOf(next.value, settings, job), seeds };
  }
}

function shownOf(comparison: ComparisonResult, settings: SynchronousSettings, job: Job): Shown {
  const { schedulers, oracle, workload, notes } = comparison;
  const [baseline, ...others] = schedulers;
  const rows = schedulers.map(
    (one): ShownRow => ({
      id: one.scheduler,
      label: one.label,
      cells: {
        speedup: timesIn(one.speedup),
        equal: timesIn(one.equalTokenSpeedup),
        oracle: percent(one.ofOracle!),
        kept: times(one.keptTokenRatio),
        capped: percent(one.cappedShare),
        longest: `${percent(one.longestKeptShare)} / ${percent(one.longestTrainedRatio)}`,
        even: percent(one.evenGroupShare),
        step: seconds(one.stepSeconds.value),
        rollout: seconds(one.rolloutSeconds.value),
        bubbles: percent(one.bubbleRatio),
        waited: `${number(one.meanQueueAge, 1)} / ${number(one.maxQueueAge, 0)}`,
      },
    }),
  );
  const best = others.reduce((one, other) => (other.speedup.value > one.speedup.value ? other : one));
  const [ratio, kept] = [times(best.speedup.value), times(best.keptTokenRatio)];
  const p = workload.quantiles;
  return {
    headline: `${best.label}: ${ratio} as fast, ${times(best.equalTokenSpeedup.value)} at equal tokens, on ${kept} the tokens; ${percent(best.cappedShare)} at the cap.`,
    cost:
      `A step takes ${seconds(best.stepSeconds.value)} instead of ${seconds(baseline!.stepSeconds.value)}; engines have ` +
      `nothing to run for ${percent(best.bubbleRatio)} of a rollout instead of ${percent(baseline!.bubbleRatio)}. The responses ` +
      `that are kept have ${kept} the tokens of the baseline's, ${percent(best.cappedShare)} of them at the cap instead of ` +
      `${percent(baseline!.cappedShare)}. An oracle that knows all lengths is ${times(oracle!.equalTokenSpeedup.value)} as fast on the ` +
      `same responses as the baseline (1.00 × the tokens); ${best.label} reaches ${percent(best.ofOracle!)} of that.`,
    rows,
    charts: { kind: 'synchronous', data: workloadData(comparison) },
    facts: [
      clusterOf(settings) === undefined
        ? `Costs as in RollPacker §6: ${job.name}`
        : `${basisLine(comparison.basis).replaceAll(/ \(--[a-z]+\)/g, '')}`,
      `${workload.name}: ${workload.source}`,
      `simulated responses P50 ${number(p.p50, 0)}, P90 ${number(p.p90, 0)}, P99 ${number(p.p99, 0)}, longest ${number(p.max, 0)} tokens`,
      `${settings.g} GPUs, ${job.engines} engines; ${settings.n * settings.P} prompts are trained${settings.ep > 1 ? `: a data set of ${workload.prompts}, in ${settings.ep} epochs` : ', each once'}`,
    ],
    notes,
    configs: configsOf(settings, job),
  };
}

function configsOf(settings: SynchronousSettings, job: Job): ShownConfig[] {
  const { P, R, etaP, etaR } = settings;
  const tail = { promptsPerRound: P, responsesPerPrompt: R, promptSpeculation: etaP, responseSpeculation: etaR };
  const { switches } = switchesOf(settings)[2]!;
  const lossless = { promptsPerRound: P, responsesPerPrompt: R };
  return [
    { kind: 'policy', id: 'tail-batching', config: tail },
    { kind: 'policy', id: 'rollpacker', config: rollpackerConfigOf(job, switches) },
    ...(settings.ep > 1 ? [{ kind: 'policy', id: 'lossless-tail', config: lossless } as const] : []),
  ];
}
