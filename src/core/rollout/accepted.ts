/** What is said of a response that is accepted: where other weights have generated it, they are named (law 17). */
import type { Message } from '../../schemas/messages.ts';

/**
 * Returns the reason of `response.accepted`.
 *
 * @param counts - how many responses of the prompt are held, this one included, and how many it needs
 * @param said - versions of the weights that have generated the response, as the engine has said, ascending
 * @param weightVersion - version of the weights of the round
 * @param believed - versions that the response was believed to have, at least one: more where it was resumed from tokens of
 *   earlier weights
 */
export function acceptedReason(
  counts: { readonly held: number; readonly needed: number },
  said: readonly number[],
  weightVersion: number,
  believed: readonly number[] = [weightVersion],
): Message<'response.accepted'>['reason'] {
  // After a restart at an older version, the believed versions do not ascend.
  const [oldest, newest] = [Math.min(...believed), Math.max(...believed)];
  if (said.every((one) => one >= oldest && one <= newest)) return { code: 'held', ...counts };
  return { code: 'other_weights', ...counts, weightVersions: said.slice(), weightVersion };
}
