/** What files are like: marks, line ends, blank lines, broken lines, nothing at all. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readTrace } from '../../../../src/sim/trace/read.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const folder = new URL('../../../fixtures/traces/', import.meta.url);
const own =
  '{"prompt":"a","responses":[{"tokens":5},{"tokens":6}]}\n{"prompt":"b","promptTokens":9,"responses":[{"tokens":7}]}\n';
const texts: readonly (readonly [file: string, text: string])[] = [
  ['own.jsonl', own],
  ...[
    'castillo.jsonl',
    'lrm-economy.jsonl',
    'misguided-attention.jsonl',
    'skyt1.jsonl',
    'tau-airline.jsonl',
    'azure2023-code.csv',
    'mooncake-conversation.csv',
    'mooncake-sessions.jsonl',
    'servegen.jsonl',
  ].map((file) => [file, readFileSync(new URL(file, folder), 'utf8')] as const),
];
const broken = { code: 'invalid_input', expected: 'a JSON object' };

describe.each(texts)('%s', (file, text) => {
  const plain = readTrace(text, file);
  const lines = text.trimEnd().split('\n');

  it.each<[string, string]>([
    ['a byte order mark', `\uFEFF${text}`],
    ['CRLF', text.replaceAll('\n', '\r\n')],
    ['a byte order mark and CRLF', `\uFEFF${text.replaceAll('\n', '\r\n')}`],
    ['no line end at the end', text.trimEnd()],
    ['blank lines', `\n \t\n${text.replaceAll('\n', '\n\r\n   \n')}\n\n`],
    ['white space around lines', text.replaceAll('\n', '  \n\t ')],
  ])('reads the same with %s', (_what, same) => {
    expect(readTrace(same, file)).toEqual(plain);
  });

  it('names file and line of a broken line, blank ones counted', () => {
    const cut = lines[1]!.slice(0, file.endsWith('.csv') ? lines[1]!.lastIndexOf(',') : 20);
    const refused = refusal(() => readTrace(`${lines[0]}\r\n\r\n\r\n${cut}\r\n`, file));
    expect(refused.path).toBe(file.endsWith('.csv') ? `${file}:4.output_tokens` : `${file}:4`);
    expect(refused.code).toBe('invalid_input');
  });

  it('refuses a prompt that comes twice, with both places', () => {
    const again = `${text}\n${lines[1]}\n`;
    // Quantiles and requests have no ids.
    if (['servegen', 'mooncake'].includes(plain.reader)) expect(readTrace(again, file).kind).toBe(plain.kind);
    else {
      const refused = refusal(() => readTrace(again, file));
      expect(refused).toMatchObject({ code: 'invalid_input', path: `${file}:${lines.length + 2}` });
      const [expected, samples] = ['a prompt id other than that of line 2', 'a sample that has not come before'];
      expect(refused.expected).toBe(plain.reader === 'tau-airline' ? samples : expected);
    }
  });
});

describe('readTrace', () => {
  it.each<[string, string]>([
    ['nothing', ''],
    ['blank lines', '\n\r\n  \n'],
    ['a byte order mark', '\uFEFF'],
    ['a header', 'id,t_ms,input_tokens,output_tokens\n'],
    [
      'empty responses only',
      '{"dataset":"d","gen_s":1,"prompt_id":"a","prompt_tokens":1,"response_tokens":[0]}\n{"dataset":"d","gen_s":1,"prompt_id":"b","prompt_tokens":1,"response_tokens":[0]}',
    ],
  ])('refuses a file with %s', (_what, text) => {
    const refused = refusal(() => readTrace(text, 'empty.jsonl'));
    expect(refused).toMatchObject({ code: 'invalid_input', path: 'empty.jsonl', expected: 'a trace with prompts' });
  });

  it('names a file that has no name', () => {
    expect(refusal(() => readTrace('')).path).toBe('trace');
    expect(refusal(() => readTrace('{')).path).toBe('trace:1');
  });

  it.each<[string, string]>([
    ['an object of another format', '{"name":"a","size":4}'],
    ['a mark before it', '\uFEFF{"name":"a"}'],
  ])('says what a row needs for %s', (_what, line) => {
    const refused = refusal(() => readTrace(`\n${line}\n`, 'x.jsonl'));
    expect(refused).toMatchObject({ code: 'invalid_input', path: 'x.jsonl:2' });
    expect(refused.expected).toBe(
      'a field with the tokens of a response (completion_tokens, …) or with its text (response, …): --field tokens=NAME or --field response=NAME names another',
    );
  });

  it.each<[string, string, string]>([
    ['text', 'two words', 'a JSON object, or a header with a field with the tokens'],
    ['a cut line', '{"prompt":"a","resp', 'a JSON object'],
  ])('takes %s at the beginning for a broken line', (_what, line, expected) => {
    const refused = refusal(() => readTrace(`${line}\n${own}`, 'x'));
    expect(refused).toMatchObject({ code: 'invalid_input', path: 'x:1' });
    expect(refused.expected).toContain(expected);
  });

  it('takes words of other formats inside ids for what they are', () => {
    const text = own.replace('"a"', '"\\"rps\\""').replace('"b"', '"rps"');
    expect(readTrace(text)).toMatchObject({ reader: 'rollflex', prompts: [{ prompt: '"rps"' }, { prompt: 'rps' }] });
    const first = '{"prompt":"rps","task":"dataset","responses":[{"tokens":1}]}';
    expect(readTrace(first)).toMatchObject({ reader: 'rollflex', prompts: [{ prompt: 'rps', task: 'dataset' }] });
    expect(refusal(() => readTrace('{"prompt":"\\"responses\\""}', 'x')).expected).toMatch(
      /a field with the tokens of a response/,
    );
  });

  it('is of one format: a line of another is broken', () => {
    const castillo = texts[1]![1];
    expect(refusal(() => readTrace(`${own}${castillo}`, 'x')).path).toMatch(/^x:3\./);
    expect(refusal(() => readTrace(`${castillo}${own}`, 'x')).path).toMatch(/^x:3\./);
  });

  it('gives prompts without an id the place of their line', () => {
    const text = '{"responses":[{"tokens":5}]}\n\n{"responses":[{"tokens":5}]}\n';
    const trace = readTrace(text, 'mine.jsonl');
    expect(trace.kind === 'prompts' && trace.prompts.map((one) => one.prompt)).toEqual([
      'mine.jsonl:1',
      'mine.jsonl:3',
    ]);
  });

  it('reads very long lines, and shows little of a broken one', () => {
    const tokens = Array.from({ length: 100_000 }, (_, index) => index + 1);
    const responses = tokens.map((one) => ({ tokens: one }));
    const line = JSON.stringify({ prompt: 'x'.repeat(1_000_000), responses });
    const trace = readTrace(`${line}\n${own}`);
    expect(trace.kind === 'prompts' && trace.prompts[0]!.responses).toHaveLength(100_000);
    expect(trace.kind === 'prompts' && trace.prompts).toHaveLength(3);
    const refused = refusal(() => readTrace(`${own}${line.slice(0, -1)}`, 'long'));
    expect(refused).toMatchObject({ ...broken, path: 'long:3' });
    expect(refused.got.length).toBeLessThanOrEqual(120);
  });

  it('reads a line after 50,000 others', () => {
    const text = Array.from({ length: 50_000 }, (_, index) => `{"responses":[{"tokens":${index + 1}}]}`).join('\n');
    const trace = readTrace(text);
    expect(trace.kind === 'prompts' && trace.prompts[49_999]).toEqual({
      prompt: 'trace:50000',
      responses: [{ tokens: 50_000 }],
    });
    expect(refusal(() => readTrace(`${text}\nx`, 'big')).path).toBe('big:50001');
  });
});
