/** What the models of hosts claim, and the multisets of ids that they count with. */

/** How often each id is there; an id that is not there has no entry. */
export type Multiset = Map<string, number>;

/** Throws an error with the message unless the claim holds. */
export function claim(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
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
