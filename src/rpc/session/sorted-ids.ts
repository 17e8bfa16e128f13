/** A sorted set of changing ids: sorting all ids at every change would delay a server with many sessions. */

/** Most ids that wait for sorting: then they are merged with the sorted ids. */
const mostNew = 4096;

/** A set of ids that is read in sorted order. */
export class SortedIds {
  #sorted: string[] = [];
  #new: string[] = [];

  /** Adds an id, which must be new. */
  add(id: string): void {
    this.#new.push(id);
    if (this.#new.length >= mostNew) this.#merge();
  }

  /** Removes an id, which must be present. */
  delete(id: string): void {
    const at = firstFrom(this.#sorted, id);
    if (this.#sorted[at] === id) this.#sorted.splice(at, 1);
    else this.#new.splice(this.#new.indexOf(id), 1);
  }

  clear(): void {
    this.#sorted = [];
    this.#new = [];
  }

  /** Returns up to so many ids after a given id, in order, and whether there are more. */
  after(id: string | undefined, most: number): { readonly ids: readonly string[]; readonly more: boolean } {
    this.#merge();
    // The first text after an id is the id and a zero.
    const from = id === undefined ? 0 : firstFrom(this.#sorted, `${id}\0`);
    return { ids: this.#sorted.slice(from, from + most), more: from + most < this.#sorted.length };
  }

  #merge(): void {
    if (this.#new.length === 0) return;
    // The sort of JavaScript engines takes two sorted parts as they are, and merges them.
    this.#sorted = [...this.#sorted, ...this.#new.sort()].sort();
    this.#new = [];
  }
}

/** Returns the index of the first id that is not before another id, by binary search. */
function firstFrom(ids: readonly string[], id: string): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ids[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
