import { describe, expect, test } from 'vitest';
import { sealDefinition } from '../../src/core/machine/definition.ts';
import { definePolicy, handlersOf, setOf } from '../../src/index.ts';
import { speculativeAdmission } from '../../src/policies/speculative-admission/index.ts';
import { defineDecision, defineEvent, hostRestarted, z } from '../../src/schemas/index.ts';
import {
  type Arbitrary,
  checkCost,
  checkLaws,
  checkPlannerLaws,
  itemsWalked,
  plannerLaws,
} from '../../src/testing/index.ts';
import { unshrunk } from '../support/basics/runs.ts';
import { rightFinisher, wrongFinishers } from '../support/wrong/finishers.ts';
import { plannerInput, rightPlanner, wrongPlanners } from '../support/wrong/planners.ts';
import { rightPolicy, wrongPolicies } from '../support/wrong/policies.ts';

describe('the laws suite', () => {
  test('passes a right policy', () => {
    checkLaws(rightPolicy, { config: { limit: 3 }, runs: 20, events: 30 });
  });

  test.each(wrongPolicies.filter((one) => one.law !== 10))('law $law fails a policy that $title', ({ law, tested }) => {
    const check = () => checkLaws(tested, { config: { limit: 3 }, runs: 30, events: 30, only: [law] });
    expect(check).toThrow(`breaks law ${law}`);
  });

  test('passes a policy of rounds that says what it waits for', () => {
    checkLaws(rightFinisher, { config: { slots: 2 }, runs: 20, events: 30 });
  });

  test.each(wrongFinishers)('law $law fails a policy of rounds that $title', ({ law, says, tested }) => {
    const check = () => checkLaws(tested, { config: { slots: 2 }, runs: 30, events: 30, only: [law] });
    expect(() => unshrunk(check)).toThrow(new RegExp(`breaks law ${law} .*${says.source}`, 's'));
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
    const unsaid = sealDefinition<typeof speculativeAdmission>({
      ...speculativeAdmission,
      ledgers: speculativeAdmission.ledgers.map(({ mints: _, ...rest }) => rest),
    });
    expect(() => checkLaws(unsaid, options)).toThrow(/breaks law 13 .*"responsesPerPrompt":32/s);
    checkLaws(speculativeAdmission, options);
  });

  test('law 12 says which commands no event answers, and where to say it', () => {
    const errands = (message: 'acme/errand.run' | 'errand.run') => {
      const id = z.string().min(1).describe('Id of the errand.');
      const wanted = defineEvent('acme/errand.wanted', 'An errand is to be run.', { id });
      const over = defineEvent('acme/errand.done', 'An errand was run.', { id });
      const run = defineDecision(message, 'command', 'Run this errand.', { id }, { wanted: {}, host_restarted: {} });
      const left = defineDecision('acme/errand.left', 'notice', 'An errand is over.', { id }, { done: {} });
      // biome-ignore lint/suspicious/noExplicitAny: one of two messages
      const on = handlersOf<{ open: Set<string> }, any>();
      const say =
        (code: string) =>
        (one: string, { at, emit }: { at: number; emit: (decision: never) => void }) =>
          emit({ type: message, at, id: one, reason: { code } } as never);
      const definition = definePolicy({
        id: 'acme/errands',
        version: 1,
        summary: 'Runs errands.',
        source: 'a test',
        config: z.strictObject({}),
        state: z.strictObject({ open: setOf(id) }),
        begin: () => ({ open: [] }),
        handlers: [
          on(wanted, ({ open }, { id: one }, ctx) => {
            if (!open.has(one)) say('wanted')(one, ctx as never);
            open.add(one);
          }),
          on(over, ({ open }, { id: one }, { at, emit }) => {
            if (open.delete(one)) emit({ type: 'acme/errand.left', at, id: one, reason: { code: 'done' } });
          }),
          on(hostRestarted, ({ open }, _event, ctx) => {
            for (const one of open) say('host_restarted')(one, ctx as never);
          }),
        ],
        decisions: [run, left],
        ledgers: [
          { name: 'errands', entered: () => [], left: () => [], held: (saved: { open: string[] }) => saved.open },
        ],
      } as never);
      const arbitrary: Arbitrary = (_state, choices) => ({
        type: 'acme/errand.wanted',
        at: 0,
        id: `e${choices.below(9)}`,
      });
      return { definition, arbitrary };
    };
    const options = { config: {}, runs: 10, events: 10, only: [12] };
    const says = 'No event is known that answers';
    expect(() => checkLaws(errands('acme/errand.run'), options)).toThrow(
      `${says} acme/errand.run: say which in \`hints.answers\``,
    );
    expect(() => checkLaws(errands('errand.run'), options)).toThrow(
      `${says} errand.run: say which in src/testing/hosts/contract.ts`,
    );
    checkLaws(errands('acme/errand.run'), {
      ...options,
      hints: { answers: { 'acme/errand.run': 'acme/errand.done' } },
    });
  });

  test('law 10 counts what is taken of a map, a set or a list, not all that is in it', () => {
    const map = new Map(Array.from({ length: 100 }, (_, index) => [index, index]));
    const set = new Set(map.keys());
    const list = [...set];
    expect(itemsWalked(() => void [...map, ...set.values(), ...list.entries()])).toBe(300);
    expect(itemsWalked(() => void Array.from(map.values()))).toBe(100);
    expect(itemsWalked(() => set.forEach(() => {}))).toBe(100);
    const first = () => {
      const [one] = set;
      for (const key of map.keys()) if (key === one) return;
    };
    expect(itemsWalked(first)).toBe(2);
    expect(itemsWalked(() => void map.values().next())).toBe(1);
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
