/** Ids of things that are counted. */

/** Returns ids whose numbers have equal width, so that sorting ids sorts by number. */
export function numbered(name: string, count: number): string[] {
  const width = String(count - 1).length;
  return Array.from({ length: count }, (_, index) => `${name}-${String(index).padStart(width, '0')}`);
}
