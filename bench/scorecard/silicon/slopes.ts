/**
 * What a further sequence adds to the time of a token: the slope of the least-squares line of TPOT over clients, from 4 to 64, of runs
 * that differ in their clients only. Its mean over the loads of a configuration at a TP.
 */
import { linearRegression, mean } from 'simple-statistics';
import { predicted } from './errors.ts';
import { configurationOf, groupedBy, type Point } from './points.ts';

/** The slopes of a configuration at a TP, in microseconds a sequence. */
export interface Slope {
  readonly configuration: string;
  readonly precision: string;
  readonly gpus: number;
  /** Lines: loads, and versions of the engine. */
  readonly lines: number;
  readonly measuredMicroseconds: number;
  readonly predictedMicroseconds: number;
}

const fewestClients = 3;

/** Returns the slopes of all configurations that were measured with three numbers of clients at least. */
export function slopesOf(points: readonly Point[]): Slope[] {
  const lined = points.filter(
    ({ load, tpotSeconds }) =>
      load.attentionRanks === 1 && load.concurrency >= 4 && load.concurrency <= 64 && tpotSeconds !== undefined,
  );
  const rows = groupedBy(lined, ({ served, ...point }) =>
    JSON.stringify([configurationOf({ served, ...point }), served.precision, served.gpus]),
  );
  return [...rows]
    .flatMap(([key, some]) => {
      const lines = [...groupedBy(some, lineOf).values()]
        .filter((line) => new Set(line.map(({ load }) => load.concurrency)).size >= fewestClients)
        .map((line) => ({
          measured: slope(line.map(({ load, tpotSeconds }) => [load.concurrency, tpotSeconds!])),
          ours: slope(line.map((point) => [point.load.concurrency, predicted(point).tpotSeconds])),
        }));
      if (lines.length === 0) return [];
      const [configuration, precision, gpus] = JSON.parse(key) as [string, string, number];
      return {
        configuration,
        precision,
        gpus,
        lines: lines.length,
        measuredMicroseconds: 1e6 * mean(lines.map(({ measured }) => measured)),
        predictedMicroseconds: 1e6 * mean(lines.map(({ ours }) => ours)),
      };
    })
    .sort((a, b) => {
      const [one, other] = [a, b].map(({ configuration, precision }) => configuration + precision);
      return one === other ? a.gpus - b.gpus : one! < other! ? -1 : 1;
    });
}

const lineOf = ({ model, engineVersion, load }: Point): string =>
  JSON.stringify([model.name, engineVersion, load.promptTokens, load.responseTokens]);

const slope = (places: [number, number][]): number => linearRegression(places).m;
