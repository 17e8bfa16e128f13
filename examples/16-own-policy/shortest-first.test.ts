/** The laws of a policy, in small and in larger rounds. */
import { test } from 'node:test';
import { checkLaws } from 'rollflex/testing';
import { likely, shortestFirst } from './shortest-first.ts';

for (const [promptsPerRound, responsesPerPrompt] of [
  [1, 1],
  [4, 2],
] as const) {
  test(`keeps the laws with ${promptsPerRound} prompts of ${responsesPerPrompt} responses`, () => {
    checkLaws(
      { definition: shortestFirst, arbitrary: likely },
      { config: { promptsPerRound, responsesPerPrompt }, runs: 5, events: 30, seed: 2 },
    );
  });
}
