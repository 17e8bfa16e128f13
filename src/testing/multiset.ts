/** Multisets of ids: what was counted, and what a state holds. */

/** How often each id is there; an id that is not there has no entry. */
export type Multiset = Map<string, number>;

/** How often each id is in a list. */
export function multisetOf(ids: readonly string[]): Multiset {
  const set: Multiset = new Map();
  for (const id of ids) addTo(set, id, 1);
  return set;
}

/** Adds to the count of an id. */
export function addTo(set: Multiset, id: string, by: number): void {
  const count = (set.get(id) ?? 0) + by;
  if (count === 0) set.delete(id);
  else set.set(id, count);
}

/** An id that is there less than no times. */
export function fewer(set: Multiset): string | undefined {
  for (const [id, count] of set) if (count < 0) return id;
  return undefined;
}

/** A multiset as text, in the order of its ids, for comparison. */
export function textOfSet(set: Multiset): string {
  return JSON.stringify([...set].sort(([a], [b]) => (a < b ? -1 : 1)));
}
