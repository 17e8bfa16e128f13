/**
 * Whether answers choose right on other machines: each measured engine, with the factors that all of its runs say, stands for the
 * machine of a user who has measured none or some of them, and the order of choices by the model is compared with the order there.
 * The constants were fitted without its configuration.
 */
import { mean } from 'simple-statistics';
import {
  afterMeasuring,
  deviationsOf,
  factorsOf,
  jobSlowedBy,
  type MachineFactors,
  unmeasuredMachine,
} from '../../../src/sim/calibration/machine.ts';
import { overMachines } from '../../../src/sim/calibration/machines.ts';
import { partialScheduler, usualSchedulers } from '../../../src/sim/colocated/ablation.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import type { Job } from '../../../src/sim/colocated/job.ts';
import { isTie } from '../../../src/sim/comparison/tie.ts';
import { jobPreset } from '../../../src/sim/models/presets.ts';
import type { Predicted } from './errors.ts';
import { lengths, workloadOf } from './impact.ts';
import { drawn, engineAtAnyTp, enginesOf, partsOf } from './on-site.ts';
import { configurationOf, groupedBy } from './points.ts';
import { tauB } from './tau.ts';

/** What is chosen. */
export const decisions = ['scheduler', 'over-provisioning', 'TP'] as const;
/** A kind of choice. */
export type Decision = (typeof decisions)[number];

/** How well it is chosen after so many measured points; shares, not percent. */
export interface Ranking {
  readonly decision: Decision;
  readonly points: number;
  readonly machines: number;
  /** Kendall's tau-b of the order of the choices and the order on the machines. */
  readonly tau: number | null;
  /** Share of the machines on which the choice is the fastest. */
  readonly best: number;
  /** Share on which it takes at most 2 % longer than the fastest. */
  readonly near: number;
  /** Mean and most time that it takes longer than the fastest, as shares. */
  readonly regret: { readonly mean: number; readonly most: number };
  /** Share of the pairs of choices that are called a tie, and of these the share that differ by at most 2 % there. */
  readonly ties: { readonly said: number; readonly right: number | null };
  /** Share of all other pairs in whose order the model is right. */
  readonly ordered: number | null;
}

const near = 0.02;
const preset = jobPreset('qwen2.5-14b-16k');
const gpus = 8;
const prompts = 64;
const seed = 7;
/** A job that is small enough for some thousand runs. */
const at = (tp: number, promptsPerRound: number): Job => {
  const { hardware } = preset.job;
  const { cost } = hardware!.costs.find((one) => one.tp === tp)!;
  return { ...preset.job, cost, engines: gpus / tp, promptsPerRound, responsesPerPrompt: 8, assumed: [] };
};
const tps = preset.job.hardware!.costs.map(({ tp }) => tp);
const usual = at(preset.job.cost.gpus, prompts / 4);

/** Seconds of each choice, by its name, on a machine that is slower by factors at each TP; always with the same responses. */
type Choices = Readonly<Record<string, (factors: (tp: number) => MachineFactors) => number>>;

/** Machines that are asked about twice: those of which nothing was measured, and the true ones. */
const known = new Map<string, number>();

function secondsOf(job: Job, scheduler: (job: Job) => ReturnType<typeof partialScheduler>, kind: string): number {
  const chosen = scheduler(job);
  const key = JSON.stringify([job.cost, job.promptsPerRound, chosen.id, chosen.label, kind]);
  const seconds = known.get(key) ?? simulatedSeconds(job, chosen, kind);
  known.set(key, seconds);
  return seconds;
}

function simulatedSeconds(job: Job, scheduler: ReturnType<typeof partialScheduler>, kind: string): number {
  const workload = workloadOf(kind, seed);
  const options = { prompts, seed, timeline: false };
  const { totalSeconds, trainedPrompts } = simulate(job, scheduler, workload, options);
  return totalSeconds / trainedPrompts;
}

const synchronous = (job: Job) => usualSchedulers(job)[0];
const overProvisioned = (factor: number) => (job: Job) => ({
  ...usualSchedulers(job, { promptSpeculation: factor, responseSpeculation: factor })[1],
  label: `tail batching ${factor}`,
});
const onUsual =
  (scheduler: (job: Job) => ReturnType<typeof partialScheduler>) =>
  (kind: string): Choices[string] =>
  (factors) =>
    secondsOf(jobSlowedBy(usual, factors(usual.cost.gpus)), scheduler, kind);

const choices: Readonly<Record<Decision, Readonly<Record<string, (kind: string) => Choices[string]>>>> = {
  scheduler: {
    synchronous: onUsual(synchronous),
    'tail batching': onUsual(overProvisioned(1.25)),
    'partial rollout': onUsual(partialScheduler),
  },
  'over-provisioning': Object.fromEntries(
    [1.125, 1.25, 1.375, 1.5].map((factor) => [String(factor), onUsual(overProvisioned(factor))]),
  ),
  TP: Object.fromEntries(
    // In one round, so that engines are full enough for throughput to count as well as the tail.
    tps.map((tp) => [
      String(tp),
      (kind: string) => (factors: (tp: number) => MachineFactors) =>
        secondsOf(jobSlowedBy(at(tp, prompts), factors(tp)), synchronous, kind),
    ]),
  ),
};

const factorsAfter = (runs: readonly Predicted[]): MachineFactors =>
  factorsOf(afterMeasuring(unmeasuredMachine(), runs.map(partsOf)));
const tpOf = ({ point }: Predicted): number => point.served.gpus;

/** A machine: the runs that a user may have measured, and its true factors at a TP. */
interface Machine {
  readonly name: string;
  readonly runs: readonly Predicted[];
  readonly truth: (tp: number) => MachineFactors;
  /** TPs at which it was measured. */
  readonly tps: readonly number[];
}

/** The engine of each configuration with the most runs: others of it differ in version, precision or TP only. */
function mostMeasured(list: readonly Predicted[]): [name: string, runs: Predicted[]][] {
  const byConfiguration = groupedBy(enginesOf(list), ([, [first]]) => configurationOf(first!.point));
  return [...byConfiguration.values()].map((some) => some.reduce((a, b) => (b[1].length > a[1].length ? b : a)));
}

/** A machine for each configuration; for the choice of a TP, the engines that were measured at two or more. */
function machinesFor(list: readonly Predicted[], decision: Decision): Machine[] {
  if (decision !== 'TP')
    return mostMeasured(list).map(([name, runs]) => {
      const factors = factorsAfter(runs);
      return { name, runs, truth: () => factors, tps };
    });
  return enginesOf(list, engineAtAnyTp).flatMap(([name, all]) => {
    const byTp = new Map(enginesOf(all).map(([, runs]) => [tpOf(runs[0]!), runs]));
    const factors = new Map([...byTp].map(([tp, runs]) => [tp, factorsAfter(runs)]));
    const measured = tps.filter((tp) => factors.has(tp));
    // What a user measures is at the TP that he has.
    const [runs] = [...byTp.values()].sort((a, b) => b.length - a.length);
    return measured.length < 2 ? [] : [{ name, runs: runs!, truth: (tp) => factors.get(tp)!, tps: measured }];
  });
}

/** Seconds of each choice on each machine that a user's may turn out to be, the expected one first. */
function believed(runs: readonly Predicted[], of: Choices): Record<string, number[]> {
  const belief = afterMeasuring(unmeasuredMachine(), runs.map(partsOf));
  const all = [factorsOf(belief), ...deviationsOf(belief)];
  return Object.fromEntries(
    Object.entries(of).map(([name, seconds]) => [name, all.map((factors) => seconds(() => factors))]),
  );
}

/** Whether one choice is not told from another: the interval of what it saves. */
function areTied(one: readonly number[], other: readonly number[]): boolean {
  const gains = one.map((seconds, machine) => 1 - seconds / other[machine]!);
  const value = gains[0]!;
  return isTie(overMachines({ value, low: value, high: value, confidence: 0.95 }, gains));
}

/** Returns how well a model chooses. */
export function rankingOf(list: readonly Predicted[], decision: Decision, points: number): Ranking {
  const regrets: number[] = [];
  const ties: boolean[] = [];
  const ordered: boolean[] = [];
  const pairs: [number, number, number][][] = [];
  const kinds = Object.keys(lengths);
  // Each machine has lengths of one kind, in turn.
  const cases = machinesFor(list, decision).map((one, at) => ({ ...one, kind: kinds[at % kinds.length]! }));
  for (const { name, runs, truth, tps: measured, kind } of cases) {
    const of = Object.fromEntries(
      Object.entries(choices[decision])
        .filter(([one]) => decision !== 'TP' || measured.includes(Number(one)))
        .map(([one, choice]) => [one, choice(kind)] as const),
    );
    const seconds = believed(drawn(runs, points, name), of);
    const names = Object.keys(of);
    const real = names.map((one) => of[one]!(truth));
    const ours = names.map((one) => seconds[one]![0]!);
    const fastest = Math.min(...real);
    regrets.push(real[ours.indexOf(Math.min(...ours))]! / fastest - 1);
    pairs.push(ours.map((one, index) => [one, real[index]!, index]));
    for (const [a, one] of names.entries()) {
      for (const [b, other] of names.entries()) {
        if (b <= a) continue;
        if (areTied(seconds[one]!, seconds[other]!)) ties.push(Math.abs(real[a]! / real[b]! - 1) <= near);
        else ordered.push(real[a]! < real[b]! === ours[a]! < ours[b]!);
      }
    }
  }
  const share = (of: readonly boolean[]): number | null =>
    of.length === 0 ? null : of.filter((one) => one).length / of.length;
  return {
    decision,
    points,
    machines: cases.length,
    tau: tauB(pairs),
    best: share(regrets.map((one) => one === 0))!,
    near: share(regrets.map((one) => one <= near))!,
    regret: { mean: mean(regrets), most: Math.max(...regrets) },
    ties: { said: ties.length / (ties.length + ordered.length), right: share(ties) },
    ordered: share(ordered),
  };
}
