/** Karmarkar-Karp by its rules, word by word and without any data structure. */

/** Items as (index, value), in the order in which they were added. */
type Subset = { sum: number; items: [number, number][] };

function compareItems(a: [number, number][], b: [number, number][]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const difference = a[at]![0] - b[at]![0] || a[at]![1] - b[at]![1];
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

const compareSubsets = (a: Subset, b: Subset) =>
  a.sum - b.sum || a.items.length - b.items.length || compareItems(a.items, b.items);
const descending = (subsets: Subset[]) => subsets.sort((a, b) => compareSubsets(b, a));
const spread = (state: Subset[]) => state[0]!.sum - state.at(-1)!.sum;

/** Each state has all its k subsets, sorted again after each merge; the states are searched for the next two. */
export function naiveKarmarkarKarp(values: readonly number[], k: number, equalSize: boolean): number[][] {
  const sorted = values.map((value, index) => [index, value] as [number, number]);
  sorted.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
  const states: Subset[][] = [];
  for (let at = 0; at < sorted.length; at += equalSize ? k : 1) {
    const items = sorted.slice(at, at + (equalSize ? k : 1));
    const subsets = Array.from({ length: k }, (_, index): Subset => {
      const item = items[index];
      return item === undefined ? { sum: 0, items: [] } : { sum: item[1], items: [item] };
    });
    states.push(descending(subsets));
  }
  const takeNext = (): Subset[] => {
    let best = 0;
    for (let at = 1; at < states.length; at += 1) {
      const wider = spread(states[at]!) - spread(states[best]!) || compareSubsets(states[at]![0]!, states[best]![0]!);
      if (wider > 0) best = at;
    }
    return states.splice(best, 1)[0]!;
  };
  while (states.length > 1) {
    const first = takeNext();
    const second = takeNext();
    const merged = first.map((subset, index): Subset => {
      const other = second[k - 1 - index]!;
      return { sum: subset.sum + other.sum, items: [...subset.items, ...other.items] };
    });
    states.push(descending(merged));
  }
  const last = states[0] ?? Array.from({ length: k }, (): Subset => ({ sum: 0, items: [] }));
  return last.map(({ items }) => items.map(([index]) => index).sort((a, b) => a - b));
}
