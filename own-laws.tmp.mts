import { checkLaws } from '/work/w-c/src/testing/index.ts';
import { shortestFirst, likely } from '/work/w-c/examples/15-own-policy/shortest-first.ts';
console.log(checkLaws({ definition: shortestFirst, arbitrary: likely }, { config: { promptsPerRound: 2, responsesPerPrompt: 2 }, runs: 30, events: 40, seed: 1 }));
