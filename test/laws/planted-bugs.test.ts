/** The property kit finds bugs that were planted into our own policies, and finds nothing without them. */
import { expect, test } from 'vitest';
import { longPromptQueue, speculativeAdmission } from '../../src/index.ts';
import { checkConservation, checkCost, checkLaws } from '../../src/testing/index.ts';
import { times } from '../support/basics/runs.ts';
import { type PlantedBug, plantedBugs, scanning } from '../support/wrong/planted-bugs.ts';

const options = { limitSeconds: 240, seed: 11 };

type Checked = Pick<PlantedBug, 'definition' | 'config'>;

/** What a check of the kit says. */
function messageOf(check: () => void): string {
  try {
    check();
    return 'nothing was found';
  } catch (error) {
    return (error as Error).message;
  }
}
const byLaws = ({ definition, config }: Checked, runs: number, only?: readonly number[]) =>
  checkLaws(definition, { config, ...options, runs, ...(only === undefined ? {} : { only }) });
const byHost = ({ definition, config }: Checked, runs: number) =>
  checkConservation(definition, { config, ...options, runs });

test.each(plantedBugs)('$title: is found, by name and with a small run', (bug) => {
  const { foundBy } = bug;
  const message = messageOf(() => (foundBy === 'conservation' ? byHost(bug, 30) : byLaws(bug, 30, [foundBy])));
  expect(message).toContain(bug.foundBy === 'conservation' ? 'breaks conservation' : `breaks law ${bug.foundBy} (`);
  expect(message).toContain(bug.says);
  const events = Number(/The run \((\d+) events/.exec(message)?.[1]);
  expect(events).toBeGreaterThan(0);
  expect(events).toBeLessThanOrEqual(bug.foundBy === 'conservation' ? 20 : 10);
});

test.each(
  plantedBugs.filter((one, index) => plantedBugs.findIndex(({ original }) => original === one.original) === index),
)('nothing is found in $original.id itself', ({ original, config }) => {
  const right = { definition: original, config };
  const message = messageOf(() => {
    byLaws(right, times(30));
    if (original.id === 'speculative-admission') byHost(right, times(30));
  });
  expect(message).toBe('nothing was found');
});

test('a scan of all in flight is found by counting', () => {
  const config = { promptsPerRound: 100_000, responsesPerPrompt: 2, promptSpeculation: 1, responseSpeculation: 1 };
  const crowd = (n: number) => {
    const prompts = Array.from({ length: n / 2 }, (_, index) => ({ promptId: `p${index}` }));
    const opened = { type: 'round.opened', at: 0, roundId: 'r', kind: 'short', weightVersion: 0, prompts };
    const completed = { type: 'response.completed', at: 1, requestId: 'p7/0#0', tokens: 5 };
    return { build: [opened], probes: [completed] };
  };
  checkCost(speculativeAdmission, config, crowd);
  expect(() => checkCost(scanning, config, crowd)).toThrow('law 10, cost: response.completed walks over');
});

test('a policy that admits no prompts is not for the model of the host', () => {
  const config = { promptsPerRound: 2 };
  expect(() => checkConservation(longPromptQueue, { config })).toThrow('long-prompt-queue does not take');
});
