/** Fields for decisions about faults that tries of different items may share. */
import { z } from 'zod';
import { count, seconds } from './units.ts';

/** Where tries fail together. */
export const faultScope = z
  .enum(['engine', 'environment', 'reward', 'loader', 'prompt'])
  .describe('What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts.');
export const faultId = z
  .string()
  .min(1)
  .max(512)
  .optional()
  .describe(
    'Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node; absent: all of them.',
  );
/** The fields that name a fault domain. */
export const faultDomain = { scope: faultScope, id: faultId };

export const sharedFailures = count.describe('Tries that have failed in this domain, none having succeeded since.');

/** Reason for giving something up without comparing its failures with tries of other items. */
export const notCompared = {
  failures: count.describe('Failures that no success of another has followed.'),
  seconds: seconds.describe('How long it has waited for one, in seconds.'),
  limitSeconds: seconds.describe('How long it waits (`giveUpSeconds`), in seconds.'),
};
