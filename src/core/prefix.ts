/** Prefixes of minted ids: a host that restarts brings a new one, so that no id comes twice. */
import { PolicyError } from '../errors.ts';

/** Refuses a prefix that was used before, with `duplicate_id`. */
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
