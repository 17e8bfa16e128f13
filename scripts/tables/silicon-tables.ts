/** The tables of docs/silicon.md: constants from the source, errors from the study that was kept, the impact from its last run. */
import { readFileSync } from 'node:fs';
import { calibratedOn, resultsOf } from '../../bench/real/engine/predict.ts';
import { keptEngineStudy } from '../../bench/real/engine/study.ts';
import { doubts } from '../../bench/scorecard/silicon/doubts.ts';
import { boundsOf, namedValues, onBound } from '../../bench/scorecard/silicon/fit.ts';
import { keptImpact } from '../../bench/scorecard/silicon/impact.ts';
import { errorCells, errorHeads, percentOf, tauOf } from '../../bench/scorecard/silicon/report.ts';
import type { Slope } from '../../bench/scorecard/silicon/slopes.ts';
import { type Both, keptStudy } from '../../bench/scorecard/silicon/study.ts';
import { siliconConstants } from '../../src/sim/silicon/constants.ts';
import { gpuOf } from '../../src/sim/silicon/gpus.ts';
import { bytesOfPrecision } from '../../src/sim/silicon/served-model.ts';
import { measuredSupport } from '../../src/sim/silicon/support.ts';
import { table } from './schema-table.ts';

const study = keptStudy();
const code = (text: string): string => `\`${text}\``;
const thousands = (count: number): string => count.toLocaleString('en');
const times = (factor: number): string => factor.toFixed(2);

/** What each constant stands for, as its comment in the source says. */
function meanings(): Map<string, string> {
  const source = readFileSync(new URL('../../src/sim/silicon/constants.ts', import.meta.url), 'utf8');
  const found = source.matchAll(/\/\*\* ([^*]+) \*\/\n {2}readonly (\w+):/g);
  return new Map([...found].map(([, text, name]) => [name!, text!]));
}

function unitOf(name: string, value: number): readonly [value: string, unit: string] {
  if (!/seconds$/i.test(name)) return [String(Number(value.toPrecision(4))), /steps$/.test(name) ? 'steps' : 'share'];
  return value < 1e-3 ? [String(Number((1e6 * value).toPrecision(4))), 'µs'] : [(1e3 * value).toPrecision(3), 'ms'];
}

function constantTable(): string {
  const said = meanings();
  const bound = onBound(siliconConstants);
  const rows = Object.entries(namedValues(siliconConstants)).map(([name, value]) => {
    const [, engine, own = name] = /^firstToken\.(\w+)\.(\w+)$/.exec(name) ?? [];
    const meaning = said.get(own);
    if (meaning === undefined) throw new Error(`constants.ts does not say what ${name} is`);
    const [low, high] = boundsOf(name).map((one) => unitOf(name, one)[0]);
    const source = bound.includes(name) ? `fitted, on its bound (${low} to ${high})` : 'fitted';
    return [
      code(own) + (engine === undefined ? '' : `, ${engine}`),
      ...unitOf(name, value),
      meaning.replace(/\.$/, ''),
      source,
    ];
  });
  const bytes = Object.entries(bytesOfPrecision).map(([precision, value]) => [
    `bytes of ${precision}`,
    String(value),
    'bytes',
    'A value of weights or cache, scales included',
    'format',
  ]);
  return table(['constant', 'value', 'unit', 'what it stands for', 'source'], [...rows, ...bytes]);
}

function gpuTable(): string {
  const speed = (one: number | undefined): string => (one === undefined ? '–' : thousands(one));
  return table(
    ['GPU', 'memory, GB', 'bandwidth, GB/s', 'bf16, TFLOP/s', 'fp8', 'fp4', 'link, GB/s', 'source'],
    measuredSupport.gpus
      .map((id) => gpuOf(id))
      .map((gpu) => [
        gpu.label,
        String(gpu.memoryGb),
        thousands(gpu.bandwidthGbps),
        thousands(gpu.tflops),
        speed(gpu.fp8Tflops),
        speed(gpu.fp4Tflops),
        String(gpu.linkGbps),
        gpu.source,
      ]),
  );
}

const kindNames = { configuration: 'each (family, GPU, engine)', family: 'each family', gpu: 'each GPU' } as const;

function totalTable(): string {
  const { shipped, leftOut } = study;
  const rows = Object.entries(kindNames).flatMap(([kind, name]) => {
    const { undoubted, all } = leftOut[kind as keyof typeof kindNames];
    return [
      [`${name} left out`, 'not doubted', ...errorCells(undoubted!)],
      [`${name} left out`, 'all', ...errorCells(all)],
    ];
  });
  return table(
    ['constants', 'runs', ...errorHeads],
    [
      ['in-sample: that ship', 'not doubted', ...errorCells(shipped.undoubted!)],
      ['that ship', 'all lines of the file', ...errorCells(shipped.all)],
      ...rows,
    ],
  );
}

function groupTable(name: string, groups: Readonly<Record<string, Both>>): string {
  const none = errorHeads.map((_, index) => (index === 0 ? '0' : '–'));
  return table(
    [name, ...errorHeads, 'rows with doubted', 'TPOT mean', 'within 25%'],
    Object.entries(groups).map(([one, { undoubted, all }]) => [
      one,
      ...(undoubted === null ? none : errorCells(undoubted)),
      ...(all.rows === (undoubted?.rows ?? 0)
        ? ['', '', '']
        : [String(all.rows), percentOf(all.tpot.mape), percentOf(all.tpot.within25, 0)]),
    ]),
  );
}

function doubtTable(): string {
  const list = table(
    ['columns', 'why', 'distinct runs', 'predicted ÷ measured TPOT: least, median, most'],
    doubts.map(({ where, why }, index) => {
      const { runs, ratios } = study.doubted[index]!;
      return [where, why, String(runs), ratios === null ? '–' : ratios.map(times).join(', ')];
    }),
  );
  const { rows, distinct, fitted } = study;
  return `${thousands(rows)} runs, ${thousands(distinct)} with distinct inputs, ${thousands(fitted)} of them not doubted.\n\n${list}`;
}

function slopeTable(): string {
  const keyOf = ({ configuration, precision, gpus }: Slope): string => [configuration, precision, gpus].join('|');
  const near = new Map(study.slopes.near.map((one) => [keyOf(one), one]));
  const cells = (one: Slope | undefined): string[] =>
    one === undefined
      ? ['–', '–']
      : [one.measuredMicroseconds, one.predictedMicroseconds].map((value) => value.toFixed(0));
  return table(
    ['configuration', 'precision', 'GPUs', '1,024 + 1,024: measured', 'predicted', 'all loads: measured', 'predicted'],
    study.slopes.all.map((one) => [
      one.configuration,
      one.precision,
      String(one.gpus),
      ...cells(near.get(keyOf(one))),
      ...cells(one),
    ]),
  );
}

function supportList(): string {
  const { gpus, precisions, tensorParallel, contextTokens } = measuredSupport;
  return [
    `- GPUs: ${gpus.map((one) => gpuOf(one).label).join(', ')}`,
    `- precisions of weights: ${precisions.join(', ')}`,
    `- up to ${tensorParallel} GPUs an engine`,
    `- up to ${thousands(contextTokens)} tokens of context`,
  ].join('\n');
}

function impactTable(): string {
  const impact = keptImpact();
  const gains = table(
    ['lengths', 'gain before', 'gain now', 'now ÷ before', '5 %', '50 %', '95 %'],
    impact.gains.map(({ lengths, former, now, moved }) => [lengths, former, now, ...moved].map(shown)),
  );
  const [low, median, high] = impact.slower.map(times);
  const agreement = table(
    ['over the rollouts', ''],
    [
      ['rollouts', String(impact.rollouts)],
      ['the same scheduler is faster', percentOf(impact.sameScheduler, 0)],
      [
        `the same, of the ${impact.clear} with a difference of 5 % or more by one model`,
        percentOf(impact.sameOfClear, 0),
      ],
      [`the same TP has most throughput a GPU (${impact.tpGroups} groups of TPs)`, percentOf(impact.sameBestTp, 0)],
      ['order of TPs by throughput a GPU, tau-b', tauOf(impact.tauTp)],
      ['seconds of the baseline, now ÷ before: 5, 50, 95 %', `${low}, ${median}, ${high}`],
    ],
  );
  return `${agreement}\n\n${gains}`;
}

const shown = (cell: string | number): string => (typeof cell === 'number' ? times(cell) : cell);

function onSiteTable(): string {
  const { undoubted, all, anyTp } = study.onSite;
  const rows = undoubted.map((one, at) => [
    String(one.points),
    percentOf(one.mape),
    percentOf(one.byOverhead),
    percentOf(one.coverage, 0),
    `${times(one.width)} ×`,
    percentOf(anyTp[at]!.mape),
    percentOf(all[at]!.mape),
    percentOf(all[at]!.coverage, 0),
  ]);
  return table(
    [
      'measured points',
      'TPOT mean',
      'by an added overhead',
      'in the interval of 95%',
      'its upper ÷ lower end',
      'TPOT mean, at any TP',
      'with doubted runs',
      'in the interval',
    ],
    rows,
  );
}

function gainCoverageTable(): string {
  const rows = study.onSite.gain.map(({ points, engines, coverage, width }) => [
    String(points),
    String(engines),
    percentOf(coverage, 0),
    `${(100 * width).toFixed(1)} points`,
  ]);
  return table(['measured points', 'engines', 'in the interval of 95%', 'its mean width'], rows);
}

function rankingTable(): string {
  const rows = study.onSite.ranking.map(({ decision, points, machines, tau, best, near, regret, ties, ordered }) => [
    decision,
    String(points),
    String(machines),
    tauOf(tau),
    percentOf(best, 0),
    percentOf(near, 0),
    `${percentOf(regret.mean)}, ${percentOf(regret.most)}`,
    percentOf(ties.said, 0),
    percentOf(ties.right, 0),
    percentOf(ordered, 0),
  ]);
  return table(
    [
      'choice of',
      'measured points',
      'machines',
      'tau',
      'the best is chosen',
      'or within 2 %',
      'time lost: mean, most',
      'pairs called a tie',
      'of these within 2 %',
      'other pairs in order',
    ],
    rows,
  );
}

/** Parts of a rollout as readers know them. */
const partsOfRollout = {
  all: 'the whole rollout',
  draining: 'since no request waits',
  tail: 'since fewer than half run',
} as const;

function engineRolloutTable(): string {
  const { rows: results, heldBack } = resultsOf(keptEngineStudy());
  const rows = results.flatMap(([name, by]) =>
    Object.entries(by).map(([part, one]) => [
      name,
      partsOfRollout[part as keyof typeof partsOfRollout],
      percentOf(one.medianError),
      percentOf(one.bias),
      percentOf(one.coverage, 0),
      `${times(one.width)} ×`,
    ]),
  );
  const heads = ['model', 'seconds of', 'median error', 'bias', 'in the interval of 95%', 'its upper ÷ lower end'];
  return `${table(heads, rows)}\n\nIn ${heldBack} of the rollouts the last responses came all at once, late: their tails count as they came.`;
}

function enginePointTable(): string {
  const { points } = calibratedOn(keptEngineStudy());
  const milliseconds = (seconds: number): string => (1000 * seconds).toFixed(2);
  return table(
    ['running', 'context', 'measured, ms', 'modelled', 'calibrated'],
    points.map((one) => [
      one.running.toFixed(1),
      thousands(Math.round(one.contextTokens)),
      milliseconds(one.secondsPerToken),
      milliseconds(one.modelSeconds),
      milliseconds(one.calibratedSeconds),
    ]),
  );
}

const parts: Readonly<Record<string, () => string>> = {
  constants: constantTable,
  gpus: gpuTable,
  totals: totalTable,
  configurations: () => groupTable('left out', study.byConfiguration),
  batch: () => groupTable('running', study.byBatch),
  gpu: () => groupTable('GPU', study.byGpu),
  engine: () => groupTable('engine', study.byEngine),
  family: () => groupTable('family', study.byFamily),
  doubts: doubtTable,
  slopes: slopeTable,
  support: supportList,
  'on-site': onSiteTable,
  gain: gainCoverageTable,
  ranking: rankingTable,
  'engine-points': enginePointTable,
  'engine-rollouts': engineRolloutTable,
  impact: impactTable,
};

/** A generated part of the page, by its id. */
export function siliconPart(id: string): string {
  const part = parts[id];
  if (part === undefined) throw new Error(`silicon has no part ${id}`);
  return part();
}
