/** Prompt selection in front of recipes: how many prompts begin, and in what order. */
import { describe, expect, test } from 'vitest';
import { create, losslessTail, tailBatching } from '../../../src/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { only, Session } from '../../support/sessions/session.ts';

type Counted = Extract<VocabularyDecision, { type: 'prompt.counted' }>;

/** A host that answers all requests at once; a prompt `never` fails always, `always` passes always, others every second time. */
class Host extends Session {
  readonly trained: string[] = [];
  readonly launched: string[][] = [];
  readonly seen: VocabularyDecision[] = [];
  readonly #source: Iterator<string>;

  constructor(definition: typeof tailBatching | typeof losslessTail, config: object, source: Iterable<string>) {
    const sizes = { promptsPerRound: 4, responsesPerPrompt: 4, filter: 'zero-variance', idPrefix: '' };
    super(create(definition as typeof tailBatching, { ...sizes, ...config } as never) as never);
    this.#source = source[Symbol.iterator]();
  }

  round(): void {
    const requests: string[] = [];
    let open = this.send({ type: 'round.requested', roundId: `r${this.rounds}`, weightVersion: this.rounds } as never);
    this.launched.push([]);
    this.rounds += 1;
    while (open.length > 0 || requests.length > 0) {
      this.seen.push(...open);
      const answers: VocabularyDecision[] = [];
      for (const one of open) {
        if (one.type === 'prompts.request') answers.push(...this.supply(one.roundId, one.count));
        if (one.type === 'request.launch') {
          if (one.index === 0) this.launched.at(-1)!.push(one.promptId);
          requests.push(one.requestId);
        }
        if (one.type === 'request.abort') {
          requests.splice(requests.indexOf(one.requestId), 1);
          answers.push(...this.send({ type: 'request.aborted', requestId: one.requestId, tokens: 4 } as never));
        }
        // Without a filter a prompt counts before its last reward is known.
        if (one.type === 'prompt.counted' && one.reason.code === 'no_filter') answers.push(...this.rewarded(one));
        if (one.type === 'round.completed') this.trained.push(...one.prompts.map(({ promptId }) => promptId));
      }
      open = answers;
      if (open.length > 0 || requests.length === 0) continue;
      // Responses end in the order in which they were launched.
      const requestId = requests.shift()!;
      open = this.send({ type: 'response.completed', requestId, tokens: 10 } as never);
      open.push(...this.send({ type: 'reward.ready', requestId, reward: rewardOf(requestId) } as never));
    }
  }

  rewarded({ roundId, promptId, responses }: Counted): VocabularyDecision[] {
    const all = responses.map((one) => ({ ...one, reward: rewardOf(one.requestId) }));
    return this.send({
      ...{ type: 'group.rewarded', roundId, promptId, samples: 4, tokens: 40, responses: all },
      reason: { code: 'all_rewarded', responses: 4, missing: 0, waitedSeconds: 0 },
    } as never);
  }

  supply(roundId: string, count: number): VocabularyDecision[] {
    const prompts: { promptId: string }[] = [];
    while (prompts.length < count) {
      const { value, done } = this.#source.next();
      if (done === true) break;
      prompts.push({ promptId: value });
    }
    const decisions = this.send({ type: 'prompts.supplied', roundId, prompts });
    return prompts.length < count ? [...decisions, ...this.send({ type: 'source.exhausted' } as never)] : decisions;
  }
}

const rewardOf = (requestId: string): number =>
  requestId.startsWith('never') ? 0 : requestId.startsWith('always') ? 1 : Number(/\/[02]#/.test(requestId));

/** Epochs of a data set of which a third is never solved, and a third always. */
function* epochs(rows: number, times: number): Iterable<string> {
  for (let epoch = 0; epoch < times; epoch += 1)
    for (let row = 0; row < rows; row += 1) yield `${['never', 'mixed', 'always'][row % 3]} ${row}`;
}

describe('tail-batching with promptSelection', () => {
  const settings = { responseSpeculation: 1, promptSelection: { explorationShare: 0, domainFloor: 0, maxPasses: 50 } };

  test('begins as many prompts as are likely to be kept, and learns to pass over what teaches nothing', () => {
    const host = new Host(tailBatching, settings, epochs(48, 12));
    for (let round = 0; round < 30; round += 1) host.round();
    const [first] = only(host.seen, 'prompts.selected');
    // Nothing is known: the chance that four rewards differ is 3/5.
    expect(first!.prompts).toHaveLength(Math.ceil(4 / (3 / 5)));
    const late = host.launched.slice(20).flat();
    expect(late.filter((one) => one.startsWith('mixed')).length / late.length).toBeGreaterThan(0.6);
    expect(host.trained).toHaveLength(30 * 4);
    const inLate = host.launched.slice(20).map((one) => one.length);
    // A filter without selection would have to begin three times as many as it keeps.
    expect(inLate.reduce((sum, n) => sum + n) / inLate.length).toBeLessThan(9);
  });

  test('a filtered prompt was expected: only what its chance was worth is begun anew', () => {
    const host = new Host(tailBatching, settings, epochs(48, 12));
    host.round();
    const [first, ...more] = only(host.seen, 'prompts.selected');
    const filtered = only(host.seen, 'prompt.filtered').length;
    expect(filtered).toBeGreaterThan(0);
    const anew = more.flatMap(({ prompts }) => prompts).length;
    // Of 7 that began, 4 were expected to be kept.
    expect(first!.prompts.length + anew).toBeLessThan(4 + 2 * filtered);
  });

  test('whatever is given or returned, each prompt of the source is trained, filtered or passed over', () => {
    const host = new Host(tailBatching, { ...settings, responseSpeculation: 1.25 }, epochs(30, 1));
    for (let round = 0; round < 20 && only(host.seen, 'source.drained').length === 0; round += 1) host.round();
    expect(only(host.seen, 'source.drained')).toHaveLength(1);
    const ended = [
      ...host.trained,
      ...only(host.seen, 'prompt.filtered').map((one) => one.promptId),
      ...only(host.seen, 'prompts.passed').flatMap((one) => one.prompts.map(({ promptId }) => promptId)),
    ];
    expect(ended.sort()).toEqual([...epochs(30, 1)].sort());
  });

  test.each([
    [{ promptSpeculation: 1.25 }, 'promptSpeculation'],
    [{ speculation: 'auto' }, 'speculation'],
    [{ quotas: { a: 4 } }, 'quotas'],
    [{ promptSelection: { unbiased: true, normalization: 'none' } }, 'filter'],
    [{ promptSelection: { unbiased: true, normalization: 'none' }, filter: 'none' }, 'responseSpeculation'],
    [{ promptSelection: { unbiased: true }, filter: 'none', responseSpeculation: 1 }, 'promptSelection.normalization'],
    [{ responsesPerPrompt: 1 }, 'responsesPerPrompt'],
    [{ promptsPerRound: 60_000, responsesPerPrompt: 8 }, 'promptsPerRound'],
    [{ promptSelection: { lamda: 1 } }, 'promptSelection.lamda'],
  ])('refuses %o by its name', (config, name) => {
    expect(() => new Host(tailBatching, { promptSelection: {}, ...config }, [])).toThrow(name);
  });
});

describe('lossless-tail with promptSelection', () => {
  const settings = { windowRounds: 1, filter: 'none', promptSelection: { explorationShare: 0, domainFloor: 0 } };

  test('trains each prompt once in every epoch, those that teach most first', () => {
    const host = new Host(losslessTail, settings, epochs(48, 6));
    for (let round = 0; round < 12 * 5; round += 1) host.round();
    for (let epoch = 0; epoch < 5; epoch += 1) {
      const rows = host.trained.slice(48 * epoch, 48 * (epoch + 1));
      expect(new Set(rows).size).toBe(48);
    }
    const last = host.trained.slice(48 * 4, 48 * 5);
    const first = last.slice(0, 20).filter((one) => one.startsWith('mixed')).length;
    expect(first).toBeGreaterThan(12);
  });

  test('has no setting that would leave a prompt out', () => {
    expect(() => new Host(losslessTail, { promptSelection: { maxPasses: 2 } }, [])).toThrow(
      'promptSelection.maxPasses',
    );
    expect(() => new Host(losslessTail, { promptSelection: {}, responsesPerPrompt: 1 }, [])).toThrow(
      'responsesPerPrompt',
    );
  });
});
