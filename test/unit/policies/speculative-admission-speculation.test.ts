/** `speculation: 'auto'`: which factor is tried when, what a factor costs, and which one stays. */
import { describe, expect, test } from 'vitest';
import {
  currentFactor,
  factorCost,
  measure,
  newExploration,
} from '../../../src/policies/speculative-admission/speculation.ts';
import { bothWays, brief, type Rounds, rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const short = (factor: number, seconds: number, deferred = 0) =>
  ({ kind: 'short', factor, seconds, deferred, promptsPerRound: 10 }) as const;
const long = (seconds: number) => ({ kind: 'long', factor: 0, seconds, deferred: 0, promptsPerRound: 10 }) as const;

describe('the cost of a factor', () => {
  test('is its mean seconds, and its share of long rounds: deferred prompts over P0, times their mean seconds', () => {
    const exploration = newExploration();
    measure(exploration, short(1.2, 10, 5));
    measure(exploration, short(1.2, 14, 10));
    expect(factorCost(exploration, 1, 10)).toBe(12);
    measure(exploration, long(40));
    measure(exploration, long(80));
    // (10 + 14 + (5 + 10) ÷ 10 · 60) ÷ 2
    expect(factorCost(exploration, 1, 10)).toBe(57);
    expect(exploration).toStrictEqual({
      rounds: [0, 2, 0, 0],
      seconds: [0, 24, 0, 0],
      deferred: [0, 15, 0, 0],
      longRounds: 2,
      longSeconds: 120,
      chosen: 0,
    });
  });

  test('factors are tried in turn, each as often as the others', () => {
    const exploration = newExploration();
    const tried = Array.from({ length: 6 }, () => {
      const factor = currentFactor(exploration);
      measure(exploration, short(factor, 1));
      return factor;
    });
    expect(tried).toStrictEqual([1.1, 1.2, 1.3, 1.4, 1.1, 1.2]);
  });

  const explore = (seconds: Record<string, number>, deferred: Record<string, number> = {}) => {
    const exploration = newExploration();
    const answers = Array.from({ length: 12 }, () => {
      const factor = currentFactor(exploration);
      return measure(exploration, short(factor, seconds[factor]!, deferred[factor] ?? 0));
    });
    return { exploration, answers };
  };

  test('the cheapest is chosen after three rounds of each, at its cost; from then on nothing is measured', () => {
    const { exploration, answers } = explore({ 1.1: 9, 1.2: 8, 1.3: 6, 1.4: 7 });
    expect(answers).toStrictEqual([...Array.from({ length: 11 }, () => undefined), 6]);
    expect(currentFactor(exploration)).toBe(1.3);
    const before = structuredClone(exploration);
    expect(measure(exploration, short(1.3, 100))).toBeUndefined();
    expect(measure(exploration, long(100))).toBeUndefined();
    expect(exploration).toStrictEqual(before);
  });

  test('of equal ones the smaller', () => {
    expect(explore({ 1.1: 9, 1.2: 6, 1.3: 6, 1.4: 6 }).exploration.chosen).toBe(1.2);
  });

  test('where prompts were deferred, a long round has to be measured first', () => {
    const { exploration, answers } = explore({ 1.1: 9, 1.2: 9, 1.3: 9, 1.4: 8 }, { 1.4: 10 });
    expect(answers.at(-1)).toBeUndefined();
    expect(exploration.chosen).toBe(0);
    // 1.4 costs 8 + 10 ÷ 10 · 20.
    expect(measure(exploration, long(20))).toBe(9);
    expect(exploration.chosen).toBe(1.1);
  });
});

describe.each(bothWays)('rounds that explore, %s', (_how, start) => {
  const begin = (config = {}) => start({ speculation: 'auto', promptsPerRound: 10, responsesPerPrompt: 1, ...config });
  const names = (round: number, count: number) =>
    prompts(...Array.from({ length: count }, (_, index) => `p${round}-${index}`));
  /** Runs a round of ten prompts that takes these seconds. */
  const run = (session: Rounds, seconds: number, kind: 'short' | 'long' = 'short') => {
    const opened = session.open(names(session.rounds, 14), kind);
    session.at += seconds;
    const launches = only(opened, 'request.launch');
    const promptIds = [...new Set(launches.map((one) => one.promptId))].slice(0, 10);
    const all = promptIds.flatMap((id) => session.complete(launches.find((one) => one.promptId === id)!.requestId));
    session.confirm(all);
    return { opened, launches, all };
  };

  test('each says which factor it tries, how many rounds were measured, and of how many', () => {
    const session = begin();
    const told = Array.from({ length: 5 }, () => run(session, 5).opened[0]);
    expect(told[0]).toStrictEqual({
      type: 'speculation.chosen',
      at: 0,
      promptSpeculation: 1.1,
      responseSpeculation: 1.1,
      reason: { code: 'exploring', round: 0, rounds: 12 },
    });
    expect(told.slice(1)).toMatchObject([
      { promptSpeculation: 1.2, responseSpeculation: 1.2, reason: { round: 1, rounds: 12 } },
      { promptSpeculation: 1.3, responseSpeculation: 1.3, reason: { round: 2, rounds: 12 } },
      { promptSpeculation: 1.4, responseSpeculation: 1.4, reason: { round: 3, rounds: 12 } },
      { promptSpeculation: 1.1, responseSpeculation: 1.1, reason: { round: 4, rounds: 12 } },
    ]);
  });

  test('the factor holds for prompts and for responses', () => {
    const session = begin({ responsesPerPrompt: 10 });
    // ceil(1.1 · 10) prompts of ceil(1.1 · 10) responses
    const { launches } = run(session, 1);
    expect(launches).toHaveLength(121);
  });

  test('long rounds try nothing, and their seconds are what deferred prompts cost', () => {
    const session = begin();
    for (let index = 0; index < 12; index += 1) run(session, index % 4 === 2 ? 4 : 5);
    expect(session.state).toMatchObject({
      exploration: { rounds: [3, 3, 3, 3], seconds: [15, 15, 12, 15], deferred: [3, 6, 9, 12], chosen: 0 },
    });
    const { opened, launches, all } = run(session, 10, 'long');
    expect(only(opened, 'speculation.chosen')).toStrictEqual([]);
    expect(launches).toHaveLength(10);
    // 5 + 1 ÷ 10 · 10 is 6, as are 4 + 3 ÷ 10 · 10 = 7 and more for the others: 1.1 it is.
    expect(only(all, 'speculation.chosen')).toStrictEqual([
      {
        type: 'speculation.chosen',
        at: 67,
        promptSpeculation: 1.1,
        responseSpeculation: 1.1,
        reason: { code: 'fixed', secondsPerRound: 6, measuredRounds: 12 },
      },
    ]);
    const next = run(session, 1);
    expect(only(next.opened, 'speculation.chosen')).toStrictEqual([]);
    expect(new Set(next.launches.map((one) => one.promptId)).size).toBe(11);
    expect(only(next.all, 'speculation.chosen')).toStrictEqual([]);
  });

  test('a round that ends without all its prompts teaches nothing', () => {
    const session = begin();
    const opened = session.open(names(0, 2));
    session.at = 3;
    session.tell('source.exhausted');
    session.confirm(session.complete(...['p0-0/0#0', 'p0-1/0#0']));
    expect(opened).toHaveLength(6);
    expect(session.state).toMatchObject({ round: null, exploration: { rounds: [0, 0, 0, 0], chosen: 0 } });
    session.tell('source.reopened');
    session.open(names(1, 14));
    session.tell('round.failed', { roundId: 'r1' });
    expect(session.state).toMatchObject({ round: null, exploration: { rounds: [0, 0, 0, 0], chosen: 0 } });
  });
});

describe('fixed factors', () => {
  test('are 1.25 for prompts and for responses, if nothing else is said, and nothing is explored', () => {
    const session = rounds({
      promptsPerRound: 4,
      responsesPerPrompt: 8,
      promptSpeculation: undefined,
      responseSpeculation: undefined,
    });
    const opened = session.open(prompts('a', 'b', 'c', 'd', 'e', 'f'));
    expect(only(opened, 'request.launch')).toHaveLength(5 * 10);
    expect(brief(opened).filter((one) => one.startsWith('speculation'))).toStrictEqual([]);
  });

  test('one for prompts and one for responses', () => {
    const opened = rounds({ promptSpeculation: 1.5, responseSpeculation: 2 }).open(prompts('a', 'b', 'c'));
    expect(only(opened, 'request.launch')).toHaveLength(3 * 4);
    const other = rounds({ promptSpeculation: 2, responseSpeculation: 1.5 }).open(prompts('a', 'b', 'c', 'd'));
    expect(only(other, 'request.launch')).toHaveLength(4 * 3);
  });
});
