/** Prefixes of minted ids: a host that restarts brings a new one, so that no id comes twice. */
import { PolicyError } from '../errors.ts';

/** How many prefixes of before are remembered. */
const mostPrefixes = 64;

/** Refuses a prefix that was used before, as far as that is remembered, with `duplicate_id`. */
export function checkNewPrefix(
  { prefix, oldPrefixes }: { readonly prefix: string; readonly oldPrefixes: readonly string[] },
  idPrefix: string,
): void {
  if (idPrefix !== prefix && !oldPrefixes.includes(idPrefix)) return;
  throw new PolicyError('duplicate_id', {
    expected: 'a prefix that was not used before',
    got: idPrefix,
    path: 'idPrefix',
  });
}

/**
 * Puts a new prefix in the place of the one in use, which is remembered; of those before the last 64 stay.
 *
 * @returns whether one was forgotten: ids under it are unknown from now on
 */
export function replacePrefix(state: { prefix: string; readonly oldPrefixes: string[] }, idPrefix: string): boolean {
  state.oldPrefixes.push(state.prefix);
  state.prefix = idPrefix;
  const surplus = state.oldPrefixes.length - mostPrefixes;
  if (surplus <= 0) return false;
  state.oldPrefixes.splice(0, surplus);
  return true;
}
