/** Decisions: where the layers of a judge are that shares its GPUs with the actor. */
import { z } from 'zod';
import { count, positiveCount, seconds, tokens } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const plannedTokens = positiveCount.describe('Length that the plan before was for, in tokens.');

export const judgePlace = defineDecision(
  'judge.place',
  'command',
  'Lay the layers of the judge out like this, before it is given anything longer than the plan before was for.',
  {
    sequenceTokens: positiveCount.describe('Greatest length that the plan is for, in tokens.'),
    residentLayers: count.describe('Layers that stay on the GPU.'),
    streamedLayers: z.array(count).describe('The other layers, ascending: they pass through buffers from host memory.'),
    prefetchDepth: count.describe('Buffers of one layer each; 0 if no layer is streamed.'),
    mpsShare: z.number().min(0.01).max(1).describe('Share of the SMs for the judge.'),
    memoryBytes: z.number().nonnegative().describe('GPU memory that the judge takes, in bytes.'),
    pipelinedSeconds: seconds.describe('Predicted seconds of a forward pass of that length.'),
  },
  {
    start: {},
    longer_response: { responseTokens: tokens.describe('Tokens of the response that is longer.'), plannedTokens },
    round_planned: {
      longestTokens: tokens.describe('Longest length seen in rounds of this kind, in tokens.'),
      plannedTokens,
    },
  },
);
