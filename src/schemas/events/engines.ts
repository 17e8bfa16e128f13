/** Events: inference engines join and leave. */
import { z } from 'zod';
import { placedEngines } from '../gpus.ts';
import { count, engineId, tokenSum } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const engineAdded = defineEvent('engine.added', 'An inference engine takes requests. May be repeated.', {
  engineId,
});
export const engineDrained = defineEvent('engine.drained', 'An engine finishes what it has and takes nothing new.', {
  engineId,
});
export const engineLost = defineEvent(
  'engine.lost',
  'An engine is gone, with all requests that ran on it: they need no reports of their own.',
  {
    engineId,
  },
);
export const enginesChanged = defineEvent(
  'engines.changed',
  'From now on these engines take requests, and no others: those that are not named finish what they have.',
  {
    engineIds: z
      .array(engineId)
      .min(1)
      .refine((ids) => new Set(ids).size === ids.length, 'expected each engine once')
      .describe('Every engine that takes requests, each once.'),
  },
);
export const enginesPlaced = defineEvent(
  'engines.placed',
  'From now on these engines roll out, all of them up, on these GPUs; what was said of engines before is replaced.',
  { engines: placedEngines.min(1).describe('Every engine that rolls out, each once.') },
);
export const engineReported = defineEvent(
  'engine.reported',
  'How much an engine has to do, as it tells itself, such as in its metrics.',
  {
    engineId,
    kvCapacityTokens: tokenSum.describe('Tokens that fit its KV cache.'),
    kvUsedTokens: tokenSum.describe('Tokens of running requests in its KV cache.'),
    running: count.describe('Requests that run.'),
    waiting: count.describe('Requests that wait for their first token.'),
    preemptions: count.describe('Requests that were preempted since the engine started.'),
    cachedTokens: tokenSum.optional().describe('Tokens of no running request that its prefix cache keeps.'),
  },
);
