/** Multisets of ids, to compare counted ids with the ids in a state. */

/** Count of each id; an id with count 0 has no entry. */
export type Multiset = Map<string, number>;

/** Counts the ids of a list. */
export function multisetOf(ids: readonly string[]): Multiset {
  const set: Multiset = new Map();
  for (const id of ids) addTo(set, id, 1);
  return set;
}

export function addTo(set: Multiset, id: string, by: number): void {
  const count = (set.get(id) ?? 0) + by;
  if (count === 0) set.delete(id);
  else set.set(id, count);
}

/** Returns an id whose count is negative. */
export function fewer(set: Multiset): string | undefined {
  for (const [id, count] of set) if (count < 0) return id;
  return undefined;
}

/** Writes a multiset as text, in the order of its ids, for comparison. */
export function textOfSet(set: Multiset): string {
  return JSON.stringify([...set].sort(([a], [b]) => (a < b ? -1 : 1)));
}
