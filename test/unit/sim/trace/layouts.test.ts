/**
 * One set of responses, written in every layout, with the names of many writers, and with every way to say how a response ended: it
 * is read as it is, or refused, and never otherwise.
 */
import { describe, expect, test } from 'vitest';
import { isPolicyError } from '../../../../src/errors.ts';
import { DumpImport } from '../../../../src/sim/trace/import/import.ts';
import { JsonArrayReader } from '../../../../src/sim/trace/json-array.ts';

type End = 'whole' | 'cut' | 'aborted';

interface Sampled {
  readonly prompt: string;
  readonly step: number;
  readonly promptTokens: number;
  readonly tokens: number;
  readonly end: End;
  readonly score: number;
}

const ends: readonly End[] = ['whole', 'cut', 'whole', 'aborted', 'whole', 'whole', 'cut'];
/** Two steps of three prompts, three responses to each. */
const sampled: readonly Sampled[] = [4, 5].flatMap((step) =>
  ['a', 'b', 'c'].flatMap((prompt, row) =>
    [0, 1, 2].map((index) => {
      const at = 9 * (step - 4) + 3 * row + index;
      return {
        prompt: `q-${prompt}`,
        step,
        promptTokens: 7 + row,
        tokens: 21 + ((at * 37) % 90),
        end: ends[at % ends.length]!,
        score: at % 2,
      };
    }),
  ),
);

type Cells = Record<string, unknown>;
const ids = (count: number): number[] => Array.from({ length: count }, (_, at) => 100 + ((at * 7919) % 30_000));

/** How writers name the length of a response and of its prompt. */
const dialects: Readonly<Record<string, (one: Sampled) => Cells>> = {
  openai: ({ prompt, promptTokens, tokens }) => ({
    prompt_id: prompt,
    prompt_tokens: promptTokens,
    completion_tokens: tokens,
  }),
  anthropic: ({ prompt, promptTokens, tokens }) => ({ prompt, input_tokens: promptTokens, output_tokens: tokens }),
  lengths: ({ prompt, promptTokens, tokens }) => ({
    uid: prompt,
    prompt_length: promptTokens,
    response_length: tokens,
  }),
  bench: ({ prompt, promptTokens, tokens }) => ({ question: prompt, input_len: promptTokens, output_len: tokens }),
  table: ({ prompt, promptTokens, tokens }) => ({ Prompt: prompt, 'Prompt Tokens': promptTokens, Tokens: tokens }),
  difference: ({ prompt, promptTokens, tokens }) => ({
    task_id: prompt,
    prompt_len: promptTokens,
    seqlen: promptTokens + tokens,
  }),
  ids: ({ prompt, promptTokens, tokens }) => ({
    problem: prompt,
    prompt_ids: ids(promptTokens),
    response_ids: ids(tokens),
  }),
  mask: ({ prompt, promptTokens, tokens }) => ({
    group_id: prompt,
    prompt_length: promptTokens,
    response_mask: [...Array(tokens).fill(1), 0, 0],
  }),
  text: ({ prompt, promptTokens, tokens }) => ({ prompt, prompt_tokens: promptTokens, response: 'w '.repeat(tokens) }),
};

/** How writers say that a response was cut, or aborted; undefined where they cannot. */
const marks: Readonly<Record<string, (end: End) => Cells | undefined>> = {
  'finish reason': (end) => ({ finish_reason: { whole: 'stop', cut: 'length', aborted: 'abort' }[end] }),
  object: (end) => ({ finish_reason: { type: { whole: 'stop', cut: 'length', aborted: 'abort' }[end], matched: 1 } }),
  'stop reason': (end) => ({ stop_reason: { whole: 'end_turn', cut: 'max_tokens', aborted: 'aborted' }[end] }),
  enum: (end) => ({ finish_reason: `FinishReason.${{ whole: 'STOP', cut: 'LENGTH', aborted: 'ABORTED' }[end]}` }),
  truncated: (end) => (end === 'aborted' ? undefined : { is_truncated: end === 'cut' }),
  'truncated as text': (end) => (end === 'aborted' ? undefined : { truncated: end === 'cut' ? 'True' : 'False' }),
  'truncated as a number': (end) => (end === 'aborted' ? undefined : { truncated: end === 'cut' ? 1 : 0 }),
  status: (end) => (end === 'aborted' ? undefined : { status: end === 'cut' ? 'truncated' : 'ok' }),
  none: (end) => (end === 'whole' ? {} : undefined),
};

type Written = readonly Cells[];
const lines = (rows: Written): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const names = (rows: Written): string[] => Object.keys(rows[0]!);
const column = (rows: Written, name: string): unknown[] => rows.map((row) => row[name]);
const columns = (rows: Written): Cells => Object.fromEntries(names(rows).map((name) => [name, column(rows, name)]));
const keyed = (values: readonly unknown[]): Cells => Object.fromEntries(values.map((value, at) => [at, value]));
const cell = (value: unknown, separator: string): string => {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.includes(separator) || text.includes('"') ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = (rows: Written, separator: string): string =>
  [names(rows), ...rows.map((row) => names(rows).map((name) => row[name]))]
    .map((cells) => `${cells.map((one) => cell(one, separator)).join(separator)}\n`)
    .join('');

const ofPrompt = /prompt|input|question|problem|uid|task_id|group_id|step/i;
/** Rows of a prompt together: what they share, and a row for each response. */
function together(rows: Written): { readonly shared: Cells; readonly each: Cells[] }[] {
  const groups = new Map<string, { shared: Cells; each: Cells[] }>();
  for (const row of rows) {
    const of = (isShared: boolean): Cells =>
      Object.fromEntries(Object.entries(row).filter(([name]) => ofPrompt.test(name) === isShared));
    const shared = of(true);
    const group = groups.get(JSON.stringify(shared)) ?? { shared, each: [] };
    groups.set(JSON.stringify(shared), group);
    group.each.push(of(false));
  }
  return [...groups.values()];
}

const layouts: Readonly<Record<string, (rows: Written) => string>> = {
  lines,
  array: (rows) => JSON.stringify(rows, undefined, 1),
  'numbers as text': (rows) =>
    lines(
      rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? `${value}` : value]),
        ),
      ),
    ),
  lists: (rows) => JSON.stringify(columns(rows)),
  'a list a step': (rows) => lines([4, 5].map((step) => columns(rows.filter((row) => row.step === step)))),
  split: (rows) =>
    JSON.stringify({ columns: names(rows), index: rows.map((_, at) => at), data: rows.map(Object.values) }),
  'wandb table': (rows) => JSON.stringify({ columns: names(rows), data: rows.map(Object.values) }),
  'orient columns': (rows) =>
    JSON.stringify(Object.fromEntries(names(rows).map((name) => [name, keyed(column(rows, name))]))),
  'orient index': (rows) => JSON.stringify(keyed(rows)),
  'orient table': (rows) => JSON.stringify({ schema: { fields: names(rows).map((name) => ({ name })) }, data: rows }),
  results: (rows) => JSON.stringify({ model: 'm', results: rows }),
  csv: (rows) => csv(rows, ','),
  semicolons: (rows) => csv(rows, ';'),
  tabs: (rows) => csv(rows, '\t').replaceAll('\n', '\r\n'),
  'Excel with sep=': (rows) => `sep=;\n${csv(rows, ';')}`,
  'several as lists': (rows) => lines(together(rows).map(({ shared, each }) => ({ ...shared, ...columns(each) }))),
  'several as objects': (rows) => lines(together(rows).map(({ shared, each }) => ({ ...shared, choices: each }))),
  wide: (rows) =>
    lines(
      together(rows).map(({ shared, each }) => ({
        ...shared,
        ...Object.fromEntries(
          each.flatMap((row, at) => Object.entries(row).map(([name, value]) => [`${name}_${at}`, value])),
        ),
      })),
    ),
  nested: (rows) =>
    lines(
      rows.map((row) => {
        const [outer, inner]: Cells[] = [{}, {}];
        for (const [name, value] of Object.entries(row)) {
          const isInner =
            !/^(prompt|prompt_id|uid|question|Prompt|task_id|problem|group_id|step|reward|response|truncated|status|Tokens)$/.test(
              name,
            );
          (isInner ? inner! : outer!)[name] = value;
        }
        return { ...outer, response_info: { body: { usage: inner } } };
      }),
    ),
};

/** What cannot be told from another reading, and is therefore refused: decided before the test was first run. */
const refused: readonly (readonly [layout: string, dialect: string])[] = [];

const words = {
  method: 'tokenizer' as const,
  label: 'words',
  count: (text: string) => text.split(/\s+/).filter(Boolean).length,
};

function read(text: string) {
  const dump = new DumpImport({ fingerprint: (of) => of, textTokens: words });
  if (text.startsWith('[')) {
    const elements = new JsonArrayReader('x', 1e9);
    for (const { text: element, number } of elements.read(new TextEncoder().encode(text)))
      dump.line(element, 'x', number);
  } else for (const [at, line] of text.split('\n').entries()) dump.line(line, 'x', at + 1);
  return [...dump.prompts()]
    .map(({ prompt, promptTokens, responses }) =>
      [
        prompt,
        promptTokens,
        ...responses
          .map(
            ({ tokens, capped, censored, correct }) =>
              `${tokens} ${capped ? 'cut' : censored ? 'aborted' : 'whole'} ${correct}`,
          )
          .sort(),
      ].join('; '),
    )
    .sort();
}

function expectedOf(rows: readonly Sampled[]): string[] {
  const groups = new Map<string, string[]>();
  for (const { prompt, step, promptTokens, tokens, end, score } of rows) {
    const key = `${prompt}@${step}; ${promptTokens}`;
    groups.set(key, [...(groups.get(key) ?? []), `${tokens} ${end} ${score === 1}`]);
  }
  return [...groups].map(([key, responses]) => [key, ...responses.sort()].join('; ')).sort();
}

describe('every layout, dialect and mark is read to the same responses', () => {
  const combinations = Object.keys(layouts).length * Object.keys(dialects).length * Object.keys(marks).length;
  const isRefused = (layout: string, dialect: string): boolean =>
    refused.some(([a, b]) => a === layout && b === dialect);

  test('there are enough of them, and few exceptions', () => {
    expect(combinations).toBeGreaterThanOrEqual(400);
    expect(refused.length * Object.keys(marks).length).toBeLessThanOrEqual(0.05 * combinations);
  });

  test.each(Object.keys(layouts))('%s', (layout) => {
    const otherwise: string[] = [];
    for (const [dialect, named] of Object.entries(dialects)) {
      for (const [mark, marked] of Object.entries(marks)) {
        const kept = sampled.map((one) => (marked(one.end) === undefined ? { ...one, end: 'whole' as const } : one));
        const rows = kept.map((one) => ({ ...named(one), step: one.step, ...marked(one.end), reward: one.score }));
        const text = layouts[layout]!(rows);
        let found: readonly string[] | string;
        try {
          found = read(text);
        } catch (error) {
          if (!isPolicyError(error)) throw error;
          found = error.message;
        }
        const expected = isRefused(layout, dialect) ? found : expectedOf(kept);
        if (JSON.stringify(found) !== JSON.stringify(expected)) {
          otherwise.push(`${dialect}, ${mark}: ${JSON.stringify(found).slice(0, 300)} from ${text.slice(0, 200)}`);
        }
      }
    }
    expect(otherwise).toEqual([]);
  });
});
