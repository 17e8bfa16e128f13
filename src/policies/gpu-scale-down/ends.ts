/** When requests reach the cap at the latest: the ends at which what they hold can be most. */
import type { Columns } from './columns.ts';

// Two digits hold every length up to the longest that can be configured.
const digitBits = 13;
const digits = 1 << digitBits;

/** Puts the rows that have a place in the order in which they reach the cap, into `columns.order`; how many they are. */
export function orderByEnd(columns: Columns, rows: number): number {
  const { cells, generated, order, spare } = columns;
  let size = 0;
  for (let row = 0; row < rows; row += 1) if (cells[row]! >= 0) order[size++] = row;
  pass(order, spare, generated, size, 0);
  pass(spare, order, generated, size, digitBits);
  return size;
}

/** One pass of a radix sort, descending and stable. */
function pass(from: Int32Array, to: Int32Array, keys: Int32Array, size: number, shift: number): void {
  const starts = new Int32Array(digits + 1);
  for (let at = 0; at < size; at += 1) starts[digits - ((keys[from[at]!]! >> shift) & (digits - 1))]! += 1;
  for (let digit = 1; digit <= digits; digit += 1) starts[digit]! += starts[digit - 1]!;
  for (let at = 0; at < size; at += 1) {
    const digit = digits - 1 - ((keys[from[at]!]! >> shift) & (digits - 1));
    to[starts[digit]!++] = from[at]!;
  }
}

/** The same order, place by place, into `columns.spare`; where each place begins in it, and its end behind the last. */
export function orderByPlace(columns: Columns, size: number, count: number): Int32Array {
  const { order, spare, places } = columns;
  const starts = new Int32Array(count + 2);
  for (let at = 0; at < size; at += 1) starts[places[order[at]!]! + 2]! += 1;
  for (let place = 2; place < starts.length; place += 1) starts[place]! += starts[place - 1]!;
  for (let at = 0; at < size; at += 1) spare[starts[places[order[at]!]! + 1]!++] = order[at]!;
  return starts;
}
