import { describe, expect, test } from 'vitest';
import { speculativeAdmission } from '../../src/policies/speculative-admission/index.ts';
import { checkCost, checkLaws, checkPlannerLaws, plannerLaws } from '../../src/testing/index.ts';
import { rightFinisher, wrongFinishers } from '../support/wrong-finishers.ts';
import { plannerInput, rightPlanner, wrongPlanners } from '../support/wrong-planners.ts';
import { rightPolicy, wrongPolicies } from '../support/wrong-policies.ts';

describe('the laws suite', () => {
  test('passes a right policy', () => {
    checkLaws(rightPolicy, { config: { limit: 3 }, runs: 20, events: 30 });
  });

  test.each(wrongPolicies.filter((one) => one.law !== 10))(
    'law $law fails a policy that $title',
    { timeout: 30_000 },
    ({ law, tested }) => {
      const check = () => checkLaws(tested, { config: { limit: 3 }, runs: 30, events: 30, only: [law] });
      expect(check).toThrow(`breaks law ${law}`);
    },
  );

  test('passes a policy of rounds that says what it waits for', () => {
    checkLaws(rightFinisher, { config: { slots: 2 }, runs: 20, events: 30 });
  });

  test.each(wrongFinishers)('law $law fails a policy of rounds that $title', ({ law, says, tested }) => {
    const check = () => checkLaws(tested, { config: { slots: 2 }, runs: 30, events: 30, only: [law] });
    expect(check).toThrow(new RegExp(`breaks law ${law} .*${says.source}`, 's'));
  });

  test.each([
    [1, /at event \d+ .*:\n {2}(once|as it came): .*\n {2}(again|with the latest time instead): /],
    [4, /at event \d+ .*:\n {2}left alone: .*\n {2}scrambled: /],
    [5, /(at|after) event \d+ .*:\n {2}not restored: .*\n {2}restored: /],
    [6, /at event \d+ .*:\n {2}as it came: .*\n {2}keys of events and snapshots in reverse: /],
  ])('law %d says which of two answers is which', (law, says) => {
    const found = wrongPolicies.filter((one) => one.law === law);
    const messages = found.map(({ tested }) => {
      try {
        checkLaws(tested, { config: { limit: 3 }, runs: 30, events: 30, only: [law] });
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(messages.join('\n\n')).toMatch(says);
  });

  test('law 13 fails a policy that does not say how many ids it mints, and passes it when it says so', () => {
    const config = { promptsPerRound: 3, responsesPerPrompt: 2 };
    const options = { config, runs: 30, events: 30, only: [13] };
    const unsaid = {
      ...speculativeAdmission,
      ledgers: speculativeAdmission.ledgers.map(({ mints: _, ...rest }) => rest),
    };
    expect(() => checkLaws(unsaid, options)).toThrow(/breaks law 13 .*"responsesPerPrompt":32/s);
    checkLaws(speculativeAdmission, options);
  });

  test('law 10 fails a policy that scans what is in flight', () => {
    const crowd = (n: number) => ({
      build: Array.from({ length: n }, (_, index) => ({ type: 'acme/item.added', at: 0, id: `i${index}` })),
      probes: [{ type: 'acme/item.removed', at: 0, id: 'i7' }],
    });
    checkCost(rightPolicy.definition, { limit: 1e9 }, crowd);
    const scanning = wrongPolicies.find((one) => one.law === 10)!.tested.definition;
    expect(() => checkCost(scanning, { limit: 1e9 }, crowd)).toThrow('law 10');
  });

  test('law 10 refuses a crowd that shows nothing', () => {
    const added = (id: string) => ({ type: 'acme/item.added', at: 0, id });
    const crowd = (event: object, probe: object) => () =>
      checkCost(rightPolicy.definition, { limit: 1e9 }, (n) => ({
        build: Array.from({ length: n }, (_, index) => ({ ...added(`i${index}`), ...event })),
        probes: [{ ...added('new'), ...probe }],
      }));
    expect(crowd({}, {})).not.toThrow();
    expect(crowd({ id: 7 }, {})).toThrow(/an event of `build` is refused: id: expected .*"id":7/);
    expect(crowd({}, { type: 'acme/item.lost' })).toThrow(/a probe is refused: not an event of .*item\.lost/);
    expect(crowd({}, { id: 'i7' })).toThrow(/a probe is refused: .*"i7"/);
    const same = () => checkCost(rightPolicy.definition, { limit: 1e9 }, () => ({ build: [added('one')], probes: [] }));
    expect(same).toThrow(/the state does not hold what `build` brings/);
  });
});

describe('the laws of planners', () => {
  test('pass a right planner', () => {
    checkPlannerLaws(rightPlanner, plannerInput);
    expect(plannerLaws.length).toBeGreaterThan(0);
  });

  test.each(wrongPlanners)('fail a planner that $title', ({ definition, says }) => {
    const broken: string[] = [];
    for (const { check } of plannerLaws) {
      try {
        check({ definition, input: plannerInput });
      } catch (error) {
        broken.push((error as Error).message);
      }
    }
    expect(broken.join('\n')).toContain(says);
    expect(() => checkPlannerLaws(definition, plannerInput)).toThrow('breaks a law of planners');
  });

  test('no law is left that none of them breaks', () => {
    const breaks = (law: (typeof plannerLaws)[number]) =>
      wrongPlanners.some(({ definition }) => {
        try {
          law.check({ definition, input: plannerInput });
          return false;
        } catch {
          return true;
        }
      });
    expect(plannerLaws.filter((law) => !breaks(law))).toEqual([]);
  });
});
