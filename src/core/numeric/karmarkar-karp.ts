/**
 * Karmarkar and Karp's differencing method for k subsets (1982), with the tie-breaks and the equal sizes of verl's
 * `seqlen_balancing`, so that both give the same partition.
 */
import { refuse } from '../../errors.ts';
import { Heap } from '../collections/heap.ts';

/** A subset of the items: a linked list through `next`, in the order in which the items were joined. */
interface Subset {
  sum: number;
  count: number;
  readonly head: number;
  tail: number;
}

/** A partition of some items into at most k subsets; empty subsets are left out. */
interface State {
  /** The heap has the smallest subset on top: a merge joins the smallest subsets of one state with the largest of the other. */
  readonly subsets: Heap<Subset>;
  largest: Subset;
  /** Sum of the largest subset minus sum of the smallest. */
  spread: number;
}

/** Orders by sum, then number of items, then the first item, which no two subsets share. */
const compareSubsets = (a: Subset, b: Subset): number => a.sum - b.sum || a.count - b.count || a.head - b.head;
/** Orders by descending spread, then by descending largest subset. */
const compareStates = (a: State, b: State): number => b.spread - a.spread || compareSubsets(b.largest, a.largest);

function stateOf(subsets: readonly Subset[], k: number): State {
  const state: State = { subsets: new Heap(compareSubsets), largest: subsets[0]!, spread: 0 };
  for (const subset of subsets) insert(state, subset);
  return measured(state, k);
}

function insert(state: State, subset: Subset): void {
  state.subsets.push(subset);
  if (compareSubsets(subset, state.largest) > 0) state.largest = subset;
}

function measured(state: State, k: number): State {
  state.spread = state.largest.sum - (state.subsets.size < k ? 0 : state.subsets.peek()!.sum);
  return state;
}

/** Removes and returns a state's subsets, largest first. */
function emptied({ subsets }: State): Subset[] {
  const taken: Subset[] = [];
  for (let one = subsets.pop(); one !== undefined; one = subsets.pop()) taken.push(one);
  return taken.reverse();
}

function check(workloads: readonly number[], k: number, equalSize: boolean): void {
  if (!Number.isInteger(k) || k < 1) refuse('invalid_input', 'k', 'a whole number >= 1', k);
  const wrong = workloads.findIndex((one) => !(one >= 0 && one < Number.POSITIVE_INFINITY));
  if (wrong >= 0) refuse('invalid_input', `workloads[${wrong}]`, 'a finite number >= 0', workloads[wrong]);
  if (equalSize && workloads.length % k !== 0) {
    refuse('invalid_input', 'workloads', `a number of workloads that ${k} divides, for equal sizes`, workloads.length);
  }
}

/**
 * Divides items into parts of nearly equal workload. It merges the two states of largest spread, joining the largest subsets of one
 * with the smallest of the other, until one state is left.
 *
 * A merge moves the state with fewer subsets into the other, so that all merges take O(n · log n · log k).
 *
 * @param workloads - workload of each item, finite, >= 0; sums are exact up to 2^53
 * @param k - number of parts, >= 1; with fewer than k items, some parts are empty
 * @param options - `equalSize`: each part has n ÷ k items, and n must be a multiple of k
 * @returns the parts by descending workload, each with the ascending indices of its items
 * @throws PolicyError `invalid_input`
 */
export function karmarkarKarp(
  workloads: readonly number[],
  k: number,
  { equalSize = false }: { readonly equalSize?: boolean } = {},
): number[][] {
  check(workloads, k, equalSize);
  const next = new Int32Array(workloads.length).fill(-1);
  const join = (one: Subset, other: Subset): Subset => {
    next[one.tail] = other.head;
    one.tail = other.tail;
    one.sum += other.sum;
    one.count += other.count;
    return one;
  };
  /** Joins two states; wherever subsets are joined, the items of `first` come before those of `second`. */
  const merge = (first: State, second: State): State => {
    const firstStays = first.subsets.size >= second.subsets.size;
    const into = firstStays ? first : second;
    const taken = emptied(firstStays ? second : first);
    const had = into.subsets.size;
    const pairs = had + taken.length - k;
    const alone = pairs > 0 ? taken.length - pairs : taken.length;
    const joined = taken.slice(alone).map((other) => {
      const smallest = into.subsets.pop()!;
      return firstStays ? join(smallest, other) : join(other, smallest);
    });
    if (pairs === had) into.largest = joined[0]!;
    for (let index = 0; index < alone; index += 1) insert(into, taken[index]!);
    for (const subset of joined) insert(into, subset);
    return measured(into, k);
  };

  const ascending = workloads.map((_, index) => index).sort((a, b) => workloads[a]! - workloads[b]! || a - b);
  const states = new Heap(compareStates);
  const size = equalSize ? k : 1;
  for (let at = 0; at < ascending.length; at += size) {
    const chunk = ascending.slice(at, at + size);
    const alone = chunk.map((item): Subset => ({ sum: workloads[item]!, count: 1, head: item, tail: item }));
    states.push(stateOf(alone, k));
  }
  while (states.size > 1) states.push(merge(states.pop()!, states.pop()!));
  const last = states.pop();
  const lists = (last === undefined ? [] : emptied(last)).map((subset) => {
    const items: number[] = [];
    for (let item = subset.head; item >= 0; item = next[item]!) items.push(item);
    return items.sort((a, b) => a - b);
  });
  return [...lists, ...Array.from({ length: k - lists.length }, (): number[] => [])];
}
