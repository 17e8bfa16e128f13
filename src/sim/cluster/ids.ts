/** Ids of things that are counted. */

/** Returns ids with numbers of one width, so that their order is that of the numbers. */
export function numbered(name: string, count: number): string[] {
  const width = String(count - 1).length;
  return Array.from({ length: count }, (_, index) => `${name}-${String(index).padStart(width, '0')}`);
}
