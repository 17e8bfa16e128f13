/**
 * Ids that a policy mints: `<prefix><kind><number>`, where `kind` ends in what stands before the number (`update#`). A
 * host that restarts brings a new prefix, so that none comes twice.
 */
import { z } from 'zod';
import { refuse } from '../errors.ts';
import { idPrefix } from '../schemas/units.ts';

/** Fields of a state: the prefix that is in use, and the last of those before it, oldest first. */
export const prefixes = { prefix: idPrefix, oldPrefixes: z.array(idPrefix) };

/** The same, live. */
export interface Prefixes {
  prefix: string;
  readonly oldPrefixes: string[];
}

/** Earlier prefixes that are remembered. */
const mostPrefixes = 64;

/** The id with a number. */
export const mintedId = (prefix: string, kind: string, number: number): string => `${prefix}${kind}${number}`;

// As it is minted: `update#07` never was.
const number = /(?:^|\D)(0|[1-9]\d{0,15})$/;

function isUnder(prefix: string, id: string, end: number, kind: string | ((kind: string) => boolean)): boolean {
  if (prefix.length > end || !id.startsWith(prefix)) return false;
  if (typeof kind === 'function') return kind(id.slice(prefix.length, end));
  return prefix.length + kind.length === end && id.startsWith(kind, prefix.length);
}

/**
 * Whether an id that is not known can have been minted earlier, under a prefix that is remembered; no list of past ids is
 * kept.
 *
 * @param next - the number of the next id of its kind
 * @param kind - or which kinds there are
 */
export function wasMinted(
  { prefix, oldPrefixes }: Readonly<Prefixes>,
  id: string,
  next: number,
  kind: string | ((kind: string) => boolean),
): boolean {
  const digits = number.exec(id)?.[1];
  if (digits === undefined || Number(digits) >= next) return false;
  const end = id.length - digits.length;
  return isUnder(prefix, id, end, kind) || oldPrefixes.some((one) => isUnder(one, id, end, kind));
}

/** Refuses a prefix that was used before, as far as that is remembered, with `duplicate_id`. */
export function checkNewPrefix(
  { prefix, oldPrefixes }: Readonly<Prefixes>,
  { idPrefix }: { readonly idPrefix: string },
): void {
  if (idPrefix !== prefix && !oldPrefixes.includes(idPrefix)) return;
  refuse('duplicate_id', 'idPrefix', 'a prefix that was not used before', idPrefix);
}

/**
 * Puts a new prefix in the place of the one in use, which is remembered; of those before the last 64 stay.
 *
 * @returns whether one was forgotten: ids under it are unknown from now on
 */
export function replacePrefix(state: Prefixes, idPrefix: string): boolean {
  state.oldPrefixes.push(state.prefix);
  state.prefix = idPrefix;
  const surplus = state.oldPrefixes.length - mostPrefixes;
  if (surplus <= 0) return false;
  state.oldPrefixes.splice(0, surplus);
  return true;
}
