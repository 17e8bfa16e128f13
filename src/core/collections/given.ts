/** Returns the fields that are not `undefined`: `{ ...given({ ref }) }` has no key `ref` if `ref` is absent. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const found: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key in fields) {
    const value = fields[key];
    // `delete` would slow down this object and every object that is spread from it.
    if (value !== undefined) found[key] = value as Exclude<T[typeof key], undefined>;
  }
  return found;
}
