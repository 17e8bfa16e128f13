/**
 * Reads a profile as surfaces, at any point.
 *
 * Rows of one (TP, EP) lie on lines of one routing skew and batch size. A value is read along the sequence length on the two
 * neighbouring lines, then between the lines along the batch size, then between skews: linear each time. Below the first point,
 * the value of this point holds (a floor); beyond the last point, the line through the last two points continues, and never
 * falls. A line with only one length borrows its slope, scaled by the batch size, from the line with more lengths that is nearest
 * in batch size: seconds and bytes beyond the weights grow with batch × length.
 */
import type { ProfileRow } from '../../schemas/parallelism.ts';
import type { Parallelism } from './schema.ts';

/** A figure that a row of the profile measures. */
export type Quantity = 'decodeStepSeconds' | 'prefillSeconds' | 'bytes';

type Point = Pick<ProfileRow, 'sequenceLength' | Quantity>;

/** Measurements of one batch size, by ascending sequence length. */
interface Line {
  readonly at: number;
  readonly points: number;
  lengthAt(index: number): number;
  valueAt(index: number, quantity: Quantity): number;
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

/** Returns the index of the segment between ascending points that contains a value or is extrapolated to it. */
function segment(points: number, pointAt: (index: number) => number, at: number): number {
  let low = 0;
  let high = points - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pointAt(middle) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

const segmentOf = (values: readonly number[], at: number): number =>
  segment(values.length, (index) => values[index]!, at);

function along(x0: number, y0: number, x1: number, y1: number, x: number): number {
  if (x <= x0) return y0;
  if (x > x1) return y1 + Math.max(0, (y1 - y0) / (x1 - x0)) * (x - x1);
  return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
}

function onLine(line: Line, quantity: Quantity, length: number): number {
  if (line.points === 1) return line.valueAt(0, quantity);
  const low = segment(line.points, line.lengthAt, length);
  const first = line.valueAt(low, quantity);
  return along(line.lengthAt(low), first, line.lengthAt(low + 1), line.valueAt(low + 1, quantity), length);
}

function onPlane({ lines, batches }: Plane, quantity: Quantity, batch: number, length: number): number {
  if (lines.length === 1) return onLine(lines[0]!, quantity, length);
  const low = segmentOf(batches, batch);
  const first = onLine(lines[low]!, quantity, length);
  if (batch <= batches[low]!) return first;
  return along(batches[low]!, first, batches[low + 1]!, onLine(lines[low + 1]!, quantity, length), batch);
}

/** Reads a surface at a point, by the rules at the top of this file. */
export function valueAt(surface: Surface, quantity: Quantity, batch: number, length: number, skew = 1): number {
  const { planes, skews } = surface;
  if (planes.length === 1) return onPlane(planes[0]!, quantity, batch, length);
  const low = segmentOf(skews, skew);
  const [first, second] = [planes[low]!, planes[low + 1]!];
  const value = onPlane(first, quantity, batch, length);
  if (skew <= first.at) return value;
  return along(first.at, value, second.at, onPlane(second, quantity, batch, length), skew);
}

/** Returns the points of a profile that determine the value at a point. */
export function cornersOf(surface: Surface, batch: number, length: number, skew = 1) {
  const around = <T>(items: readonly T[], at: readonly number[], value: number): readonly T[] => {
    const low = segmentOf(at, value);
    return items.slice(low, low + 2);
  };
  return around(surface.planes, surface.skews, skew).flatMap((plane) =>
    around(plane.lines, plane.batches, batch).flatMap((line) => {
      const low = segment(line.points, line.lengthAt, length);
      const lengths = line.points === 1 ? [line.lengthAt(0)] : [line.lengthAt(low), line.lengthAt(low + 1)];
      return lengths.map((sequenceLength) => ({ routingSkew: plane.at, batchSize: line.at, sequenceLength }));
    }),
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

function measuredLine(at: number, points: readonly Point[]): Line {
  const sorted = [...points].sort((a, b) => ascending(a.sequenceLength, b.sequenceLength));
  return {
    at,
    points: sorted.length,
    lengthAt: (index) => sorted[index]!.sequenceLength,
    valueAt: (index, quantity) => sorted[index]![quantity],
  };
}

/**
 * Makes a line from one point, with the lengths of another line. Values are computed on each read and not stored, because a
 * profile may have many such lines and one line with many lengths.
 */
function borrowedLine(at: number, only: Point, donor: Line): Line {
  const { sequenceLength: from } = only;
  // The point is inserted among the lengths of the other line, or replaces an equal length.
  let insertedAt = 0;
  let end = donor.points;
  while (insertedAt < end) {
    const middle = (insertedAt + end) >> 1;
    if (donor.lengthAt(middle) < from) insertedAt = middle + 1;
    else end = middle;
  }
  const isOwn = insertedAt === donor.points || donor.lengthAt(insertedAt) !== from;
  const lengthAt = (index: number): number => {
    if (index === insertedAt) return from;
    return donor.lengthAt(isOwn && index > insertedAt ? index - 1 : index);
  };
  const valueAt = (index: number, quantity: Quantity): number => {
    if (index === insertedAt) return only[quantity];
    const change = onLine(donor, quantity, lengthAt(index)) - onLine(donor, quantity, from);
    return Math.max(only[quantity] * 1e-3, only[quantity] + (change * at) / donor.at);
  };
  return { at, points: donor.points + (isOwn ? 1 : 0), lengthAt, valueAt };
}

/** Returns the line nearest in batch size, by ratio; the lines ascend. */
function nearest(lines: readonly Line[], batches: readonly number[], batch: number): Line | undefined {
  const distance = (one: Line) => Math.max(one.at / batch, batch / one.at);
  const low = segmentOf(batches, batch);
  return lines.slice(low, low + 2).sort((a, b) => distance(a) - distance(b))[0];
}

/** Returns the key for the (TP, EP) of a row; a missing EP counts as 1. */
export const surfaceKey = ({ tp, ep = 1 }: Parallelism): string => `${tp}/${ep}`;

/** Returns the surfaces of a profile by {@link surfaceKey}; the last row of a point counts. */
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
    const byBatch = groupBy(ofSkew, (row) => row.batchSize);
    const donors = byBatch.flatMap(([batch, points]) => (points.length > 1 ? [measuredLine(batch, points)] : []));
    const donorBatches = donors.map((line) => line.at);
    const lines = byBatch.map(([batch, points]) => {
      const near = nearest(donors, donorBatches, batch);
      if (near === undefined) return measuredLine(batch, points);
      return near.at === batch ? near : borrowedLine(batch, points[0]!, near);
    });
    return { at, lines, batches: lines.map((line) => line.at) };
  });
  return { planes, skews: planes.map((plane) => plane.at) };
}

/** Returns the key for a point of a profile. */
export function pointKey(row: Parallelism & Pick<ProfileRow, 'routingSkew' | 'batchSize' | 'sequenceLength'>): string {
  return `${surfaceKey(row)}/${row.routingSkew ?? 1}/${row.batchSize}/${row.sequenceLength}`;
}
