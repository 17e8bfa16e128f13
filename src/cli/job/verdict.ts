/** Returns the verdict on a workload in one or two lines: speedup, speedup at equal tokens, and costs. */
import { oneLine } from '../../core/ids/printable.ts';
import type { ComparisonResult, SchedulerResult } from '../../sim/comparison/result.ts';
import { tiedWith } from '../../sim/comparison/tie.ts';
import type { PoolsComparison, PoolsSchedulerResult } from '../../sim/pools/result.ts';
import {
  bestOf,
  contributionOf,
  fastestVlm,
  hasBoth,
  isIdle,
  nothing,
  savedBy,
  shippedBeside,
} from '../../sim/report/best.ts';
import { equalText, fasterText, plainSigns } from '../../sim/report/faster.ts';
import type { VlmComparison } from '../../sim/vlm-formulas/result.ts';
import { look } from '../terminal/output.ts';
import { fixed, percent, prose } from '../terminal/plain-table.ts';

const indent = '  ';
const faster = (speedup: number, text: string): string => {
  const saved = savedBy(speedup);
  return Math.abs(saved) < nothing ? text : look(saved > 0 ? 'gain' : 'loss', text);
};
const named = (name: string): string => look('bold', oneLine(name));

/**
 * Returns, as text, the seconds per step that each variant of an ablation saves over the variant that it builds on; those that
 * change nothing come last.
 */
export function contributions(comparison: ComparisonResult): string {
  const variants = comparison.schedulers.filter((one) => contributionOf(one, comparison) !== undefined);
  const contributed = variants
    .filter((one) => !isIdle(one, comparison))
    .map((one) => {
      const saved = contributionOf(one, comparison)!;
      return look(
        saved > 0 ? 'gain' : 'loss',
        `${one.variant!.adds} ${saved > 0 ? '-' : '+'}${fixed(Math.abs(saved))}`,
      );
    });
  const idle = variants.filter((one) => isIdle(one, comparison)).map((one) => one.variant!.adds);
  return [
    ...(contributed.length === 0 ? [] : [contributed.join(', ')]),
    ...(idle.length === 0 ? [] : [`${idle.join(', ')} ${idle.length > 1 ? 'contribute' : 'contributes'} nothing here`]),
  ].join('; ');
}

/** Returns the cost of a speedup: tokens, the longest responses, and the age of the weights. */
function costOf(best: SchedulerResult, baseline: SchedulerResult): string {
  if (best.keptTokenRatio > 0.995 && best.longestKeptShare > 0.995 && best.maxLag === 0)
    return ' nothing: every response is kept, on policy';
  const stale =
    best.maxLag === 0
      ? 'none stale'
      : `${percent(best.staleShare)} stale by up to ${best.maxLag} ${best.maxLag === 1 ? 'version' : 'versions'}`;
  const capped = best.cappedShare > baseline.cappedShare ? `, ${percent(best.cappedShare)} at the cap` : '';
  return (
    `: kept tokens ${fixed(best.keptTokenRatio, 2)}, ${fixed(100 * best.longestTrainedRatio, 0)}% of the longest 1%, ` +
    `${stale}${capped}`
  );
}

/** Least kept tokens of what gives up no response; a little less is the chance of a draw. */
const keptWhole = 0.99;

/** The fastest schedulers that give up no response. */
interface Keepers {
  /** With older weights. */
  readonly fastest: SchedulerResult;
  readonly onPolicy: SchedulerResult | undefined;
}

/** Returns the fastest schedulers that give up no response, if the best one gives up some and older weights are faster. */
function keepersOf({ schedulers }: ComparisonResult, best: SchedulerResult): Keepers | undefined {
  const [, ...others] = schedulers;
  const whole = others
    .filter((one) => one.keptTokenRatio >= keptWhole)
    .sort((a, b) => b.speedup.value - a.speedup.value);
  const [fastest] = whole;
  if (fastest === undefined || best.keptTokenRatio >= keptWhole || fastest.maxLag === 0) return undefined;
  return { fastest, onPolicy: whole.find(({ maxLag }) => maxLag === 0) };
}

/** Returns what they save: on policy, and with older weights. */
function keepersText({ fastest, onPolicy }: Keepers, tied: readonly SchedulerResult[]): string {
  const speed = (one: SchedulerResult): string =>
    `${one.label} ${fixed(one.speedup.value, 2)}x${tied.includes(one) ? ' (a tie)' : ''}`;
  const stale = `${fixed(100 * fastest.staleShare, 0)}% stale by up to ${fastest.maxLag}`;
  const than = onPolicy === undefined ? '' : `; on policy ${speed(onPolicy)}`;
  return `Kept ${keptWhole}+: ${speed(fastest)}, ${stale}${than}.`;
}

/** Returns the schedulers that the best one cannot be told from; the variants of an ablation are told by what each contributes. */
const tiesOf = ({ schedulers }: ComparisonResult, best: SchedulerResult): SchedulerResult[] =>
  tiedWith(
    best,
    schedulers.filter((one, index) => index === 0 || one.variant === undefined),
  );

/** Returns the verdict on a comparison of synchronous jobs; `of` is the subject of the sentence. */
export function comparisonVerdict(comparison: ComparisonResult, of = comparison.workload.name): string {
  const { schedulers, oracle } = comparison;
  const { caveat } = comparison.workload;
  const [baseline] = schedulers;
  const best = bestOf(schedulers);
  if (baseline === undefined || best === undefined) return `${named(of)}: nothing to compare`;
  const speedup = faster(best.speedup.value, fasterText(best.speedup, plainSigns));
  const equal = faster(best.equalTokenSpeedup.value, equalText(best.equalTokenSpeedup, plainSigns));
  const left = oracle === undefined ? '' : `; oracle ${fixed(oracle.equalTokenSpeedup.value, 2)}x`;
  const shipped = shippedBeside(best, schedulers);
  const variants = contributions(comparison);
  const tied = tiesOf(comparison, best);
  const keepers = keepersOf(comparison, best);
  // What is said of one below says there that it is a tie.
  const others = tied.filter((one) => one !== keepers?.fastest && one !== keepers?.onPolicy).map(({ label }) => label);
  const steps = `${fixed(baseline.stepSeconds.value, 0)} s a step become ${fixed(best.stepSeconds.value, 0)}`;
  return [
    prose(`${named(of)}: ${speedup}, ${equal}.`, indent),
    ...(shipped === undefined
      ? []
      : [
          `${indent}${prose(`Beside it ${shipped.label}: ${fasterText(shipped.speedup, plainSigns)}, ${equalText(shipped.equalTokenSpeedup, plainSigns)}.`, indent)}`,
        ]),
    ...(others.length === 0
      ? []
      : [`${indent}${prose(`A tie with ${others.join(', ')}: over these runs neither is faster for sure.`, indent)}`]),
    `${indent}${prose(`${steps}${variants === '' ? '' : `: ${variants}`}.`, indent)}`,
    `${indent}${prose(`${look('cost', 'It costs')}${costOf(best, baseline)}${left}.`, indent)}`,
    ...(keepers === undefined ? [] : [`${indent}${prose(keepersText(keepers, tied), indent)}`]),
    ...(caveat === undefined ? [] : [`${indent}${prose(caveat, indent)}`]),
  ].join('\n');
}

const range = (values: readonly number[], digits: number, unit: string): string => {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((one) => fixed(one, digits));
  return least === most ? `${least}${unit}` : `${least} to ${most}${unit}`;
};

/** Returns the scheduler with both mechanisms and the given width, from the rows of the table. */
const bothOf = (schedulers: readonly PoolsSchedulerResult[]): PoolsSchedulerResult =>
  schedulers.find(hasBoth) ?? schedulers.at(-1)!;

/** Returns one verdict on all jobs with separate pools; `tail` is the comparison with tail batching added. */
export function poolsVerdict(comparisons: readonly PoolsComparison[], tail?: PoolsComparison): string {
  const speedups = comparisons.map(
    ({ schedulers }) => schedulers[0]!.mainSeconds.value / bothOf(schedulers).mainSeconds.value,
  );
  const least = Math.min(...speedups);
  const lines = [
    prose(
      `${named('RolloutPipe')}, with a trainer of its own: ${faster(least, `${range(speedups, 2, 'x')} as fast`)} on ${comparisons.length} workloads ` +
        `(${range(
          speedups.map((one) => 100 * savedBy(one)),
          0,
          '%',
        )} of the time saved).`,
      indent,
    ),
  ];
  const cost = `${look('cost', 'It costs')} nothing: all tokens are kept.`;
  return [...lines, `${indent}${prose(`${cost}${tail === undefined ? '' : ` ${tailVerdict(tail)}`}`, indent)}`].join(
    '\n',
  );
}

/** Returns the gain of tail batching on top of pipelining alone. */
function tailVerdict({ workload, schedulers }: PoolsComparison): string {
  const [alone, both] = schedulers as [PoolsSchedulerResult, PoolsSchedulerResult];
  const times = alone.mainSeconds.value / both.mainSeconds.value;
  const equal = both.equalTokenSpeedup.value / alone.equalTokenSpeedup.value;
  return (
    `Tail batching on top, on ${oneLine(workload.name)}: another ${fixed(times, 2)}x, ${fixed(equal, 2)}x at equal tokens, ` +
    `kept tokens ${fixed(both.keptTokenRatio, 2)}.`
  );
}

/** A smaller speedup gets no line of its own in the verdict on vision-language workloads. */
const fewPercent = 1.1;

/** Returns one verdict on all vision-language steps; those without visual inputs are in the last line. */
export function vlmVerdict(comparisons: readonly VlmComparison[]): string {
  const all = comparisons
    .map((one) => ({ ...one, best: fastestVlm(one.schedulers) }))
    .sort((a, b) => b.best.speedup - a.best.speedup);
  const telling = all.filter(({ best }) => best.speedup >= fewPercent);
  const others = all.filter(({ best }) => best.speedup < fewPercent);
  const short = (name: string): string => oneLine(name.replace(/,.*$/, ''));
  const lines: string[] = [];
  if (telling.length > 0) {
    const [{ best, schedulers }] = telling as [(typeof telling)[number]];
    const each = telling
      .map((one) => `${short(one.workload.name)} ${look('gain', `${fixed(one.best.speedup, 1)}x`)}`)
      .join(', ');
    const without = telling.map((one) => `${fixed(one.best.speedupWithoutLoading, 1)}x`).join(', ');
    const node = Math.max(...telling.map((one) => one.best.nodeBytes)) / 1e9;
    lines.push(
      prose(
        `${named(best.label)}, vision-language: as fast as ${schedulers[0]!.label} ${each} (without its data loading ${without}).`,
        indent,
      ),
      `${indent}${prose(`${look('cost', 'It costs')}: up to ${fixed(node)} GB of host memory on each node; the same tokens are trained.`, indent)}`,
    );
  }
  if (others.length > 0) {
    const each = others.map(
      ({ workload, best }) => `${best.label} on ${short(workload.name)} (${fixed(best.speedup, 2)}x)`,
    );
    lines.push(prose(`${look('dim', 'Nothing to see')}: ${each.join(', ')}.`, indent));
  }
  return lines.join('\n');
}
