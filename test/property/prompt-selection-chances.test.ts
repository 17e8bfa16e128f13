/**
 * Which prompts prompt-selection takes: the rule of its README is written here a second time, over what the policy says that it
 * expects of a prompt, and says the chance of every prompt that is offered.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PromptChoice, VocabularyDecision } from '../../src/schemas/index.ts';
import { runs } from '../support/basics/runs.ts';
import { Selection } from '../support/sessions/selection.ts';
import { only } from '../support/sessions/session.ts';

const group = 4;

const settings = fc.record({
  promptsPerRound: fc.integer({ min: 1, max: 2 }),
  threshold: fc.constantFrom(0, 0.5, 1, 3),
  lengthExponent: fc.constantFrom(0, 0.5, 1),
  explorationShare: fc.constantFrom(0, 0.1, 0.3),
  maxPasses: fc.constantFrom(0, 2, 100),
  maxOffered: fc.constantFrom(1, 3, 100),
  domainFloor: fc.constantFrom(0, 0.4, 0.8),
  seed: fc.nat(1000),
});
const steps = fc.array(
  fc.record({ row: fc.nat(11), act: fc.constantFrom('offer', 'offer', 'offer', 'offer', 'kept', 'earn', 'fail') }),
  { minLength: 20, maxLength: 100 },
);
type Settings = typeof settings extends fc.Arbitrary<infer T> ? T : never;

const domainOf = (row: number) => (row < 3 ? undefined : `d${row % 3}`);
const rewardsOf = (row: number) => [row % 3 === 1, false, row % 3 === 1, row % 3 > 0].map(Number);

/** Counts of an epoch, or of a domain in it. */
const newCounts = () => ({ offered: 0, selected: 0, offeredTokens: 0, selectedTokens: 0 });

class Model {
  readonly host: Selection;
  readonly draws = { sum: 0, variance: 0 };
  readonly #given: Settings;
  readonly #passes = new Map<string, number>();
  readonly #known = new Set<string>();
  #seen = new Set<string>();
  #epoch = newCounts();
  #domains = new Map<string | undefined, ReturnType<typeof newCounts>>();
  #mean = { worth: 0, prompts: 0 };
  #round = { offered: 0, passed: 0 };
  #waiting: string[] = [];
  /** Prompts that were asked for and have not come; and repeats in a row. */
  #awaited = 0;
  #repeats = 0;

  constructor(given: Settings) {
    this.#given = given;
    this.host = new Selection({ responsesPerPrompt: group, ...given });
    this.#request();
  }

  earn(row: number): void {
    this.host.earned(`p${row}`, rewardsOf(row), 10 + 30 * row);
    this.#known.add(`p${row}`);
  }

  fail(): void {
    this.host.fail();
    this.#request();
  }

  offer(row: number, isKept: boolean): void {
    const promptId = `p${row}`;
    const domain = domainOf(row);
    const kept = { requestId: `k${this.host.rounds}`, index: 0, tokens: 1, weightVersions: [0], finished: false };
    const decisions = this.host.supply({
      promptId,
      ...(domain === undefined ? undefined : { domain }),
      ...(isKept ? { kept: [kept] } : undefined),
    });
    this.#checkEpoch(promptId, decisions);
    const isRepeated = this.#waiting.includes(promptId);
    expect(only(decisions, 'prompt.merged')).toHaveLength(Number(isRepeated));
    this.#repeats = isRepeated ? this.#repeats + 1 : 0;
    if (!isRepeated) this.#checkOffered(promptId, domain, isKept, decisions);
    this.#awaited = Math.max(0, this.#awaited - 1);
    this.#checkRound(decisions);
  }

  /** An epoch ends where a prompt is offered again, unless few of all prompts have been. */
  #checkEpoch(promptId: string, decisions: readonly VocabularyDecision[]): void {
    const isOver = this.#seen.has(promptId) && 2 * this.#epoch.offered >= this.#known.size;
    const [ended, ...more] = only(decisions, 'epoch.ended');
    expect(more).toEqual([]);
    expect(ended !== undefined).toBe(isOver);
    if (ended === undefined) return;
    expect(ended).toMatchObject({ offered: this.#epoch.offered, selected: this.#epoch.selected });
    expect(ended.longestOffered).toBeLessThanOrEqual(ended.offered);
    expect(ended.longestSelected).toBeLessThanOrEqual(Math.min(ended.longestOffered, ended.selected));
    expect(new Map(ended.domains.map(({ domain, ...counts }) => [domain, counts]))).toEqual(this.#domains);
    this.#epoch = newCounts();
    this.#domains = new Map();
    this.#seen = new Set();
  }

  #checkOffered(
    promptId: string,
    domain: string | undefined,
    isKept: boolean,
    decisions: readonly VocabularyDecision[],
  ): void {
    const bar = this.#given.threshold * this.#mean.worth;
    const [passed] = only(decisions, 'prompts.passed');
    if (passed !== undefined) expect(passed.reason.threshold).toBe(bar);
    const isTaken = passed === undefined;
    const choice = passed?.choices[0] ?? this.#lastTaken(decisions);
    expect(choice.promptId).toBe(promptId);
    const tokens = group * choice.expectedTokens;
    const ofDomain = this.#domains.get(domain) ?? newCounts();
    this.#domains.set(domain, ofDomain);
    this.#known.add(promptId);
    this.#seen.add(promptId);
    this.#round.offered += 1;
    for (const one of [this.#epoch, ofDomain]) {
      one.offered += 1;
      one.offeredTokens += tokens;
    }
    const isCertain = tokens === 0 || isKept || this.#isDue(promptId) || this.#isBelowFloor(ofDomain);
    const { worth, chance } = choice;
    expect(chance).toBe(
      isCertain || worth >= bar ? 1 : Math.max(this.#given.explorationShare, (worth / bar) * (worth / bar)),
    );
    this.draws.sum += Number(isTaken) - chance;
    this.draws.variance += chance * (1 - chance);
    this.#passes.set(promptId, isTaken ? 0 : (this.#passes.get(promptId) ?? 0) + 1);
    if (!isTaken) {
      this.#round.passed += 1;
      return;
    }
    for (const one of [this.#epoch, ofDomain]) {
      one.selected += 1;
      one.selectedTokens += tokens;
    }
    this.#waiting.push(promptId);
    if (tokens === 0) return;
    this.#mean.prompts = Math.min(64, this.#mean.prompts + 1);
    this.#mean.worth += (worth - this.#mean.worth) / this.#mean.prompts;
  }

  #lastTaken(decisions: readonly VocabularyDecision[]): PromptChoice {
    return only(decisions, 'prompts.selected')[0]?.choices.at(-1) ?? this.host.saved().taken.at(-1)!.choice;
  }

  #isDue(promptId: string): boolean {
    const { maxPasses, maxOffered, promptsPerRound } = this.#given;
    return (this.#passes.get(promptId) ?? 0) >= maxPasses || this.#round.offered > maxOffered * promptsPerRound;
  }

  /** Whether a domain has less than its floor, before the prompt that is offered. */
  #isBelowFloor({ offeredTokens, selectedTokens }: ReturnType<typeof newCounts>): boolean {
    const floor = this.#given.domainFloor * offeredTokens * this.#epoch.selectedTokens;
    return selectedTokens * this.#epoch.offeredTokens < floor;
  }

  #checkRound(decisions: readonly VocabularyDecision[]): void {
    const [selected] = only(decisions, 'prompts.selected');
    const { length } = this.#waiting;
    const isFull = length === this.#given.promptsPerRound;
    const isOver = isFull || (length > 0 && this.#repeats >= 2 * length);
    expect(selected !== undefined).toBe(isOver);
    this.#checkAsked(decisions, isOver, 'passed_over');
    if (selected === undefined) return;
    const code = isFull ? 'filled' : 'only_duplicates';
    expect(selected.prompts.map(({ promptId }) => promptId)).toEqual(this.#waiting);
    expect(selected.reason).toEqual({ code, ...this.#round, meanWorth: this.#mean.worth });
    // No rounding error of what was taken is left once nothing is.
    expect(this.host.saved()).toMatchObject({ taken: [], takenKept: 0, takenTokens: 0 });
    this.#waiting = [];
    this.#request();
  }

  /** What a round lacks is asked for once all has come that was: as often as the epoch so far has taken what it was offered. */
  #checkAsked(decisions: readonly VocabularyDecision[], isOver: boolean, code: string): void {
    const asked = only(decisions, 'prompts.request');
    if (isOver || this.#awaited > 0) return expect(asked).toEqual([]);
    const { offered, selected } = this.#epoch;
    const missing = this.#given.promptsPerRound - this.#waiting.length;
    this.#awaited = Math.ceil(missing * Math.min(4, selected === 0 ? 1 : offered / selected) - 1e-9);
    expect(asked).toMatchObject([{ count: this.#awaited, reason: { code, target: this.#given.promptsPerRound } }]);
  }

  /** Begins the next round; the one before may have been given up, and its prompts are here. */
  #request(): void {
    this.#round = { offered: 0, passed: 0 };
    this.#awaited = 0;
    this.#repeats = 0;
    const decisions = this.host.request();
    expect(only(decisions, 'prompts.selected')).toEqual([]);
    this.#checkAsked(decisions, false, 'round_opened');
  }
}

test('3 and 6: the chance of each prompt is that of its worth, its passes, its round and its domain', () => {
  const draws = { sum: 0, variance: 0 };
  fc.assert(
    fc.property(settings, steps, (given, all) => {
      const model = new Model(given);
      for (let row = 0; row < 12; row += 2) model.earn(row);
      for (const [step, { row, act }] of all.entries()) {
        if (step % 8 === 0) model.host.restore();
        if (act === 'earn') model.earn(row);
        else if (act === 'fail') model.fail();
        else model.offer(row, act === 'kept');
      }
      draws.sum += model.draws.sum;
      draws.variance += model.draws.variance;
    }),
    runs(80),
  );
  // As many are taken as their chances say: five deviations.
  expect(Math.abs(draws.sum)).toBeLessThan(5 * Math.sqrt(draws.variance));
  expect(draws.variance).toBeGreaterThan(1);
});
