/** Walks and changes JSON values, for checks of laws. */

/** Path from the root of a value to a place in it. */
export type Path = readonly (string | number)[];

/** Returns a deep copy through JSON. */
export const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Changes everything inside a value, as a careless host might do. */
export function scramble(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const holder = value as Record<string, unknown>;
    scramble(holder[key]);
    holder[key] = typeof holder[key] === 'number' ? -12345 : 'scrambled';
  }
  if (Array.isArray(value)) value.length = 0;
}

/** Returns the value with the keys of every object in the opposite order. */
export function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, one]) => [key, reversed(one)]),
  );
}

/** Lists all values inside a value with their paths, without the value itself. */
export function valuePaths(value: unknown, path: Path = []): (readonly [Path, unknown])[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, inner]) => {
    const at = [...path, key];
    return [[at, inner] as const, ...valuePaths(inner, at)];
  });
}

/** Lists the paths of all objects in a value, including the value itself. */
export function objectPaths(value: unknown): Path[] {
  return [[[], value] as const, ...valuePaths(value)].filter(([, inner]) => isObject(inner)).map(([path]) => path);
}

/** Returns a copy with one place replaced; the copy shares all other parts with the value. */
export function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  const holder = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  holder[key] = replaced(holder[key], rest, by);
  return holder;
}
