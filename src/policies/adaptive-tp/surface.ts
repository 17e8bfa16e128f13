/**
 * A profile as surfaces that can be read at any point.
 *
 * Rows of one (TP, EP) lie on lines of one routing skew and batch size. A value is read along the sequence length on the
 * two neighbouring lines, then between the lines along the batch size, then between skews: linear each time. Below the
 * first point the value of the first holds (a floor); beyond the last the line through the last two goes on, and never
 * falls. A line with one length only borrows the slope of the line nearest in batch size that has more, in proportion
 * to the batch: seconds and bytes beyond the weights grow with batch × length.
 */
import type { ProfileRow } from '../../schemas/parallelism.ts';
import type { Parallelism } from './bounds.ts';

/** What a row measures. */
export type Quantity = 'decodeStepSeconds' | 'prefillSeconds' | 'bytes';

type Point = Pick<ProfileRow, 'batchSize' | 'sequenceLength' | Quantity>;

interface Line {
  readonly at: number;
  readonly points: readonly Point[];
  readonly lengths: readonly number[];
}
interface Plane {
  readonly at: number;
  readonly lines: readonly Line[];
  readonly batches: readonly number[];
}

/** The profile of one (TP, EP). */
export interface Surface {
  readonly planes: readonly Plane[];
  readonly skews: readonly number[];
}

/** The index of the segment that a value lies in or is extrapolated from, of ascending points. */
function segment(points: readonly number[], at: number): number {
  let low = 0;
  let high = points.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (points[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

function along(x0: number, y0: number, x1: number, y1: number, x: number): number {
  if (x <= x0) return y0;
  if (x > x1) return y1 + Math.max(0, (y1 - y0) / (x1 - x0)) * (x - x1);
  return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
}

function onLine({ points, lengths }: Line, quantity: Quantity, length: number): number {
  if (points.length === 1) return points[0]![quantity];
  const low = segment(lengths, length);
  return along(lengths[low]!, points[low]![quantity], lengths[low + 1]!, points[low + 1]![quantity], length);
}

function onPlane({ lines, batches }: Plane, quantity: Quantity, batch: number, length: number): number {
  if (lines.length === 1) return onLine(lines[0]!, quantity, length);
  const low = segment(batches, batch);
  const first = onLine(lines[low]!, quantity, length);
  if (batch <= batches[low]!) return first;
  return along(batches[low]!, first, batches[low + 1]!, onLine(lines[low + 1]!, quantity, length), batch);
}

/** Reads a surface at a point; see the top of this file for how. */
export function valueAt(surface: Surface, quantity: Quantity, batch: number, length: number, skew = 1): number {
  const { planes, skews } = surface;
  if (planes.length === 1) return onPlane(planes[0]!, quantity, batch, length);
  const low = segment(skews, skew);
  const [first, second] = [planes[low]!, planes[low + 1]!];
  const value = onPlane(first, quantity, batch, length);
  if (skew <= first.at) return value;
  return along(first.at, value, second.at, onPlane(second, quantity, batch, length), skew);
}

/** Points of a profile around one point: those that its value is read from. */
export function cornersOf(surface: Surface, batch: number, length: number, skew = 1) {
  const around = <T>(items: readonly T[], at: readonly number[], value: number): readonly T[] => {
    const low = segment(at, value);
    return items.slice(low, low + 2);
  };
  return around(surface.planes, surface.skews, skew).flatMap((plane) =>
    around(plane.lines, plane.batches, batch).flatMap((line) =>
      around(line.points, line.lengths, length).map((point) => ({
        routingSkew: plane.at,
        batchSize: line.at,
        sequenceLength: point.sequenceLength,
      })),
    ),
  );
}

const ascending = (a: number, b: number): number => a - b;

function groupBy<T>(items: Iterable<T>, key: (item: T) => number): [number, T[]][] {
  const groups = new Map<number, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return [...groups].sort(([a], [b]) => ascending(a, b));
}

function lineOf(at: number, points: readonly Point[]): Line {
  const sorted = [...points].sort((a, b) => ascending(a.sequenceLength, b.sequenceLength));
  return { at, points: sorted, lengths: sorted.map((one) => one.sequenceLength) };
}

/** Gives a line of one point the lengths of the nearest line that has more: of `donors`, ascending. */
function stretched(line: Line, donors: readonly Line[], batches: readonly number[]): Line {
  if (line.points.length > 1 || donors.length === 0) return line;
  const distance = (one: Line) => Math.abs(Math.log(one.at / line.at));
  const low = segment(batches, line.at);
  const [donor] = donors.slice(low, low + 2).sort((a, b) => distance(a) - distance(b)) as [Line];
  const [only] = line.points;
  const { sequenceLength: from } = only!;
  const moved = (quantity: Quantity, length: number): number => {
    const change = onLine(donor, quantity, length) - onLine(donor, quantity, from);
    return Math.max(only![quantity] * 1e-3, only![quantity] + (change * line.at) / donor.at);
  };
  const others = donor.points
    .filter((one) => one.sequenceLength !== from)
    .map(({ sequenceLength }) => ({
      batchSize: line.at,
      sequenceLength,
      decodeStepSeconds: moved('decodeStepSeconds', sequenceLength),
      prefillSeconds: moved('prefillSeconds', sequenceLength),
      bytes: moved('bytes', sequenceLength),
    }));
  return lineOf(line.at, [only!, ...others]);
}

/** Which (TP, EP) a row is of; without EP it is 1. */
export const surfaceKey = ({ tp, ep = 1 }: Parallelism): string => `${tp}/${ep}`;

/** The surfaces of a profile by {@link surfaceKey}; the last row of a point counts. */
export function surfacesOf(rows: Iterable<ProfileRow>): Map<string, Surface> {
  const byPoint = new Map<string, ProfileRow>();
  for (const row of rows) byPoint.set(pointKey(row), row);
  const byKey = new Map<string, ProfileRow[]>();
  for (const row of byPoint.values()) {
    const group = byKey.get(surfaceKey(row));
    if (group === undefined) byKey.set(surfaceKey(row), [row]);
    else group.push(row);
  }
  return new Map([...byKey].map(([key, group]) => [key, surfaceOf(group)]));
}

function surfaceOf(rows: readonly ProfileRow[]): Surface {
  const planes = groupBy(rows, (row) => row.routingSkew ?? 1).map(([at, ofSkew]) => {
    const measured = groupBy(ofSkew, (row) => row.batchSize).map(([batch, points]) => lineOf(batch, points));
    const donors = measured.filter((line) => line.points.length > 1);
    const donorBatches = donors.map((line) => line.at);
    const lines = measured.map((line) => stretched(line, donors, donorBatches));
    return { at, lines, batches: lines.map((line) => line.at) };
  });
  return { planes, skews: planes.map((plane) => plane.at) };
}

/** What tells two points of a profile apart. */
export function pointKey(row: Parallelism & Pick<ProfileRow, 'routingSkew' | 'batchSize' | 'sequenceLength'>): string {
  return `${surfaceKey(row)}/${row.routingSkew ?? 1}/${row.batchSize}/${row.sequenceLength}`;
}
