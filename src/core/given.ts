/** Optional fields that have something to say: `{ ...given({ ref }) }` has no `ref` where it is `undefined`. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  for (const key in fields) if (fields[key] === undefined) delete fields[key];
  return fields as never;
}
