/** CSV, JSON objects and numbers of no trainer in particular, and the elements of a JSON array. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonArrayReader } from '../../../../src/sim/trace/json-array.ts';
import { readTrace } from '../../../../src/sim/trace/read.ts';
import { refusal } from '../../../support/basics/refusal.ts';
import { runs } from '../../../support/basics/runs.ts';

/** Id, prompt tokens, task, and each response, in short. */
function read(text: string, file = 'x.csv') {
  const trace = readTrace(text, file);
  if (trace.kind !== 'prompts') throw new Error(trace.kind);
  expect(trace.reader).toBe('table');
  return trace.prompts;
}
const lengths = (text: string) =>
  read(text).map(({ prompt, responses }) => [prompt, ...responses.map((r) => r.tokens)]);

describe('columns are found by their names', () => {
  test.each([
    [
      'step,prompt_id,output_tokens',
      '3,a,10\n3,a,20\n4,a,5\n',
      [
        ['a@3', 10, 20],
        ['a@4', 5],
      ],
    ],
    [
      'Prompt ID;Response Length',
      'a;10\nb;20\n',
      [
        ['a', 10],
        ['b', 20],
      ],
    ],
    [
      'group\ttokens',
      'a\t10.0\n"b"\t20\n',
      [
        ['a', 10],
        ['b', 20],
      ],
    ],
    [
      'TIMESTAMP,ContextTokens,GeneratedTokens',
      '0,4,10\n1,4,20\n',
      [
        ['x.csv:2', 10],
        ['x.csv:3', 20],
      ],
    ],
    ['uid,completion_tokens,text', 'a,10,"two, or\nthree ""words"""\na,20,\n', [['a', 10, 20]]],
    [
      'prompt,tokens',
      'a,10\r\na,0\r\n\r\nb,7\r\n',
      [
        ['a', 10],
        ['b', 7],
      ],
    ],
  ])('%s', (header, rows, expected) => {
    expect(lengths(`${header}\n${rows}`)).toEqual(expected);
  });

  test('of correctness, cuts, prompts and tasks, too', () => {
    const text = 'prompt,input_tokens,tokens,reward,finish_reason,domain\nq,7,10,1.0,stop,math\nq,7,30,0,length,math\n';
    expect(read(text)).toEqual([
      {
        prompt: 'q',
        promptTokens: 7,
        task: 'math',
        responses: [
          { tokens: 10, correct: true },
          { tokens: 30, correct: false, capped: true },
        ],
      },
    ]);
  });

  test('a column of numbers, with a header or without one', () => {
    const tokens = (text: string) => read(text).flatMap(({ responses }) => responses.map((one) => one.tokens));
    for (const text of ['812\n6044\n', 'tokens\n812\n6044', '\uFEFFlength\r\n812\r\n6044\r\n', '[812,\n6044]'])
      expect(tokens(text), text).toEqual([812, 6044]);
  });

  test('objects of JSON; prompts that are texts have a fingerprint', () => {
    const prompt = 'What is 7 times 8? '.repeat(10);
    const rows = [10, 20].map((length) => ({ prompt, completion_length: length, is_correct: length > 10 }));
    const ids = [`${rows.map((one) => JSON.stringify(one)).join('\n')}\n`, JSON.stringify(rows, undefined, 2)].map(
      (text) => {
        const [first, ...more] = read(text);
        expect(more).toEqual([]);
        expect(first!.responses).toEqual([
          { tokens: 10, correct: false },
          { tokens: 20, correct: true },
        ]);
        return first!.prompt;
      },
    );
    expect(ids[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(ids[1]).toBe(ids[0]);
  });

  test('an array of what trainers write is read as its lines are', () => {
    const own = [
      { prompt: 'a', responses: [{ tokens: 5 }] },
      { prompt: 'b', responses: [{ tokens: 6 }, { tokens: 7 }] },
    ];
    const lines = own.map((one) => JSON.stringify(one)).join('\n');
    expect(readTrace(JSON.stringify(own, undefined, 1))).toEqual(readTrace(lines));
  });
});

describe('a table is refused', () => {
  test.each([
    ['a,b\n1,2\n', 'x:1', /a header with a field with the tokens of a response/],
    ['prompt,tokens\na,10\nb\n', 'x:3', /^2 cells, as in the header$/],
    ['prompt,tokens\na,10\nb,many\n', 'x:3.tokens', /^a whole number >= 0$/],
    ['prompt,tokens\na,1.5\n', 'x:2.tokens', /^a whole number >= 0$/],
    ['prompt,tokens\na,\n', 'x:2.tokens', /^a whole number >= 0$/],
    ['812\nmany\n', 'x:2.tokens', /^a whole number >= 0$/],
    ['812\n1,2\n', 'x:2', /^a number$/],
    ['prompt,tokens\n"a,10\nb,7\n', 'x:2', /^a quote at the end of a cell$/],
    ['step,tokens\n1,10\n,7\n', 'x:3', /^a step, as the lines before have$/],
    ['[{"tokens":1},{"tokens":2}', 'x:1', /^a whole JSON array$/],
    ['[{"tokens":1},\n{"tokens":-2}]', 'x:2.tokens', /^a whole number >= 0$/],
    ['[{"tokens":1}]\n[]', 'x:2', /^nothing after the array$/],
    ['[]', 'x', /^a trace with prompts$/],
    ['tokens\n', 'x', /^a trace with prompts$/],
    ['prompt,response\na,some text\n', 'x:2.response', /^a tokenizer, or tokens per character/],
  ])('%j', (text, path, expected) => {
    const refused = refusal(() => readTrace(text, 'x'));
    expect(refused.path).toBe(path);
    expect(refused.expected).toMatch(expected);
  });
});

test('an array is cut into its elements, however its bytes come', () => {
  const bytes = new TextEncoder();
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 6 }),
      fc.nat(3),
      fc.integer({ min: 1, max: 9 }),
      (values, indent, size) => {
        const whole = bytes.encode(JSON.stringify(values, undefined, indent));
        const reader = new JsonArrayReader('x', 1e6);
        const found: unknown[] = [];
        for (let at = 0; at < whole.length; at += size)
          for (const { text } of reader.read(whole.slice(at, at + size))) found.push(JSON.parse(text));
        reader.end();
        expect(found).toEqual(JSON.parse(JSON.stringify(values)));
      },
    ),
    { seed: 11, ...runs(300) },
  );
});
