/** The invariants of draft-budget, by their numbers in its README. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { draftBudget, runPlanner } from '../../src/index.ts';
import type { DraftBudgetInput, DraftBudgetPlan } from '../../src/planners/draft-budget/index.ts';
import { met, runs } from '../support/basics/runs.ts';

const share = fc.integer({ min: 0, max: 1000 }).map((one) => one / 1000);
const cost = (most: number) => fc.integer({ min: 0, max: 1000 }).map((one) => (one * most) / 1000);

/** Counts at positions, as an engine could report them. */
const seen = fc
  .array(fc.record({ offered: share, accepted: share }), { maxLength: 5 })
  .chain((shares) => fc.nat({ max: 500 }).map((drafts) => ({ shares, drafts })))
  .map(({ shares, drafts }) => {
    let before = { offered: drafts, accepted: drafts };
    return shares.map(({ offered, accepted }) => {
      const now = Math.floor(before.offered * offered ** 0.3);
      before = { offered: now, accepted: Math.floor(Math.min(now, before.accepted) * accepted ** 0.5) };
      return before;
    });
  });

/** Step times that rise, fall and bend as measurements do, or those of a roofline. */
const passSeconds = (least: number) =>
  fc.oneof(
    fc
      .array(fc.record({ more: fc.integer({ min: 1, max: 9 }), seconds: fc.integer({ min: 1, max: 1000 }) }), {
        minLength: 1,
        maxLength: 6,
      })
      .map((points) => {
        let tokens = least - 1;
        return points.map(({ more, seconds }) => {
          tokens += more;
          return { tokens, seconds: seconds / 1000 };
        });
      }),
    fc.record({ knee: fc.integer({ min: 1, max: 20 }), bound: cost(1) }).map(({ knee, bound }) => {
      const flat = bound + 0.01;
      return [
        { tokens: knee, seconds: flat },
        { tokens: knee + 30, seconds: flat * (1 + 30 / knee) },
      ];
    }),
  );

const inputs = (perSequence: boolean, most: { groups: number; sequences: number; depth: number }) =>
  fc
    .array(
      fc.record(
        {
          sequences: fc.integer({ min: 1, max: most.sequences }),
          remainingTokens: fc.integer({ min: 1, max: 6 }),
          weight: fc.constantFrom(0, 0.5, 1, 1, 3),
        },
        { requiredKeys: ['sequences'] },
      ),
      { minLength: 1, maxLength: most.groups },
    )
    .chain((groups) =>
      fc.record({
        groups: fc.constant(groups),
        seen,
        prior: fc.record({ acceptance: share, tokens: fc.constantFrom(0.5, 5, 100) }),
        passSeconds: passSeconds(groups.reduce((sum, { sequences }) => sum + sequences, 0)),
        drafter: fc.record({ stepSeconds: cost(0.1), passSeconds: cost(0.2), secondsPerToken: cost(0.02) }),
        maxDraftTokens: fc.integer({ min: 0, max: most.depth }),
        perSequence: fc.constant(perSequence),
        margin: fc.constantFrom(0, 0, 0.02, 0.3),
      }),
    )
    .filter(
      ({ groups, passSeconds }) => groups.reduce((sum, one) => sum + one.sequences, 0) <= passSeconds.at(-1)!.tokens,
    );

/** Tokens of a step in expectation: the sum over how many are accepted, one token more than that, no more than remain. */
function expected(budget: number, acceptance: readonly number[], remaining = Infinity): number {
  let sum = 0;
  for (let accepted = 0; accepted <= budget; accepted += 1) {
    const atLeast = accepted === 0 ? 1 : acceptance[accepted - 1]!;
    const more = accepted === budget ? 0 : acceptance[accepted]!;
    sum += (atLeast - more) * Math.min(accepted + 1, remaining);
  }
  return sum;
}

/** The same step by hand: weighted tokens, tokens, and seconds; infinite if it is larger than what was measured. */
function stepOf(input: DraftBudgetInput, budgets: readonly number[], acceptance: readonly number[]) {
  const all = input.groups.flatMap(({ sequences, ...rest }) => Array.from({ length: sequences }, () => rest));
  const drafted = budgets.reduce((sum, one) => sum + one, 0);
  const tokens = all.length + drafted;
  const after = input.passSeconds.findIndex((point) => point.tokens >= tokens);
  if (after < 0) return { worth: 0, tokens: 0, seconds: Infinity };
  const [low, high] = [input.passSeconds[after - 1], input.passSeconds[after]!];
  const between =
    low && low.seconds + ((high.seconds - low.seconds) * (tokens - low.tokens)) / (high.tokens - low.tokens);
  const { stepSeconds = 0, passSeconds, secondsPerToken = 0 } = input.drafter;
  const drafting = stepSeconds + Math.max(...budgets) * passSeconds + drafted * secondsPerToken;
  const gains = all.map(({ remainingTokens }, at) => expected(budgets[at]!, acceptance, remainingTokens));
  return {
    worth: gains.reduce((sum, one, at) => sum + one * (all[at]!.weight ?? 1), 0),
    tokens: gains.reduce((sum, one) => sum + one, 0),
    seconds: (between ?? high.seconds) + (drafted > 0 ? drafting : 0),
  };
}

const budgetsOf = (input: DraftBudgetInput, { groups }: DraftBudgetPlan) =>
  groups.flatMap(({ draftTokens, deeper }, at) =>
    Array.from({ length: input.groups[at]!.sequences }, (_, index) => draftTokens + (index < deeper ? 1 : 0)),
  );
const sequencesOf = ({ groups }: DraftBudgetInput) => groups.reduce((sum, { sequences }) => sum + sequences, 0);

/** Every way to give each of n sequences 0 to `most` tokens. */
function* assignments(n: number, most: number): Generator<number[]> {
  if (n === 0) yield [];
  else for (const rest of assignments(n - 1, most)) for (let own = 0; own <= most; own += 1) yield [own, ...rest];
}

/** Whether a token is drafted that adds nothing to the worth: larger steps that were measured as faster ones would pay for it. */
const isWasteful = (input: DraftBudgetInput, budgets: readonly number[], acceptance: readonly number[]) => {
  const all = input.groups.flatMap((group) => Array.from({ length: group.sequences }, () => group));
  return budgets.some((own, at) => {
    const { remainingTokens = Infinity, weight = 1 } = all[at]!;
    return own > 0 && (own >= remainingTokens || weight === 0 || acceptance[own - 1] === 0);
  });
};

/** @param all - whether `others` are all that the planner chooses from */
function check(input: DraftBudgetInput, others: Iterable<readonly number[]>, all = true): DraftBudgetPlan {
  const plan = runPlanner(draftBudget, input);
  const budgets = budgetsOf(input, plan);
  const own = stepOf(input, budgets, plan.acceptance);
  const none = stepOf(
    input,
    budgets.map(() => 0),
    plan.acceptance,
  );
  // 1
  expect(plan.expectedTokens).toBeCloseTo(own.tokens, 9);
  expect(plan.stepSeconds).toBeCloseTo(own.seconds, 9);
  expect(plan.passTokens).toBe(budgets.length + budgets.reduce((sum, one) => sum + one, 0));
  expect(plan.draftTokens).toBe(Math.max(...budgets));
  if (none.worth > 0) expect(plan.speedup).toBeCloseTo((own.worth * none.seconds) / (none.worth * own.seconds), 9);
  // 2, 3
  let best = none.worth / none.seconds;
  for (const one of others) {
    if (input.perSequence === true && isWasteful(input, one, plan.acceptance)) continue;
    const other = stepOf(input, one, plan.acceptance);
    best = Math.max(best, other.worth / other.seconds);
  }
  const gain = (best * none.seconds) / none.worth - 1;
  const { margin = 0.02 } = input;
  if (gain > margin + 1e-9) expect(own.worth / own.seconds).toBeGreaterThanOrEqual(best * (1 - 1e-9));
  // 4
  if (all && !(gain >= margin - 1e-9)) expect(plan.draftTokens).toBe(0);
  expect(own.worth / own.seconds).toBeGreaterThanOrEqual((none.worth / none.seconds) * (1 - 1e-9));
  return plan;
}

test('1, 2, 4: one budget for all: no other number of tokens is faster, and none is drafted below the margin', () => {
  let drafting = 0;
  fc.assert(
    fc.property(inputs(false, { groups: 3, sequences: 12, depth: 8 }), (input) => {
      const all = Array.from(
        { length: input.maxDraftTokens },
        (_, at) => Array(sequencesOf(input)).fill(at + 1) as number[],
      );
      if (check(input, all).draftTokens > 0) drafting += 1;
    }),
    runs(1500),
  );
  expect(drafting).toBeGreaterThanOrEqual(met(100));
});

test('1, 3, 4: a budget for each sequence: no other assignment is faster, of all there are', () => {
  let split = 0;
  fc.assert(
    fc.property(inputs(true, { groups: 3, sequences: 2, depth: 4 }), (input) => {
      const n = sequencesOf(input);
      const depth = n > 4 ? Math.min(2, input.maxDraftTokens) : input.maxDraftTokens;
      const plan = check(input, assignments(n, depth), depth === input.maxDraftTokens);
      if (plan.groups.some(({ deeper }) => deeper > 0)) split += 1;
    }),
    runs(1000),
  );
  expect(split).toBeGreaterThanOrEqual(met(10));
});

test('2: the same on a grid of batches and acceptance, on the roofline of a 7B model', () => {
  const fits = { zero: 0, some: 0 };
  for (const sequences of [1, 2, 8, 32, 64, 128, 180, 256, 512]) {
    for (const acceptance of [0, 0.2, 0.4, 0.6, 0.8, 0.95]) {
      const input: DraftBudgetInput = {
        groups: [{ sequences }],
        prior: { acceptance, tokens: 1 },
        passSeconds: [
          { tokens: 180, seconds: 0.0083 },
          { tokens: 1800, seconds: 0.058 },
          { tokens: 9000, seconds: 0.29 },
        ],
        drafter: { stepSeconds: 0.0005, passSeconds: 0.0006 },
        maxDraftTokens: 16,
      };
      const all = Array.from({ length: 16 }, (_, at) => Array(sequences).fill(at + 1) as number[]);
      fits[check(input, all).draftTokens === 0 ? 'zero' : 'some'] += 1;
      // A budget for each sequence has these among its choices.
      check({ ...input, perSequence: true }, all, false);
    }
  }
  expect(fits.zero).toBeGreaterThan(10);
  expect(fits.some).toBeGreaterThan(10);
});

test('5: acceptance never rises with the position, and is what was seen where much was seen', () => {
  fc.assert(
    fc.property(inputs(false, { groups: 1, sequences: 1, depth: 8 }), (input) => {
      const { acceptance } = runPlanner(draftBudget, input);
      for (const [at, one] of acceptance.entries()) expect(one).toBeLessThanOrEqual(acceptance[at - 1] ?? 1);
      const many = input.seen!.map(({ offered, accepted }) => ({ offered: offered * 1e9, accepted: accepted * 1e9 }));
      const sure = runPlanner(draftBudget, { ...input, seen: many }).acceptance;
      let least = 1;
      for (const [at, { offered, accepted }] of input.seen!.entries()) {
        // Nobody knows what follows a token that was never accepted, or was never offered.
        // If lengths of drafts differ, a share may rise, since others were seen at each position.
        if (at >= sure.length || accepted === 0 || accepted / offered > least) break;
        least = accepted / offered;
        expect(sure[at]).toBeCloseTo(least, 5);
      }
    }),
    runs(500),
  );
});
