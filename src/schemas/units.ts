/** Ids, units and bounds, from which events, decisions and configurations are built. */
import { z } from 'zod';

/** Seconds on one clock of the session: a finite number >= 0. */
export const seconds = z.number().nonnegative().describe('Seconds.');
/** A duration in seconds: a finite number > 0. */
export const positiveSeconds = z.number().positive().describe('Seconds, > 0.');
/** A whole number >= 0. */
export const count = z.int().nonnegative();
/** A whole number >= 1. */
export const positiveCount = z.int().positive();
/**
 * Most tokens of a prompt or of a response: with this limit, sums over all of them stay exact, and predictions still tell single
 * tokens apart.
 */
export const mostTokens = 1e9;
/** A number of tokens of one prompt or response, 0 to 1e9. */
export const tokens = z.int().nonnegative().max(mostTokens).describe('Tokens.');
/** A number of tokens in total, such as for a group or a KV cache, 0 to 1e12. */
export const tokenSum = z.int().nonnegative().max(1e12).describe('Tokens.');
/** The version of the actor's weights: a whole number that never decreases. */
export const weightVersion = z.int().nonnegative().max(4e15).describe('Version of the actor weights; never decreases.');
/** Largest magnitude of a reward: its square must stay within the range of a float64. */
export const largestReward = 1e100;
/** A raw reward. */
export const reward = z.number().min(-largestReward).max(largestReward).describe('Raw reward.');
/** An over-provisioning factor, 1 (none) to 16. */
export const speculationFactor = z.number().min(1).max(16);

const loneSurrogate = /\p{Surrogate}/u;
/** Whether a text is well-formed: half of a UTF-16 surrogate pair is no character, and has no UTF-8. */
export const isWellFormed = (text: string): boolean => !loneSurrogate.test(text);
const unpaired = 'expected a text without a lone surrogate (half of a character)';
/** A text that names something, with at most so many UTF-16 code units. */
export const idText = (most: number) => z.string().min(1).max(most).refine(isWellFormed, unpaired);

const id = idText(512);
/** A prompt's id, given by the host. */
export const promptId = id.describe('Id of the prompt, given by the host.');
/** A round's id, given by the host, new for every round. */
export const roundId = id.describe('Id of the rollout round, given by the host; new for every round.');
/** A request's id, minted by the policy: `<idPrefix><prompt>/<index>#<attempt>`. */
export const requestId = idText(1200).describe('Id of the request, minted by the policy.');
/** An inference engine's id (one data-parallel replica), given by the host. */
export const engineId = id.describe('Id of the inference engine, given by the host.');
/** A sandbox run's id, given by the host. */
export const runId = id.describe('Id of the run, given by the host; new for every run.');
/** A test case's id, given by the host. */
export const testCaseId = id.describe('Id of the test case, given by the host; the same whenever it is run.');
/** An environment's id, minted by the policy. */
export const slotId = id.describe('Id of the environment, minted by the policy.');
/** A kind of environments, such as an image of a sandbox. */
export const environment = id.describe('Kind of the environment, such as the image of a sandbox.');
/** A server's id, given by the host. */
export const serverId = id.describe('Id of the server, given by the host.');
/** A query's id, minted by the policy. */
export const queryId = id.describe('Id of the query, minted by the policy.');
/** A release's id, minted by the policy. */
export const releaseId = id.describe('Id of the release of GPUs, minted by the policy.');
/** A timer's id, minted by the policy. */
export const timerId = id.describe('Id of the timer, minted by the policy.');
/** Prefix of every request id; a restarted host gives a new prefix. */
export const idPrefix = z
  .string()
  .max(128)
  .refine(isWellFormed, unpaired)
  .describe('Prefix of every request id; new after each restart of the host.');
/** A data domain or task, such as `math`. */
export const domain = id.describe('Data domain of the prompt, such as `math` or `code`.');
/** Kind of a rollout round: `short` speculates, `long` does not. */
export const roundKind = z.enum(['short', 'long']).describe('`short`: with speculation; `long`: without.');
/** Free text of a report. A long text is cut, with a mark at its end, and never refused: the report counts whatever its text. */
export const freeText = (mostCharacters: number) =>
  z.string().overwrite((text) => {
    if (text.length <= mostCharacters) return text;
    const start = text.slice(0, mostCharacters - 1);
    // No character is cut in two.
    return `${/[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start}…`;
  });
/** Message of an error, as text. */
export const message = freeText(2000)
  .optional()
  .describe('What went wrong, for operators: a text of any length, of which 2,000 characters are kept.');
const encoder = new TextEncoder();
/**
 * Whether a text has at most 256 bytes. A text of up to 85 characters need not be counted, since each character has at most three
 * bytes.
 */
function fitsRef(text: string): boolean {
  return text.length <= 85 || encoder.encode(text).length <= 256;
}
/** An opaque reference of the host, which the policy stores and returns: at most 256 bytes of UTF-8. */
export const ref = z
  .string()
  .max(256)
  .refine(fitsRef, 'expected at most 256 bytes of UTF-8')
  .describe('Opaque reference of the host, at most 256 bytes; echoed.');
