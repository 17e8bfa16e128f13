/** Decisions: the engine of each turn, the programs that run at all, and the programs whose cache is kept. */
import { z } from 'zod';
import { sharedFailures } from '../faults.ts';
import { count, engineId, requestId, seconds, tokenSum, tokens } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const estimate = {
  seconds: seconds.describe(
    'Expected cost there, in seconds of turns: until it would have finished, and by which it would delay those that run there.',
  ),
  cachedTokens: tokenSum.describe('Tokens of its context that the engine is believed to have cached.'),
  waitedSeconds: seconds.describe('How long the program waited for room, in seconds.'),
};
const budget = {
  usedTokens: tokenSum.describe('Tokens of the programs that run on the engine, this one included.'),
  budgetTokens: tokenSum.describe('Tokens that they may have.'),
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
      stayingSeconds: seconds
        .optional()
        .describe('Expected cost on the engine of its last turn, in seconds; absent if that takes no turns.'),
    },
    engine_lost: estimate,
    host_restarted: estimate,
    probe: {
      ...estimate,
      failures: sharedFailures,
      pauseSeconds: seconds.describe('Time since the single turn before, in seconds.'),
    },
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
      expectedSeconds: seconds
        .optional()
        .describe('How long the tool is expected to take, in seconds, if anything is known of it.'),
    },
  },
);
export const engineFreed = defineDecision(
  'engine.freed',
  'notice',
  'The programs that are left need this engine no more, and it runs no turn: a host that sends `engine.drained` may use it for something else. It holds until a `turn.route` names the engine.',
  { engineId },
  {
    packed: {
      programs: count.describe('Programs that are left.'),
      engines: count.describe('Engines that go on.'),
      ...budget,
    },
  },
);
export const programAwaited = defineDecision(
  'program.awaited',
  'notice',
  'After a restart of the host: this program goes on where its last finished turn has ended, and its next report is awaited.',
  { requestId },
  {
    host_restarted: {
      turns: count.describe('Turns that it has finished.'),
      contextTokens: tokenSum.describe('Tokens of its context.'),
      tool: z.string().optional().describe('The tool that it waits for, if it does.'),
    },
  },
);
export const programEnded = defineDecision(
  'program.ended',
  'notice',
  'A program was closed: nothing of it is kept.',
  { requestId, tokens: tokens.describe('Tokens that it has generated, as far as was reported.') },
  {
    closed: {
      turns: count.describe('Turns that it has finished.'),
      moves: count.describe('How often a turn ran on another engine than the one before.'),
      pausedSeconds: seconds.describe('How long it was paused, in seconds.'),
    },
  },
  { left: { programs: (one) => [one.requestId] } },
);
export const programLate = defineDecision(
  'program.late',
  'notice',
  'A report about a program that is over, or about a turn or a tool that is not running: nothing changes.',
  { requestId },
  { already_ended: {}, out_of_turn: {} },
);
