/** Decisions: which engine runs a turn, which programs run at all, and whose cache is kept. */
import { z } from 'zod';
import { count, engineId, requestId, seconds, tokens } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const estimate = {
  seconds: seconds.describe('Expected time until the turn would have finished there, in seconds.'),
  cachedTokens: tokens.describe('Tokens of its context that the engine is believed to have cached.'),
};
const budget = {
  usedTokens: tokens.describe('Tokens of the programs that run on the engine, this one included.'),
  budgetTokens: tokens.describe('Tokens that they may have.'),
};

export const turnRoute = defineDecision(
  'turn.route',
  'command',
  'Run the turn of this program on this engine.',
  { requestId, engineId },
  {
    first: estimate,
    cached: estimate,
    moved: {
      ...estimate,
      stayingSeconds: seconds.describe('Expected time on the engine of its last turn, in seconds.'),
    },
    engine_lost: estimate,
    host_restarted: estimate,
  },
);
export const programPause = defineDecision(
  'program.pause',
  'command',
  'Keep this program from engines until it is resumed; its cache may be freed.',
  { requestId },
  { over_budget: { engineId, ...budget } },
);
export const programResume = defineDecision(
  'program.resume',
  'command',
  'This program runs again: its next turn is routed when it asks for it, or now if it has asked.',
  { requestId },
  {
    fits: { engineId, ...budget, pausedSeconds: seconds.describe('How long it was paused, in seconds.') },
    paused_longest: {
      pausedSeconds: seconds.describe('How long it was paused, in seconds.'),
      limitSeconds: seconds.describe('How long a program may be paused, in seconds.'),
    },
  },
);
export const kvRetain = defineDecision(
  'kv.retain',
  'command',
  'Keep the cache of this program on this engine for so long after its tool has started.',
  {
    requestId,
    engineId,
    seconds: z.number().nonnegative().describe('For how long, in seconds; 0: it may be freed at once.'),
  },
  {
    tool_time: {
      answers: count.describe('Answers of the tool that were seen.'),
      expectedSeconds: seconds.describe('How long the tool is expected to take, in seconds.'),
    },
  },
);
export const programLate = defineDecision(
  'program.late',
  'notice',
  'A report about a program that is over: nothing changes.',
  { requestId },
  { already_ended: {} },
);
