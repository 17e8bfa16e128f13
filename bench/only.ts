/** `--only`: some of the definitions, by their ids with commas between them. */
import { PolicyError } from '../src/errors.ts';

/** The ids that an option names. */
export const list = (text: string): string[] => text.split(',').filter((one) => one !== '');

/** The definitions that were asked for; all of them if none were named. Throws `invalid_input` for an id that is not there. */
export function chosen<T extends { readonly id: string }>(
  all: readonly T[],
  only: readonly string[] | undefined,
): readonly T[] {
  const known = all.map((one) => one.id);
  const unknown = only?.find((id) => !known.includes(id));
  if (unknown !== undefined)
    throw new PolicyError('invalid_input', { expected: `one of ${known.join(', ')}`, got: unknown, path: '--only' });
  return all.filter((one) => only?.includes(one.id) ?? true);
}
