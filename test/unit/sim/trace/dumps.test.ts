/** Dumps as people have them: each kind that was once refused without help, or read wrongly. All values are invented. */
import { describe, expect, test } from 'vitest';
import { DumpImport, type DumpImportOptions } from '../../../../src/sim/trace/import/import.ts';
import { fieldChoices } from '../../../../src/sim/trace/import/rows/fields.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const words = {
  method: 'tokenizer' as const,
  label: 'words',
  count: (text: string) => text.split(/\s+/).filter(Boolean).length,
};
const quarter = {
  method: 'characters' as const,
  label: 'a quarter',
  count: (text: string) => Math.round(text.length / 4),
};

type Files = Readonly<Record<string, string>>;

function readFiles(files: Files, options: Partial<DumpImportOptions> = {}) {
  const dump = new DumpImport({ fingerprint: (text) => `<${text.slice(0, 20)}>`, ...options });
  for (const [file, text] of Object.entries(files))
    for (const [at, line] of text.split('\n').entries()) dump.line(line, file, at + 1);
  const prompts = [...dump.prompts()];
  return {
    prompts,
    summary: dump.summary(),
    sizes: prompts.map(({ responses }) => responses.map(({ tokens }) => tokens)),
  };
}
const lines = (...rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const read = (text: string, options: Partial<DumpImportOptions> = {}) => readFiles({ 'x.jsonl': text }, options);
const field = (...given: string[]) => ({ fields: fieldChoices(given) });
const rowsOf = (step: number, n = 4, prompts = ['a', 'b', 'c']): object[] =>
  prompts.flatMap((prompt, row) =>
    Array.from({ length: n }, (_, at) => ({ step, prompt: `${prompt}${step}`, tokens: 10 + step + 7 * row + at })),
  );

describe('a step that a dump has twice', () => {
  const runs = {
    'a/1.jsonl': lines(...rowsOf(1)),
    'a/2.jsonl': lines(...rowsOf(2)),
    'b/2.jsonl': lines(...rowsOf(2)),
    'b/3.jsonl': lines(...rowsOf(3)),
  };
  const resumed = lines(...rowsOf(1), ...rowsOf(2), ...rowsOf(3), ...rowsOf(2), ...rowsOf(3), ...rowsOf(4));

  test.each<[string, Files, string, string]>([
    ['in two folders', runs, 'b/2.jsonl:1', 'a/2.jsonl:1'],
    ['in a file to which a resumed run has appended', { 'x.jsonl': resumed }, 'x.jsonl:37', 'x.jsonl:13'],
    [
      'in two files of one folder',
      { 'p/1.jsonl': lines(...rowsOf(1), ...rowsOf(2)), 'p/2.jsonl': lines(...rowsOf(2), ...rowsOf(3)) },
      'p/2.jsonl:1',
      'p/1.jsonl:13',
    ],
    [
      'with other prompts',
      { 'p/1.jsonl': lines(...rowsOf(1), ...rowsOf(2)), 'p/2.jsonl': lines(...rowsOf(2, 4, ['x']), ...rowsOf(3)) },
      'p/2.jsonl:1',
      'p/1.jsonl:13',
    ],
  ])('%s is refused, with both places and the choices', (_, files, second, first) => {
    const { path, expected } = refusal(() => readFiles(files));
    expect(path).toBe(second);
    expect(expected).toContain('--repeated last, first or all: step 2');
    expect(expected).toContain(`${first} and again in ${second}`);
  });

  test('keeps one, if asked, or takes both for parts', () => {
    const changed = { ...runs, 'b/2.jsonl': runs['b/2.jsonl'].replaceAll('"tokens":', '"tokens":9') };
    const kept = (repeated: 'first' | 'last' | 'all') => readFiles(changed, { repeated });
    expect(kept('first').sizes[3]).toEqual([12, 13, 14, 15]);
    expect(kept('last').sizes[3]).toEqual([912, 913, 914, 915]);
    expect(kept('last').summary).toMatchObject({ prompts: 9, responses: 36, dropped: 12, steps: 3 });
    expect(kept('all').sizes[3]).toHaveLength(8);
    expect(read(resumed, { repeated: 'last' }).summary.responsesPerPrompt).toEqual({ least: 4, most: 4, usual: 4 });
  });

  test('is none where tasks, or ranks, have files of their own', () => {
    const tasks = Object.fromEntries(
      [1, 2].flatMap((step) =>
        ['a', 'b'].map((task) => [`s/${step}-${task}.jsonl`, lines(...rowsOf(step, 4, [task]))]),
      ),
    );
    expect(readFiles(tasks).summary).toMatchObject({ prompts: 4, responses: 16, steps: 2 });
    const ranks = Object.fromEntries(
      ['a', 'b'].map((task) => [`r/rank-${task}.jsonl`, lines(...rowsOf(1, 4, [task]), ...rowsOf(2, 4, [task]))]),
    );
    expect(readFiles(ranks).summary).toMatchObject({ prompts: 4, responses: 16, steps: 2 });
  });

  test('is none where rows of steps are mixed', () => {
    const mixed = rowsOf(1).flatMap((row, at) => [row, rowsOf(2)[at]!]);
    expect(read(lines(...mixed)).summary).toMatchObject({ prompts: 6, responses: 24 });
  });

  test('and so is a prompt in two files without steps, where both have whole groups', () => {
    const file = lines(...[1, 2, 3].map((tokens) => ({ prompt: 'p', tokens })));
    const { path, expected } = refusal(() => readFiles({ a: file, b: file }));
    expect([path, expected.slice(0, 44)]).toEqual(['b:1', 'prompts once, or --repeated last, first or a']);
    expect(readFiles({ a: lines({ prompt: 'p', tokens: 1 }), b: lines({ prompt: 'p', tokens: 2 }) }).sizes).toEqual([
      [1, 2],
    ]);
  });
});

describe('how a response ended', () => {
  const ended = (marks: object, tokens = 9) =>
    read(lines({ prompt: 'p', tokens, ...marks }, { prompt: 'p', tokens: 5, finish_reason: 'stop' })).prompts[0]!
      .responses[0];

  test.each<[object, object]>([
    [{ finish_reason: 'length' }, { capped: true }],
    [{ finish_reason: ['length'] }, { capped: true }],
    [{ finish_reason: { type: 'length', length: 9 } }, { capped: true }],
    [{ finish_reason: "{'type': 'length', 'length': 9}" }, { capped: true }],
    [{ meta_info: { finish_reason: { type: 'abort', message: 'm' } } }, { censored: true }],
    [{ stop_reason: 'max_tokens' }, { capped: true }],
    [{ stop_reason: 151_645 }, {}],
    [{ finish_reason: 'stop', is_truncated: true }, { capped: true }],
    [{ is_truncated: 'True' }, { capped: true }],
    [{ aborted: true, finish_reason: 'stop' }, { censored: true }],
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, { capped: true }],
    [{ truncated: '0.0' }, {}],
  ])('%j', (marks, expected) => {
    expect(ended(marks)).toEqual({ tokens: 9, ...expected });
  });

  test('unknown words are named, and nothing is said to be unsaid where something is said', () => {
    const { summary } = read(lines({ tokens: 4, finish_reason: 'gave_up' }, { tokens: 5, finish_reason: 'stop' }));
    expect(summary).toMatchObject({ marked: 1, unknownMarks: { finish_reason: ['gave_up'] }, cappedShare: 0 });
  });

  test('what was aborted stays, if its length is known, and is counted, if not', () => {
    const { summary, sizes } = read(
      lines(
        { prompt: 'p', tokens: 70, finish_reason: 'abort' },
        { prompt: 'p', tokens: 0, finish_reason: 'abort' },
        { prompt: 'p', tokens: 5, finish_reason: 'stop' },
        { prompt: 'p', tokens: 0, finish_reason: 'stop' },
      ),
    );
    expect(sizes).toEqual([[70, 5]]);
    expect(summary).toMatchObject({ censored: 1, skipped: { aborted: 1, empty: 1 } });
  });

  test('groups that are all right or all wrong are missed where they must have been', () => {
    const dump = (right: (group: number, at: number) => number) =>
      read(
        lines(
          ...Array.from({ length: 120 }, (_, at) => ({
            prompt: `p${at >> 2}`,
            tokens: 5 + at,
            reward: right(at >> 2, at % 4),
          })),
        ),
      ).summary.filtered;
    expect(dump((_, at) => Number(at < 2))).toBe(true);
    expect(dump((group, at) => Number(at < group % 5))).toBe(false);
  });
});

describe('numbers and booleans as text', () => {
  test('mean the same in every dump', () => {
    const row = { input: 'q', output: 'some words', step: '3', score: '0.0', acc: 'True', response_length: '20' };
    expect(read(lines(row)).prompts).toEqual([{ prompt: '<q>@3', responses: [{ tokens: 20, correct: true }] }]);
    expect(read('prompt,tokens,reward\na,"1,024",1\na,812.0,0\n').sizes).toEqual([[1024, 812]]);
    expect(read('sep=;\nprompt;tokens;reward\na;1024;0,0\n').prompts[0]!.responses).toEqual([
      { tokens: 1024, correct: false },
    ]);
  });

  test.each([['-1'], ['812.5'], ['"NaN"'], ['"many"']])('%s is no length', (value) => {
    expect(refusal(() => read(`{"tokens":${value}}`))).toMatchObject({
      path: 'x.jsonl:1.tokens',
      expected: 'a whole number >= 0',
    });
  });

  test('no model has a context of a thousand million million tokens', () => {
    expect(refusal(() => read('{"response_length":5}\n{"response_length":1000000000000000}')).path).toBe(
      'x.jsonl:2.response_length',
    );
  });
});

describe('where the tokens are', () => {
  test.each<[string, object, number]>([
    [
      'usage of OpenAI batches',
      {
        custom_id: 'q',
        response: {
          body: {
            choices: [{ message: { content: 'w' }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 3, completion_tokens: 42, total_tokens: 45 },
          },
        },
      },
      42,
    ],
    [
      'meta_info of SGLang',
      { text: 'w', meta_info: { prompt_tokens: 3, completion_tokens: 42, finish_reason: { type: 'stop' } } },
      42,
    ],
    [
      'outputs of vLLM',
      {
        prompt: 'p',
        prompt_token_ids: [1, 2, 3],
        outputs: [{ text: 'w', token_ids: Array(42).fill(7), finish_reason: 'stop', stop_reason: null }],
      },
      42,
    ],
    [
      'NeMo-Gym',
      {
        responses_create_params: { input: 'p', max_output_tokens: 9 },
        response: {
          output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'w' }] }],
          usage: { input_tokens: 3, output_tokens: 42 },
        },
        reward: 1,
      },
      42,
    ],
    [
      'calls of a trajectory, without its tools',
      {
        example_id: 1,
        prompt: 'p',
        trajectory: [
          { tokens: { prompt_ids: [1], completion_ids: Array(30).fill(7) } },
          { role: 'tool', completion_tokens: 99 },
          { completion_tokens: 12 },
        ],
      },
      42,
    ],
    [
      'a mask, without tools',
      {
        prompt: 'p',
        response_length: 60,
        response_mask: [...Array(30).fill(1), ...Array(18).fill(0), ...Array(12).fill(1)],
      },
      42,
    ],
    ['total and prompt', { prompt: 'p', total_tokens: 45, prompt_tokens: 3 }, 42],
    ['log probabilities', { prompt: 'p', output_token_logprobs: Array(42).fill([-0.1, 5, null]) }, 42],
  ])('%s', (_, row, tokens) => {
    expect(read(lines(row)).sizes).toEqual([[tokens]]);
  });

  test('messages are one response, in turns, without what tools said', () => {
    const completion = [
      { role: 'assistant', content: 'a b' },
      { role: 'tool', content: 'x y z' },
      { role: 'assistant', content: 'c' },
    ];
    const { responses } = read(lines({ prompt: 'p', completion }), { textTokens: words }).prompts[0]!;
    expect(responses).toEqual([
      {
        tokens: 3,
        turns: [
          { addedTokens: 0, tokens: 2, tool: 'tool' },
          { addedTokens: 3, tokens: 1 },
        ],
      },
    ]);
  });

  test('rows of turns are added up by their trajectory, or refused without one', () => {
    const turns = [1, 2].map((turn) => ({ prompt_id: 'p', trajectory_id: 't', turn, completion_tokens: 20 + turn }));
    expect(read(lines(...turns)).sizes).toEqual([[43]]);
    const without = lines(...turns.map(({ trajectory_id: _, ...row }) => row));
    expect(refusal(() => read(without)).expected).toContain('--field part=NAME');
    expect(read(without, field('turn=none')).sizes).toEqual([[21, 22]]);
  });

  test('usage of several choices is divided by their characters, as an estimate, or their words are counted', () => {
    const row = {
      custom_id: 'q',
      response: {
        body: {
          choices: [
            { index: 0, message: { content: 'a bb' }, finish_reason: 'stop' },
            { index: 1, message: { content: 'a bb cccc dd' }, finish_reason: 'length' },
          ],
          usage: { completion_tokens: 40 },
        },
      },
    };
    const { prompts, summary } = read(
      lines(row, { custom_id: 'r', response: null, error: { code: 'batch_expired', message: 'late' } }),
    );
    expect(prompts).toMatchObject([{ prompt: 'q', responses: [{ tokens: 10 }, { tokens: 30, capped: true }] }]);
    expect(summary).toMatchObject({ estimated: true, skipped: { failed: 1 } });
    expect(read(lines(row), { textTokens: words }).sizes).toEqual([[2, 4]]);
  });

  test('a number that is that of the characters of the text is no length in tokens', () => {
    const response = 'w '.repeat(30);
    expect(read(lines({ prompt: 'p', response, length: 60 }), { textTokens: words }).sizes).toEqual([[30]]);
    expect(
      refusal(() => read(lines({ prompt: 'p', response, response_length: 60 }), { textTokens: words })).expected,
    ).toContain('--field tokens=none');
  });

  test('two readings are refused with the choices, each of which works', () => {
    const two = lines({ prompt: 'p', completion_tokens: 12, response_tokens: 15 });
    expect(refusal(() => read(two)).expected).toContain(
      '--field tokens=response_tokens or --field tokens=completion_tokens',
    );
    expect(read(two, field('tokens=completion_tokens')).sizes).toEqual([[12]]);
    const list = lines({ prompt: 'p', tokens: [12, 40, 33] });
    expect(refusal(() => read(list)).expected).toMatch(/--field token-ids=tokens, .*--field tokens=tokens/);
    expect(read(list, field('token-ids=tokens')).sizes).toEqual([[3]]);
    expect(read(list, field('tokens=tokens')).sizes).toEqual([[12, 40, 33]]);
    const alone = lines({ completions: ['a b', 'c'] });
    expect(refusal(() => read(alone, { textTokens: words })).expected).toMatch(
      /--field group=line, .*--field group=none/,
    );
    expect(read(alone, { ...field('group=line'), textTokens: words }).sizes).toEqual([[2, 1]]);
    expect(read(alone, { ...field('group=none'), textTokens: words }).sizes).toEqual([[2], [1]]);
  });

  test('--field names what names do not say', () => {
    const { sizes, summary } = read(
      lines({ q: 'a', n_out: { count: 8 } }, { q: 'a', n_out: { count: 9 } }),
      field('group=q', 'tokens=n_out.count'),
    );
    expect(sizes).toEqual([[8, 9]]);
    expect(summary.fields).toEqual({ tokens: 'n_out.count', group: 'q' });
    expect(refusal(() => fieldChoices(['token=x'])).expected).toContain('did you mean "tokens"?');
    expect(refusal(() => fieldChoices(['tokens'])).expected).toContain('ROLE=PATH');
  });
});

describe('several responses', () => {
  test.each<[string, object, number[][]]>([
    ['texts', { problem: 'p', uuid: 'u', generations: ['a b', 'c'], finish_reasons: ['stop', 'length'] }, [[2, 1]]],
    ['counts', { prompt: 'p', response_lengths: [4, 5] }, [[4, 5]]],
    ['counts beside scores', { prompt: 'p', completion_tokens: [4, 5], rewards: [0, 1] }, [[4, 5]]],
    ['lists of ids', { prompt: 'p', output_token_ids: [[1, 2], [3]] }, [[2, 1]]],
    [
      'arrays of a benchmark',
      { request_rate: 'inf', input_lens: [7, 7], output_lens: [4, 5], errors: ['', ''], itls: [[0.1], [0.2]] },
      [[4], [5]],
    ],
    ['columns of a step', { step: ['1', '1'], prompt: ['p', 'p'], completion: ['a b', 'c'], reward: [0, 1] }, [[2, 1]]],
    ['numbered columns, some empty', { prompt: 'p', tokens_1: 4, tokens_2: null, tokens_3: 5 }, [[4, 5]]],
    [
      'one response, whose ids are as many as something else',
      { prompt: 'p', response_ids: [5, 6, 7], scores: [0, 0, 1] },
      [[3]],
    ],
  ])('%s', (_, row, sizes) => {
    expect(read(lines(row), { textTokens: words }).sizes).toEqual(sizes);
  });

  test('sizes of groups that differ are said, and the usual is that of most responses', () => {
    const rows = [...rowsOf(1, 4, ['a', 'b']), ...rowsOf(1, 1, ['c', 'd', 'e'])];
    const { summary } = read(lines(...rows));
    expect(summary.groupSizes).toEqual([
      { responses: 1, prompts: 3 },
      { responses: 4, prompts: 2 },
    ]);
    expect(summary.responsesPerPrompt.usual).toBe(4);
  });
});

describe('what is no dump is named', () => {
  test.each<[string, string | RegExp]>([
    ['{\n  "prompt": "a",', /over several lines.*jq -c/],
    ["{'prompt': 'a', 'tokens': 5}", /Python's repr: write json\.dumps/],
    ['[2026-01-02 03:04:05] INFO step 3', /a line of a log/],
    ['2026-01-02 03:04:05,123 INFO step 3', /a line of a log/],
    ['[[1, 2], [3, 4]]', /a list: rows need names/],
    ["prompt,completion\na,\"[{'content': 'b', 'role': 'assistant'}]\"", /Python's repr of messages/],
  ])('%j', (text, got) => {
    expect(refusal(() => read(text, { textTokens: quarter })).got).toMatch(got);
  });

  test('rows that are objects already are read like lines', () => {
    const dump = new DumpImport({ fingerprint: (text) => text });
    dump.row({ prompt: 'p', completion_tokens: 5n, finish_reason: 'length' }, 'x.parquet', 1, 3);
    dump.row({ prompt: 'p', completion_ids: Int32Array.of(1, 2) }, 'x.parquet', 2, 3);
    expect([...dump.prompts()]).toEqual([{ prompt: 'p@3', responses: [{ tokens: 5, capped: true }, { tokens: 2 }] }]);
  });
});
