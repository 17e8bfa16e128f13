/** What trainers write becomes a trace. The samples were made for the tests: test/fixtures/import/README.md. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPolicyError } from '../../../../src/errors.ts';
import { formatTrace, type TracePrompt } from '../../../../src/sim/trace/format.ts';
import { DumpImport, type DumpImportOptions } from '../../../../src/sim/trace/import/import.ts';
import { readTrace } from '../../../../src/sim/trace/read.ts';
import { runs } from '../../../support/basics/runs.ts';

const words = {
  method: 'tokenizer' as const,
  label: 'words',
  count: (text: string) => text.split(/\s+/).filter(Boolean).length,
};
const quarter = {
  method: 'characters' as const,
  label: '0.25 tokens a character',
  count: (text: string) => Math.round(text.length / 4),
};
/** Texts as they are: ids that a reader of the test can follow. */
const plain: DumpImportOptions = { fingerprint: (text) => `<${text}>` };

function imported(lines: readonly string[], options: Partial<DumpImportOptions> = {}, file = 'a.jsonl', step?: number) {
  const dump = new DumpImport({ ...plain, ...options });
  for (const [index, line] of lines.entries()) dump.line(line, file, index + 1, step);
  return { prompts: [...dump.prompts()], summary: dump.summary() };
}

const fixture = (path: string): string[] =>
  readFileSync(new URL(`../../../fixtures/import/${path}`, import.meta.url), 'utf8').split('\n');
const lengths = (prompts: readonly TracePrompt[]) =>
  prompts.map(({ prompt, responses }) => [prompt, ...responses.map(({ tokens }) => tokens)]);

/** A refusal, by its code and path. */
function refusal(run: () => unknown): { code: string; path: string; message: string } {
  try {
    run();
  } catch (error) {
    if (isPolicyError(error)) return { code: error.code, path: error.path, message: error.message };
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('prompts that come in several steps', () => {
  const slime = (step: number, group: number, prompt: string | undefined) =>
    JSON.stringify({ step, group_index: group, prompt, response_length: 9, status: 'completed' });
  const verl = (step: number, uid: string, input: string) => JSON.stringify({ input, output: 'a b', step, uid });

  test.each([
    ['slime, by the prompt', [slime(1, 0, 'p'), slime(2, 1, 'q'), slime(3, 2, 'p')], ['<p>', '<q>', '<p>']],
    [
      'verl, by the prompt',
      [verl(1, 'a_0_0', 'p'), verl(2, 'b_0_0', 'q'), verl(3, 'c_0_0', 'p')],
      ['<p>', '<q>', '<p>'],
    ],
    ['a table, by its id', ['step,prompt,tokens', '1,p,4', '2,q,5', '3,p,6'], [undefined, undefined, undefined]],
  ])('%s', (_, lines, rows) => {
    const { prompts, summary } = imported(lines, { textTokens: words });
    expect(prompts.map(({ row }) => row)).toEqual(rows);
    expect(summary).toMatchObject({ prompts: 3, distinct: { prompts: 2, returned: 1 } });
    // What was imported is read as it was.
    expect(imported(formatTrace(prompts).split('\n')).prompts).toEqual(prompts);
  });

  test('a dump that names groups only does not tell', () => {
    const lines = [slime(1, 0, undefined), slime(2, 1, undefined)];
    expect(imported(lines).summary.distinct).toEqual({ prompts: 2, returned: 0 });
  });
});

describe('readers', () => {
  test('verl: responses of a prompt in a step stand in one line, in any order', () => {
    const lines = [...fixture('verl/9.jsonl'), ...fixture('verl/10.jsonl')];
    const { prompts, summary } = imported(lines, { textTokens: words });
    expect(prompts.map(({ prompt }) => prompt.slice(-4))).toEqual(['\n>@9', '\n>@9', '>@10', '>@10']);
    expect(prompts.map(({ responses }) => responses.map(({ tokens, correct }) => [tokens, correct]))).toEqual([
      [
        [15, false],
        [18, true],
        [21, false],
      ],
      [
        [23, true],
        [26, false],
        [29, true],
      ],
      [
        [16, false],
        [19, true],
        [22, false],
      ],
      [
        [24, true],
        [27, false],
        [30, true],
      ],
    ]);
    expect(prompts[0]!.promptTokens).toBe(words.count('system You solve problems. user What is 7 times 8? assistant'));
    expect(summary).toMatchObject({ readers: ['verl'], lines: 12, prompts: 4, steps: 2, responses: 12, fromText: 12 });
    expect(summary).toMatchObject({ textTokens: 'words', estimated: false, scored: 12, cappedShare: 0 });
    expect(summary.responsesPerPrompt).toEqual({ least: 3, most: 3, usual: 3 });
    expect(summary.tokens).toEqual({ p50: 23, p75: 26, p99: 30, longest: 30 });
  });

  test('verl v1: the key names prompt, session and output; outputs of a session are one response', () => {
    const { prompts, summary } = imported(fixture('verl-v1/3.jsonl'), { textTokens: words });
    expect(lengths(prompts)).toEqual([
      ['0b6f-made@3', 5, 9],
      ['f00d-made@3', 5, 9 + 10],
    ]);
    expect(prompts[0]!.responses.map(({ correct }) => correct)).toEqual([false, true]);
    expect(summary).toMatchObject({ responses: 4, joined: 1, lines: 5 });
  });

  test('verl: lengths that a reward function adds are taken as they are', () => {
    const line = { input: 'q', output: 'some words', score: 0.4, step: 1, response_length: 77, prompt_length: 5 };
    const { prompts, summary } = imported([JSON.stringify(line)]);
    expect(prompts).toEqual([{ prompt: '<q>@1', promptTokens: 5, responses: [{ tokens: 77 }] }]);
    expect(summary).toMatchObject({ fromText: 0, textTokens: null, scored: 0 });
  });

  test('slime: exact lengths; what was truncated is capped, what was aborted is at least so long', () => {
    const { prompts, summary } = imported(fixture('slime/lines.jsonl'));
    expect(lengths(prompts)).toEqual([
      ['12@5', 39, 37, 26, 45],
      ['13@5', 19, 44, 17, 64],
    ]);
    expect(prompts[1]!.promptTokens).toBe(33);
    expect(prompts[1]!.responses[0]).toEqual({ tokens: 19, correct: false, censored: true });
    expect(prompts[1]!.responses[3]).toEqual({ tokens: 64, correct: true, capped: true });
    expect(summary).toMatchObject({ skipped: {}, censored: 1, marked: 8, fromText: 0, cappedShare: 1 / 8 });
    expect(summary.responsesPerPrompt).toEqual({ least: 4, most: 4, usual: 4 });
  });

  test('slime: samples as they are in its files, and those of one execution', () => {
    const sample = {
      prompt: 'q',
      tokens: [1, 2, 3, 4, 5],
      response_length: 3,
      status: 'completed',
      reward: { acc: 1 },
    };
    const of = (more: object) => JSON.stringify({ ...sample, ...more });
    const lines = [of({ index: 1 }), of({ index: 2, rollout_id: 9 }), of({ index: 3, rollout_id: 9, tokens: [1] })];
    const { prompts } = imported([...lines, of({ prompt: [{ role: 'user' }], index: 4 })]);
    expect(prompts).toEqual([
      {
        prompt: '<q>',
        promptTokens: 2,
        responses: [
          { tokens: 3, correct: true },
          { tokens: 6, correct: true },
        ],
      },
      { prompt: '<[{"role":"user"}]>', promptTokens: 2, responses: [{ tokens: 3, correct: true }] },
    ]);
    const none = imported([of({}), of({ status: 'failed' }), of({ response_length: 0 }), of({ status: 'pending' })]);
    expect(none.summary.skipped).toEqual({ failed: 1, empty: 1, pending: 1 });
  });

  test('ROLL: the columns of a step', () => {
    const { prompts, summary } = imported(fixture('roll/rollout_dump_data.step_3.jsonl'), { textTokens: words });
    expect(prompts.map(({ task, responses }) => [task, ...responses.map(({ tokens }) => tokens)])).toEqual([
      ['math_rule', 4, 9, 14],
      ['code_sandbox', 5, 10, 15],
    ]);
    expect(prompts[0]!.prompt).toMatch(/^<.*What is 7 times 8\?.*>@3$/);
    expect(summary).toMatchObject({ lines: 1, responses: 6, readers: ['roll'] });
  });

  test('ROLL: the mask of the logging board', () => {
    const { prompts } = imported(fixture('roll-board/data_20260819_101500_042.jsonl'));
    expect(prompts.map(({ responses }) => responses)).toEqual([
      [
        { tokens: 4, correct: false },
        { tokens: 7, correct: true },
      ],
      [
        { tokens: 5, correct: false },
        { tokens: 8, correct: true },
      ],
    ]);
  });

  test('NeMo-RL: generated tokens count, those of the environment and padding do not; the step is in the name', () => {
    const { prompts } = imported(fixture('nemo-rl/train_data_step4.jsonl'), {}, 'train_data_step4.jsonl', 4);
    expect(prompts).toEqual([
      {
        prompt: '<5,6,7,8>@4',
        promptTokens: 4,
        responses: [
          { tokens: 3, correct: false },
          { tokens: 6, correct: true },
        ],
      },
      {
        prompt: '<5,6,9>@4',
        promptTokens: 3,
        responses: [
          { tokens: 3, correct: false },
          { tokens: 6, correct: true },
        ],
      },
    ]);
    const nothing = { token_ids: [[1]], token_loss_mask: [[0]], idx: 1 };
    const { summary } = imported([...fixture('nemo-rl/train_data_step4.jsonl'), JSON.stringify(nothing)]);
    expect(summary.skipped).toEqual({ empty: 1 });
  });
});

const verlLine = (input: string, output: string, more: object = {}): string =>
  JSON.stringify({ input, output, score: 1, step: 1, ...more });

describe('importing', () => {
  test('a trace of it is read by readTrace, and its lines have all responses, whatever the order of the dump', () => {
    const response = fc.record({ input: fc.constantFrom('a', 'b', 'c'), words: fc.nat(40), step: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(response, { minLength: 1, maxLength: 60 }), fc.gen(), (rows, gen) => {
        const lines = rows.map((row) => verlLine(row.input, 'w '.repeat(row.words), { step: row.step }));
        const trace = readTrace(formatTrace(imported(lines, { textTokens: words }).prompts), 'out.jsonl');
        const byId = (prompts: readonly TracePrompt[]) =>
          new Map(prompts.map(({ prompt, responses }) => [prompt, responses.map((one) => one.tokens).sort()]));
        if (trace.kind !== 'prompts') throw new Error(trace.kind);
        const expected = new Map<string, number[]>();
        for (const row of rows) {
          const id = `<${row.input}>@${row.step}`;
          // An empty text has at least the token that ended it.
          expected.set(id, [...(expected.get(id) ?? []), Math.max(1, row.words)].sort());
        }
        expect(byId(trace.prompts)).toEqual(expected);
        const shuffled = gen(fc.shuffledSubarray, lines, { minLength: lines.length, maxLength: lines.length });
        expect(byId(imported(shuffled, { textTokens: words }).prompts)).toEqual(expected);
      }),
      { seed: 7, ...runs(100) },
    );
  });

  test('estimates are said to be estimates, in the summary and in every line', () => {
    const { prompts, summary } = imported([verlLine('q', 'x'.repeat(400))], { textTokens: quarter });
    expect(prompts[0]).toMatchObject({ estimated: '0.25 tokens a character', responses: [{ tokens: 100 }] });
    expect(summary).toMatchObject({ estimated: true, textTokens: '0.25 tokens a character' });
  });

  test('text without a way to count is refused, also where broken lines are skipped', () => {
    for (const skipBroken of [false, true]) {
      const { code, path, message } = refusal(() => imported([verlLine('q', 'x')], { skipBroken }));
      expect([code, path]).toEqual(['invalid_config', 'a.jsonl:1.output']);
      expect(message).toContain('a tokenizer, or tokens per character');
    }
  });

  test('the cap marks what reaches it: exactly where lengths are exact, from 99 % on in texts', () => {
    const slime = fixture('slime/lines.jsonl');
    expect(imported(slime, { capTokens: 45 }).summary.cappedShare).toBe(2 / 8);
    const texts = [98, 99, 100, 101].map((count) => verlLine('q', 'w '.repeat(count)));
    const capped = imported(texts, { textTokens: words, capTokens: 100 }).prompts[0]!.responses.map(
      (one) => one.capped,
    );
    expect(capped).toEqual([undefined, true, true, true]);
    const estimate = refusal(() => imported(texts, { textTokens: quarter, capTokens: 100 }));
    expect([estimate.code, estimate.path]).toEqual(['invalid_input', 'capTokens']);
  });

  test.each([
    [1, undefined, true],
    [0, undefined, false],
    [-1, undefined, false],
    [0.5, undefined, undefined],
    [0.5, 0.4, true],
    [0.3, 0.4, false],
    [null, undefined, undefined],
    [true, undefined, true],
  ])('a score of %s with %s as the least of a correct one is %s', (score, correctFrom, correct) => {
    const options = { textTokens: words, ...(correctFrom === undefined ? {} : { correctFrom }) };
    expect(imported([verlLine('q', 'w', { score })], options).prompts[0]!.responses[0]!.correct).toBe(correct);
  });

  test('`acc` comes before the score', () => {
    const lines = [verlLine('q', 'w', { acc: false }), verlLine('q', 'w', { acc: 1, score: -3 })];
    const [{ responses }] = imported(lines, { textTokens: words }).prompts as [TracePrompt];
    expect(responses.map(({ correct }) => correct)).toEqual([false, true]);
  });

  test('NaN and Infinity of Python are no broken line; in a text they stay text', () => {
    const line =
      '{"input": "is NaN a \\"number\\"?", "output": "Infinity -Infinity", "score": NaN, "x": -Infinity, "step": 1}';
    const { prompts } = imported([line], { textTokens: words });
    expect(prompts).toEqual([{ prompt: '<is NaN a "number"?>@1', promptTokens: 4, responses: [{ tokens: 2 }] }]);
  });

  test.each([
    ['{"input": "q", "output": 3}', 'a.jsonl:2.output', 'expected a string, got 3'],
    ['{"input": "q"', 'a.jsonl:2', 'expected a JSON object'],
    ['[1]', 'a.jsonl:2', 'expected a JSON object'],
    ['{"input": "q", "output": "x", "step": -1}', 'a.jsonl:2.step', 'expected a whole number >= 0, got -1'],
  ])('%s is refused at %s, or counted', (line, path, message) => {
    const lines = [verlLine('q', 'w'), line, verlLine('q', 'w w')];
    const found = refusal(() => imported(lines, { textTokens: words }));
    expect([found.code, found.path]).toEqual(['invalid_input', path]);
    expect(found.message).toContain(message);
    const { summary } = imported(lines, { textTokens: words, skipBroken: true });
    expect(summary).toMatchObject({ brokenLines: 1, responses: 2 });
    expect(summary.firstBroken[0]).toContain(path);
  });

  test.each([
    ['{"hello": 1}', 'a field with the tokens of a response (completion_tokens, …) or with its text'],
    ['{"completon_tokens": 1}', 'did you mean "completion_tokens"?'],
    ['{"output": "x", "gts": "7", "score": 1}', 'expected input, which verl writes in the versions that are read'],
    ['{"group_index": 1, "response_length": 7}', 'expected status, which slime writes'],
    ['{"token_ids": [[1]], "input_lengths": [1]}', 'expected token_loss_mask, idx, which nemo-rl writes'],
    ['{"responses": ["a"], "scores": [1]}', 'expected global_step, which roll writes'],
  ])('%s is of no format', (line, message) => {
    for (const skipBroken of [false, true]) {
      const found = refusal(() => imported([line], { skipBroken }));
      expect([found.code, found.path]).toEqual(['invalid_input', 'a.jsonl:1']);
      expect(found.message).toContain(message);
    }
  });

  test.each([
    ['slime/lines.jsonl', 'a.jsonl:10'],
    ['verl-v1/3.jsonl', 'a.jsonl:7'],
  ])('a dump that is given twice is refused, where its rows have numbers: %s', (path, where) => {
    const lines = fixture(path);
    const found = refusal(() => imported([...lines, ...lines], { textTokens: words }));
    expect([found.code, found.path]).toEqual(['invalid_input', where]);
    expect(found.message).toContain('a second time: is a file given twice?');
    const { summary } = imported([...lines, ...lines], { textTokens: words, skipBroken: true });
    expect(summary.responses).toBe(imported(lines, { textTokens: words }).summary.responses);
  });

  test('nothing in it is an error, too', () => {
    expect(refusal(() => imported(['', ' ']).summary).message).toContain('a trace with prompts, got "an empty file"');
    const aborted = JSON.stringify({ response_length: 4, status: 'aborted', group_index: 1 });
    expect(refusal(() => imported([aborted])).code).toBe('invalid_input');
    const broken = refusal(() => imported(['{', '{'], { skipBroken: true }));
    expect(broken.message).toContain('2 broken lines');
  });

  test.each([
    [{ scores: [1] }, 'a.jsonl:1.scores'],
    [{ prompt: undefined }, 'a.jsonl:1'],
  ])('columns of ROLL that do not fit: %j', (change, path) => {
    const step = { responses: ['a', 'b'], scores: [1, 0], global_step: [1, 1], prompt: ['p', 'p'], ...change };
    const found = refusal(() => imported([JSON.stringify(step)], { textTokens: words }));
    expect([found.code, found.path]).toEqual(['invalid_input', path]);
  });

  test('all files are of one format; a reader can be named', () => {
    const dump = new DumpImport({ ...plain, textTokens: words });
    dump.line(verlLine('q', 'w'), 'v.jsonl', 1);
    const other = refusal(() => dump.line(fixture('slime/lines.jsonl')[0]!, 's.jsonl', 1));
    expect(other.message).toContain('s.jsonl:1: expected the format verl, as in v.jsonl, got "slime"');
    expect(dump.summary().readers).toEqual(['verl']);
    expect(refusal(() => imported([verlLine('q', 'w')], { from: 'slime' })).path).toBe('a.jsonl:1.response_length');
    expect(refusal(() => imported([], { from: 'vim' })).code).toBe('unknown_id');
    expect(refusal(() => imported([], { capTokens: 0 })).path).toBe('capTokens');
  });
});
