/**
 * Ids that a policy mints: `<prefix><kind><number>`, where `kind` ends in a separator (`update#`). A restarted host brings a new
 * prefix, so that no id is minted twice.
 */
import { z } from 'zod';
import { refuse } from '../../errors.ts';
import { idPrefix } from '../../schemas/units.ts';

/** Fields of a state: the current prefix, and the last earlier prefixes, oldest first. */
export const prefixes = { prefix: idPrefix, oldPrefixes: z.array(idPrefix) };

/** The live form of `prefixes`. */
export interface Prefixes {
  prefix: string;
  readonly oldPrefixes: string[];
}

/** Number of earlier prefixes that are kept. */
const mostPrefixes = 64;

/** Makes the id with a number. */
export const mintedId = (prefix: string, kind: string, number: number): string => `${prefix}${kind}${number}`;

// Only minted forms match: `update#07` does not.
const number = /(?:^|\D)(0|[1-9]\d{0,15})$/;

function isUnder(prefix: string, id: string, end: number, kind: string | ((kind: string) => boolean)): boolean {
  if (prefix.length > end || !id.startsWith(prefix)) return false;
  if (typeof kind === 'function') return kind(id.slice(prefix.length, end));
  return prefix.length + kind.length === end && id.startsWith(kind, prefix.length);
}

/**
 * Whether an unknown id may have been minted earlier under a remembered prefix; the numbers in the ids decide, as no list of past
 * ids is kept.
 *
 * @param next - the number that the next id of this kind gets
 * @param kind - the kind of the id, or the possible kinds
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

/** What may know an id: a map, a set, or a memory of ids. */
export interface Known {
  has(id: string): boolean;
}

/**
 * Refuses with `unknown_id` an id that is neither held nor remembered, as far as the policy can know.
 *
 * @param expected - what the id should have been, such as `a request that was opened`
 */
export function checkKnown(path: string, id: string, expected: string, held: Known, remembered: Known): void {
  if (!held.has(id) && !remembered.has(id)) refuse('unknown_id', path, expected, id);
}

/**
 * Declares one kind of ids that a policy mints, such as `slot/`.
 *
 * @param next - the field of the state with the number that the next id gets
 */
export function mintedAs<Next extends string>(kind: string, next: Next) {
  type Minting = Readonly<Prefixes> & Record<Next, number>;
  const was = (state: Minting, id: string): boolean => wasMinted(state, id, state[next], kind);
  return {
    /** Returns the next id, and counts it. */
    mint: (state: Minting): string => mintedId(state.prefix, kind, state[next]++),
    /** Returns the id with a number under the current prefix. */
    of: ({ prefix }: Readonly<Prefixes>, number: number): string => mintedId(prefix, kind, number),
    /** Whether an id may have been minted earlier. */
    was,
    /** Refuses with `unknown_id` an id that is neither held nor minted earlier. */
    check: (state: Minting, path: string, id: string, expected: string, held: Known): void => {
      if (!held.has(id) && !was(state, id)) refuse('unknown_id', path, expected, id);
    },
  };
}

/**
 * Refuses with `unknown_id` an id that was never minted, where all ids end with their number, whatever stands before it.
 *
 * @param next - the number that the next id gets
 */
export function checkMinted(path: string, id: string, next: number): void {
  const digits = number.exec(id)?.[1];
  if (digits === undefined || Number(digits) >= next) refuse('unknown_id', path, 'an id that was minted here', id);
}

/** Refuses with `duplicate_id` a prefix that was used before, as far as the policy remembers it. */
export function checkNewPrefix(
  { prefix, oldPrefixes }: Readonly<Prefixes>,
  { idPrefix }: { readonly idPrefix: string },
): void {
  if (idPrefix !== prefix && !oldPrefixes.includes(idPrefix)) return;
  refuse('duplicate_id', 'idPrefix', 'a prefix that was not used before', idPrefix);
}

/**
 * Replaces the current prefix. The last 64 earlier prefixes are remembered.
 *
 * @returns whether a prefix was forgotten: ids under that prefix are unknown from now on
 */
export function replacePrefix(state: Prefixes, idPrefix: string): boolean {
  state.oldPrefixes.push(state.prefix);
  state.prefix = idPrefix;
  const surplus = state.oldPrefixes.length - mostPrefixes;
  if (surplus <= 0) return false;
  state.oldPrefixes.splice(0, surplus);
  return true;
}
