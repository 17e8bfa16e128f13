/** The whole study of the shipped file: what `--write` keeps for docs/silicon.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { median } from 'simple-statistics';
import { doubts } from './doubts.ts';
import { type Errors, errorsBy, errorsOf, type Predicted, predicted } from './errors.ts';
import { type GainCoverage, gainCoverage } from './gain-coverage.ts';
import { type LeftOut, leaveOut } from './leave-out.ts';
import { engineAtAnyTp, engineOf, type OnSite, onSite } from './on-site.ts';
import { configurationOf, distinctPoints, familyOf, fittedPoints, type Point, readPoints } from './points.ts';
import { decisions, type Ranking, rankingOf } from './ranking.ts';
import { type Slope, slopesOf } from './slopes.ts';

/** The file of runs that the constants are fitted to. */
export const pointsFile = new URL('./points.csv', import.meta.url).pathname;
const measuredFile = new URL('./measured.json', import.meta.url);

/** Errors without and with the runs that are doubted. */
export interface Both {
  /** Null where all runs are doubted. */
  readonly undoubted: Errors | null;
  readonly all: Errors;
}

/** The distinct runs that a reason doubts, and how far the constants that ship are from them: predicted ÷ measured TPOT. */
export interface DoubtedRuns {
  readonly runs: number;
  /** Least, median, most; null without runs. */
  readonly ratios: readonly [number, number, number] | null;
}

/** What is left out in turn. */
export const kindsOfGroups = {
  configuration: configurationOf,
  family: familyOf,
  gpu: (point: Point) => point.gpu.id,
} as const;
/** A kind of groups. */
export type GroupKind = keyof typeof kindsOfGroups;

/** The study, all shares as fractions. */
export interface Study {
  readonly rows: number;
  readonly distinct: number;
  readonly fitted: number;
  /** By reason, in the order of `doubts`. */
  readonly doubted: readonly DoubtedRuns[];
  /** Of the constants that ship: on what they were fitted to, and on each line of the file. */
  readonly shipped: Both;
  /** Of constants that did not see the group of a run. */
  readonly leftOut: Readonly<Record<GroupKind, Both>>;
  /** With each configuration left out in turn; so are the next. */
  readonly byConfiguration: Readonly<Record<string, Both>>;
  readonly byBatch: Readonly<Record<string, Both>>;
  readonly byGpu: Readonly<Record<string, Both>>;
  readonly byEngine: Readonly<Record<string, Both>>;
  readonly byFamily: Readonly<Record<string, Both>>;
  /** Each configuration left out of the fit, and each engine calibrated by some of its runs; with doubted runs in `all`. */
  readonly onSite: {
    readonly undoubted: readonly OnSite[];
    readonly all: readonly OnSite[];
    /** An engine's runs at other tensor parallelism are among those that are drawn and predicted. */
    readonly anyTp: readonly OnSite[];
    readonly gain: readonly GainCoverage[];
    readonly ranking: readonly Ranking[];
  };
  /** At prompts and responses of 1,024 tokens, and over all loads. */
  readonly slopes: { readonly near: readonly Slope[]; readonly all: readonly Slope[] };
}

const batchOf = ({ running }: Predicted): string => (running <= 8 ? '1 to 8' : running <= 64 ? '9 to 64' : 'over 64');

function both({ undoubted, all }: LeftOut): Both {
  return { undoubted: undoubted.length === 0 ? null : errorsOf(undoubted), all: errorsOf(all) };
}

function bothBy({ undoubted, all }: LeftOut, key: (one: Predicted) => string): Record<string, Both> {
  const known = errorsBy(undoubted, key);
  return Object.fromEntries(
    Object.entries(errorsBy(all, key)).map(([name, one]) => [name, { undoubted: known[name] ?? null, all: one }]),
  );
}

function doubtedRuns(points: readonly Point[]): DoubtedRuns {
  const ratios = points.flatMap((point) =>
    point.tpotSeconds === undefined ? [] : [predicted(point).tpotSeconds / point.tpotSeconds],
  );
  if (ratios.length === 0) return { runs: points.length, ratios: null };
  return { runs: points.length, ratios: [Math.min(...ratios), median(ratios), Math.max(...ratios)] };
}

/** What of the study needs no fit. */
export function quickStudy(points: readonly Point[]) {
  const distinct = distinctPoints(points);
  const known = fittedPoints(points);
  const near = known.filter(({ load }) => load.promptTokens === 1024 && load.responseTokens === 1024);
  return {
    rows: points.length,
    distinct: distinct.length,
    fitted: known.length,
    doubted: doubts.map((doubt) => doubtedRuns(distinct.filter((point) => point.doubt === doubt))),
    shipped: both({
      undoubted: known.map((point) => predicted(point)),
      all: points.map((point) => predicted(point)),
    }),
    slopes: { near: slopesOf(near), all: slopesOf(known) },
  };
}

/** Measured points of an engine that calibrate it. */
const drawnPoints = [0, 1, 2, 3, 5];

/** The same of simulated jobs, which take longer. */
const fewPoints = [0, 1, 3];

/** What points of an engine's own change, by predictions of constants that did not see its configuration. */
export const onSiteStudy = ({ undoubted, all }: LeftOut): Study['onSite'] => ({
  undoubted: drawnPoints.map((points) => onSite(undoubted, points, engineOf)),
  all: drawnPoints.map((points) => onSite(all, points, engineOf)),
  anyTp: drawnPoints.map((points) => onSite(undoubted, points, engineAtAnyTp)),
  gain: fewPoints.map((points) => gainCoverage(undoubted, points)),
  ranking: decisions.flatMap((decision) => fewPoints.map((points) => rankingOf(undoubted, decision, points))),
});

/** Makes the study: some forty fits. */
export function study(): Study {
  const { points } = readPoints(pointsFile);
  const configuration = leaveOut(points, kindsOfGroups.configuration);
  return {
    ...quickStudy(points),
    leftOut: {
      configuration: both(configuration),
      family: both(leaveOut(points, kindsOfGroups.family)),
      gpu: both(leaveOut(points, kindsOfGroups.gpu)),
    },
    byConfiguration: bothBy(configuration, ({ point }) => configurationOf(point)),
    byBatch: bothBy(configuration, batchOf),
    byGpu: bothBy(configuration, ({ point }) => point.gpu.id),
    byEngine: bothBy(configuration, ({ point }) => point.engine),
    byFamily: bothBy(configuration, ({ point }) => familyOf(point)),
    onSite: onSiteStudy(configuration),
  };
}

/** Six digits that count: tables round once more. */
export const rounded = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'number' ? Number(one.toPrecision(6)) : one)),
  ) as T;

/** Keeps a study. */
export const writeStudy = (one: Study): void =>
  writeFileSync(measuredFile, `${JSON.stringify(rounded(one), null, 1)}\n`);

/** The study that was kept. */
export const keptStudy = (): Study => JSON.parse(readFileSync(measuredFile, 'utf8')) as Study;
