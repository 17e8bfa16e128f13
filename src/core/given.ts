/** Optional fields that have something to say: `{ ...given({ ref }) }` has no `ref` where it is `undefined`. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // A copy: an object from which a key was deleted is slow to read.
  const some: { [K in keyof T]?: T[K] } = {};
  for (const key in fields) if (fields[key] !== undefined) some[key] = fields[key];
  return some as never;
}
