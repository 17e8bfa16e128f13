/** Consistent hashing: when an engine leaves or joins, only its own keys move. */
import type { RuleEngine } from '../scheduler.ts';

/** Points of an engine on the ring: with 128, the shares of engines differ by about a tenth. */
const pointsPerEngine = 128;

/** A ring of hashes with several points per engine. */
export class HashRing {
  #ids = '';
  #points: { readonly hash: number; readonly engineId: string }[] = [];

  /** Returns the engine of a key: that of the next point on the ring. */
  of(key: string, engines: readonly RuleEngine[]): RuleEngine {
    this.#place(engines);
    const wanted = hashOf(key);
    let [low, high] = [0, this.#points.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#points[middle]!.hash < wanted) low = middle + 1;
      else high = middle;
    }
    const { engineId } = this.#points[low % this.#points.length]!;
    return engines.find((one) => one.engineId === engineId)!;
  }

  #place(engines: readonly RuleEngine[]): void {
    const ids = engines.map(({ engineId }) => engineId).join('\n');
    if (ids === this.#ids) return;
    this.#ids = ids;
    this.#points = engines
      .flatMap(({ engineId }) =>
        Array.from({ length: pointsPerEngine }, (_, at) => ({ hash: hashOf(`${engineId} ${at}`), engineId })),
      )
      .sort((a, b) => a.hash - b.hash || (a.engineId < b.engineId ? -1 : 1));
  }
}

/** FNV-1a over the UTF-16 code units, mixed by the finaliser of MurmurHash3: similar ids have hashes that are not similar. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
