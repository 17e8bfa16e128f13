/** Every reader on an excerpt of the real thing: test/fixtures/traces/README.md says where they come from. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tracePromptSchema } from '../../../../src/sim/trace/format.ts';
import { readTrace, type Trace } from '../../../../src/sim/trace/read.ts';
import { traceReaders } from '../../../../src/sim/trace/readers.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const excerpt = (file: string): string =>
  readFileSync(new URL(`../../../fixtures/traces/${file}`, import.meta.url), 'utf8');
const tokens = (list: readonly number[]) => list.map((one) => ({ tokens: one }));

function prompts(text: string, file = 'f') {
  const trace = readTrace(text, file);
  if (trace.kind !== 'prompts') throw new Error('expected prompts');
  return trace.prompts;
}

function quantiles(text: string): Extract<Trace, { kind: 'quantiles' }> {
  const trace = readTrace(text, 'f');
  if (trace.kind !== 'quantiles') throw new Error('expected quantiles');
  return trace;
}

/** The first line of an excerpt with other values in some fields; an undefined one is left out. */
function changed(file: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ ...JSON.parse(excerpt(file).split('\n')[0]!), ...fields });
}

const files: readonly (readonly [file: string, reader: string])[] = [
  ['castillo.jsonl', 'castillo'],
  ['lrm-economy.jsonl', 'lrm-economy'],
  ['misguided-attention.jsonl', 'misguided-attention'],
  ['skyt1.jsonl', 'skyt1'],
  ['azure2023-code.csv', 'requests-csv'],
  ['mooncake-conversation.csv', 'requests-csv'],
];

describe('the readers', () => {
  it('are all tried on an excerpt, apart from the own format', () => {
    const tried = new Set(files.map(([, reader]) => reader));
    expect(traceReaders.map((one) => one.id).filter((id) => !tried.has(id))).toEqual(['rollflex']);
  });

  it.each(files)('read %s as %s, into prompts of the own format', (file, reader) => {
    const trace = readTrace(excerpt(file), file);
    expect(trace).toMatchObject({ kind: 'prompts', reader });
    for (const prompt of prompts(excerpt(file))) expect(tracePromptSchema.parse(prompt)).toEqual(prompt);
  });

  it.each(files)('recognise %s for themselves alone', (file, reader) => {
    const head = excerpt(file).split('\n')[0]!;
    expect(traceReaders.find((one) => one.detect(head))?.id).toBe(reader);
    for (const { detect } of traceReaders) expect(detect(head.slice(0, -1))).toBe(false);
  });
});

describe('castillo', () => {
  it('has exact tokens; 15,001 is a response that ran into 15,000', () => {
    const [first, second] = prompts(excerpt('castillo.jsonl'));
    expect(first).toEqual({
      prompt: '003be64958deab88',
      promptTokens: 44,
      task: 'Alpaca',
      responses: tokens([585, 748, 737, 534, 586, 664, 693, 586, 557, 626]),
    });
    expect(second!.responses[4]).toEqual({ tokens: 15_000, capped: true });
    expect(second!.responses.filter((one) => one.capped)).toHaveLength(1);
  });

  it('takes 15,000 as it is, leaves empty responses out, and a prompt that has no other', () => {
    const text = `${changed('castillo.jsonl', { prompt_id: 'a', response_tokens: [0, 0] })}
${changed('castillo.jsonl', { prompt_id: 'b', response_tokens: [0, 15_000, 20_000] })}`;
    expect(prompts(text)).toMatchObject([
      { prompt: 'b', responses: [{ tokens: 15_000 }, { tokens: 15_000, capped: true }] },
    ]);
    expect(prompts(text)[0]!.responses[0]).toEqual({ tokens: 15_000 });
  });

  it.each([
    ['response_tokens', { response_tokens: [] }],
    ['response_tokens[1]', { response_tokens: [3, -1] }],
    ['response_tokens[1]', { response_tokens: [3, 2.5] }],
    ['response_tokens', { response_tokens: undefined }],
    ['prompt_tokens', { prompt_tokens: -1 }],
    ['prompt_id', { prompt_id: '' }],
    ['dataset', { dataset: 3 }],
  ])('refuses a bad %s, with file and line', (field, fields) => {
    const text = `${excerpt('castillo.jsonl')}${changed('castillo.jsonl', { prompt_id: 'c', ...fields })}\n`;
    expect(refusal(() => readTrace(text, 'c.jsonl'))).toMatchObject({
      code: 'invalid_input',
      path: `c.jsonl:3.${field}`,
    });
  });
});

describe('lrm-economy', () => {
  it('has a prompt for each model and question', () => {
    const read = prompts(excerpt('lrm-economy.jsonl'));
    expect(read[0]).toEqual({
      prompt: 'o4-mini-high-long/one_plus_one',
      promptTokens: 7,
      task: 'knowledge',
      responses: tokens([71, 7, 71, 71, 135]).map((one) => ({ ...one, correct: true })),
    });
    expect(read[1]!.prompt).toBe('deepseek-r1/one_plus_one');
  });

  it('takes a score of 1 as right and of 0 as wrong; one between says neither', () => {
    const fields = { response_tokens: [5, 0, 6, 7], score: [1, 1, 0, 0.5] };
    expect(prompts(changed('lrm-economy.jsonl', fields))[0]!.responses).toEqual([
      { tokens: 5, correct: true },
      { tokens: 6, correct: false },
      { tokens: 7 },
    ]);
    const error = refusal(() => prompts(changed('lrm-economy.jsonl', { ...fields, score: [1] })));
    expect([error.path, error.expected]).toEqual(['f:1.score', 'one for each of `response_tokens`']);
  });

  it('takes the limit of the request as the cap: a response as long was cut', () => {
    const limit = (max_tokens: unknown) => {
      const fields = { max_tokens, response_tokens: [299, 300, 301], score: [0.5, 0.5, 0.5] };
      return prompts(changed('lrm-economy.jsonl', fields))[0]!.responses;
    };
    expect(limit(300)).toEqual([{ tokens: 299 }, { tokens: 300, capped: true }, { tokens: 300, capped: true }]);
    expect(limit(null)).toEqual(tokens([299, 300, 301]));
    for (const bad of [0, -5]) expect(refusal(() => limit(bad)).path).toBe('f:1.max_tokens');
  });
});

describe('misguided-attention', () => {
  it('has a prompt for each model and question, and no tasks', () => {
    expect(prompts(excerpt('misguided-attention.jsonl'))).toEqual([
      {
        prompt: 'DeepHermes-3-Mistral-24B-Pre/trolley_problem_easy',
        promptTokens: 46,
        responses: tokens([1501, 2005, 1626]),
      },
      {
        prompt: 'DeepHermes-3-Mistral-24B-Pre/monty_four_computers',
        promptTokens: 59,
        responses: tokens([11802, 9720, 11476]),
      },
    ]);
  });
});

describe('skyt1', () => {
  it('keeps which answers are correct', () => {
    const [first, second] = prompts(excerpt('skyt1.jsonl'));
    expect(first).toMatchObject({ prompt: 'amc23-30', promptTokens: 83, task: 'math' });
    expect(first!.responses[3]).toEqual({ tokens: 1402, correct: true });
    expect(second!.responses).toHaveLength(16);
    expect(second!.responses.every((one) => one.correct === false)).toBe(true);
  });

  it('leaves empty answers out without moving the others', () => {
    const fields = { response_tokens: [5, 0, 7], correct: [false, false, true] };
    expect(prompts(changed('skyt1.jsonl', fields))[0]!.responses).toEqual([
      { tokens: 5, correct: false },
      { tokens: 7, correct: true },
    ]);
  });

  it('refuses another number of verdicts than of answers', () => {
    const text = changed('skyt1.jsonl', { response_tokens: [5, 6], correct: [true] });
    expect(refusal(() => readTrace(text, 's'))).toMatchObject({ code: 'invalid_input', path: 's:1.correct' });
  });
});

describe('requests-csv', () => {
  const header = 'id,t_ms,input_tokens,output_tokens';

  it('has one response a request', () => {
    expect(prompts(excerpt('azure2023-code.csv'))).toEqual([
      { prompt: 'az-code-0', promptTokens: 4808, responses: tokens([10]) },
      { prompt: 'az-code-1', promptTokens: 3180, responses: tokens([8]) },
      { prompt: 'az-code-2', promptTokens: 110, responses: tokens([27]) },
    ]);
    expect(prompts(excerpt('mooncake-conversation.csv')).map((one) => one.prompt)).toEqual([
      'mc-conversation-556',
      'mc-conversation-557',
    ]);
  });

  it('takes white space around cells, a header again, and an empty response as one token', () => {
    expect(prompts(`${header}\na, 0, 5 ,0\n${header}\nb,1,0,2\n`)).toEqual([
      { prompt: 'a', promptTokens: 5, responses: tokens([1]) },
      { prompt: 'b', promptTokens: 0, responses: tokens([2]) },
    ]);
  });

  it.each([
    ['a missing column', 'a,1,2', 'r.csv:3.output_tokens', 'nothing'],
    ['an empty cell', 'a,1,2,', 'r.csv:3.output_tokens', '""'],
    ['a word', 'a,1,2,long', 'r.csv:3.output_tokens', '"long"'],
    ['a negative length', 'a,1,2,-4', 'r.csv:3.output_tokens', '"-4"'],
    ['a fraction', 'a,1,2.5,4', 'r.csv:3.input_tokens', '"2.5"'],
    ['an empty prompt length', 'a,1,,4', 'r.csv:3.input_tokens', '""'],
    ['no id', ',1,2,4', 'r.csv:3.id', '""'],
    ['a column too many', 'a,b,1,2,4', 'r.csv:3', '"a,b,1,2,4"'],
    ['JSON', '{"responses":[{"tokens":1}]}', 'r.csv:3.input_tokens', 'nothing'],
  ])('refuses %s', (_what, line, path, got) => {
    const refused = refusal(() => readTrace(`${header}\nz,0,1,1\n${line}\n`, 'r.csv'));
    expect(refused).toMatchObject({ code: 'invalid_input', path, got });
  });
});

describe('servegen', () => {
  it('has the quantiles of clients, those without requests too', () => {
    const trace = quantiles(excerpt('servegen.jsonl'));
    expect(trace.reader).toBe('servegen');
    expect(trace.rows.map((row) => row.rps)).toEqual([0.36167, 0]);
    for (const { inputTokens, outputTokens } of trace.rows) {
      expect([inputTokens.length, outputTokens.length]).toEqual([101, 101]);
    }
    expect(trace.rows[0]!.inputTokens.slice(0, 3)).toEqual([241, 245, 246]);
    expect(trace.rows[1]!.outputTokens[100]).toBe(91);
  });

  it.each([
    ['rps', { rps: -1 }],
    ['output_tokens', { output_tokens: [1, 2, 3] }],
    ['output_tokens[7]', { output_tokens: Array.from({ length: 101 }, (_, at) => (at === 7 ? -1 : at)) }],
    ['input_tokens', { input_tokens: undefined }],
  ])('refuses a bad %s', (field, fields) => {
    const text = `${changed('servegen.jsonl', {})}\n\n${changed('servegen.jsonl', fields)}`;
    expect(refusal(() => readTrace(text, 's.jsonl'))).toMatchObject({
      code: 'invalid_input',
      path: `s.jsonl:3.${field}`,
    });
  });
});
