/** Optional fields that have something to say: `{ ...given({ ref }) }` has no `ref` where it is `undefined`. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const found: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key in fields) {
    const value = fields[key];
    // Not deleted from what was given: that would make it, and what it is spread into, slow.
    if (value !== undefined) found[key] = value as Exclude<T[typeof key], undefined>;
  }
  return found;
}
