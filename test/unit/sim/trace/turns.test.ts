/** Traces of several turns: what agents and sessions did, read from the formats in which it is published. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addedIn, type TracePrompt } from '../../../../src/sim/trace/format.ts';
import { DumpImport, type DumpImportOptions } from '../../../../src/sim/trace/import/import.ts';
import { readTrace } from '../../../../src/sim/trace/read.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const excerpt = (file: string): string =>
  readFileSync(new URL(`../../../fixtures/traces/${file}`, import.meta.url), 'utf8');
const words = {
  method: 'tokenizer' as const,
  label: 'words',
  count: (text: string) => text.split(/[^A-Za-z]+/).filter(Boolean).length,
};

function read(lines: readonly object[], options: Partial<DumpImportOptions> = {}): readonly TracePrompt[] {
  const text = lines.map((one) => `${JSON.stringify(one)}\n`).join('');
  const trace = readTrace(text, 'f', { fingerprint: (of) => `<${of}>`, ...options });
  if (trace.kind !== 'prompts') throw new Error('expected prompts');
  return trace.prompts;
}

/** Tokens of the contexts with which turns began, one after the other, and what they generated. */
function contexts({ promptTokens = 0, responses }: TracePrompt): number[][] {
  return responses.map(({ turns = [] }) => {
    let context = promptTokens;
    return turns.map(({ addedTokens = 0, tokens }) => {
      const begun = context + addedTokens;
      context = begun + tokens;
      return begun;
    });
  });
}

describe('tau-airline', () => {
  const [line] = excerpt('tau-airline.jsonl').split('\n');
  const changed = (fields: object): object => ({ ...(JSON.parse(line!) as object), ...fields });

  it('has the trials of a task as responses of one prompt, in turns', () => {
    const trial = {
      turns: [
        { in: 5, gen: 7, call: true },
        { in: 9, gen: 0, call: true },
      ],
      reward: 1,
    };
    const [prompt, ...more] = read([changed({}), changed({ trial: 1, ...trial })]);
    expect(more).toEqual([]);
    expect(prompt).toEqual({
      prompt: 'airline-44',
      promptTokens: 1303,
      sharedTokens: 1303,
      environment: 'airline',
      task: 'agent',
      responses: [
        {
          tokens: 109 + 74,
          correct: false,
          turns: [
            { addedTokens: 35, tokens: 109, tool: 'user' },
            { addedTokens: 33, tokens: 74 },
          ],
        },
        {
          tokens: 8,
          correct: true,
          turns: [
            { addedTokens: 5, tokens: 7, tool: 'database' },
            { addedTokens: 9, tokens: 1 },
          ],
        },
      ],
    });
  });

  it.each([
    ['turns[0].gen', { turns: [{ in: 1, gen: -1 }] }],
    ['turns[1].in', { turns: [{ in: 1, gen: 1 }, { gen: 1 }] }],
    ['system_tokens', { system_tokens: -1 }],
    ['trial', { trial: 'first' }],
  ])('refuses a bad %s', (field, fields) => {
    expect(refusal(() => read([changed(fields)])).path).toBe(`f:1.${field}`);
  });

  it('leaves out a trial without a turn, and counts it', () => {
    const dump = new DumpImport({ fingerprint: (text) => text });
    dump.line(JSON.stringify(changed({})), 'f', 1);
    dump.line(JSON.stringify(changed({ trial: 1, turns: [] })), 'f', 2);
    expect(dump.summary()).toMatchObject({ skipped: { empty: 1 }, turns: { p50: 2, most: 2 } });
  });
});

describe('trajectories', () => {
  const messages = [
    { role: 'system', content: 'be good' },
    { role: 'user', content: [{ type: 'text', text: 'fix the bug' }] },
    {
      role: 'assistant',
      content: 'I look',
      tool_calls: [{ id: 'x', function: { name: 'bash', arguments: '{"c":"ls"}' } }],
    },
    { role: 'tool', content: 'one two three', tool_call_id: 'x' },
    { role: 'assistant', content: 'done', reasoning_content: 'hm' },
    { role: 'user', content: 'never read' },
  ];
  const expected = {
    promptTokens: 5,
    sharedTokens: 2,
    environment: '<be good>',
    task: 'agent',
    responses: [
      {
        tokens: 9,
        correct: true,
        turns: [
          { addedTokens: 0, tokens: 7, tool: 'bash' },
          { addedTokens: 3, tokens: 2 },
        ],
      },
    ],
  };

  it.each([
    ['of SWE-smith, as a list', { messages, instance_id: 'i', resolved: true, traj_id: 't' }],
    ['of SWE-smith, as text', { messages: JSON.stringify(messages), instance_id: 'i', resolved: true }],
    ['of OpenHands', { trajectory: messages, instance_id: 'i', resolved: 1, trajectory_id: 't' }],
  ])('%s are turns', (_, row) => {
    expect(read([row], { textTokens: words })).toEqual([{ prompt: 'i', ...expected }]);
  });

  it('of SWE-agent have their words in `text` and `system_prompt`, and answers of tools from the user', () => {
    const trajectory = [
      { role: 'system', system_prompt: 'be good', text: null, mask: true },
      { role: 'user', text: 'fix the bug' },
      { role: 'ai', text: 'ls' },
      { role: 'user', text: 'a b' },
      { role: 'ai', text: 'submit it' },
    ];
    const row = {
      instance_id: 'i',
      model_name: 'm',
      target: false,
      trajectory,
      exit_status: 'submitted (exit_context)',
    };
    expect(read([row], { textTokens: words })[0]!.responses).toEqual([
      {
        tokens: 3,
        correct: false,
        capped: true,
        turns: [
          { addedTokens: 0, tokens: 1, tool: 'user' },
          { addedTokens: 2, tokens: 2 },
        ],
      },
    ]);
  });

  it('of one task are responses of one prompt; those that begin otherwise are another', () => {
    const other = [{ role: 'user', content: 'a prompt that has six words' }, ...messages.slice(2)];
    const rows = [messages, other, messages].map((one) => ({ messages: one, instance_id: 'i' }));
    const found = read(rows, { textTokens: words }).map((one) => [one.prompt, one.promptTokens, one.responses.length]);
    expect(found).toEqual([
      ['i', 5, 2],
      ['i~6', 6, 1],
    ]);
  });

  it('are estimated from characters if asked, and say so; they are refused if nothing says how to count', () => {
    const quarter = {
      method: 'characters' as const,
      label: '0.25 tokens a character',
      count: (text: string) => Math.round(text.length / 4),
    };
    expect(read([{ messages }], { textTokens: quarter })[0]).toMatchObject({ estimated: '0.25 tokens a character' });
    expect(refusal(() => read([{ messages }]))).toMatchObject({ code: 'invalid_config', path: 'f:1.messages[0]' });
  });

  it('whose messages are none are refused, with the place', () => {
    const read1 = (list: unknown) => refusal(() => read([{ messages }, { messages: list }], { textTokens: words }));
    expect(read1([{ content: 'x' }])).toMatchObject({ path: 'f:2.messages[0].role', expected: 'a string (required)' });
    expect(read1('[{"role"')).toMatchObject({ path: 'f:2.messages', expected: 'an array' });
    expect(read1(undefined)).toMatchObject({ path: 'f:2', expected: 'a list `messages` or `trajectory`' });
  });

  it('with an unknown role are refused, with the nearest', () => {
    const wrong = [...messages, { role: 'asistant', content: '' }];
    const refused = refusal(() => read([{ messages: wrong }], { textTokens: words }));
    expect(refused).toMatchObject({ code: 'invalid_input', path: 'f:1.messages[6].role' });
    expect(refused.expected).toMatch(/did you mean "assistant"/);
  });

  it('conserve tokens: prompt, turns and what was added are all messages up to the last of the model', () => {
    const text = fc.integer({ min: 1, max: 9 }).map((count) => Array(count).fill('w').join(' '));
    const role = fc.constantFrom('assistant', 'tool', 'user');
    const message = fc.record({ role, content: text });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), text, (list, first) => {
        const all = [{ role: 'system', content: first }, ...list, { role: 'assistant', content: 'w' }];
        const count = all.reduce((sum, one) => sum + words.count(one.content), 0);
        const [{ promptTokens, responses }] = read(
          [{ messages: all }, { messages: [...all, ...list.filter((one) => one.role !== 'assistant')] }],
          { textTokens: words },
        ) as [TracePrompt];
        for (const { tokens, turns } of responses) expect(promptTokens! + addedIn(turns!) + tokens).toBe(count);
        expect(responses).toHaveLength(2);
      }),
      { numRuns: 50 },
    );
  });
});

describe('mooncake', () => {
  it('finds the sessions of an excerpt, and the prefix that they share', () => {
    const trace = readTrace(excerpt('mooncake-sessions.jsonl'), 'm');
    if (trace.kind !== 'prompts') throw new Error('expected prompts');
    expect(trace.reader).toBe('mooncake');
    expect(trace.prompts).toEqual([
      {
        prompt: 'session-0',
        promptTokens: 1182,
        sharedTokens: 512,
        environment: 'prefix-0',
        responses: [
          {
            tokens: 27 + 35 + 64,
            turns: [
              { tokens: 27 },
              { addedTokens: 1222 - 1182 - 27, tokens: 35 },
              { addedTokens: 1274 - 1222 - 35, tokens: 64 },
            ],
          },
        ],
      },
      expect.objectContaining({ prompt: 'session-1', promptTokens: 1096, sharedTokens: 512 }),
    ]);
    expect(contexts(trace.prompts[1]!)).toEqual([[1096, 1120, 1185, 1245]]);
  });

  it('does not take an end inside a prefix of many for a session', () => {
    const request = (input_length: number, ...hash_ids: number[]) => ({
      timestamp: 0,
      input_length,
      output_length: 1,
      hash_ids,
    });
    const many = Array.from({ length: 9 }, (_, at) => request(1000, 0, 10 + at));
    const [short, next] = [request(600, 0, 98), request(1400, 0, 99, 100)];
    expect(read([short, next, ...many])).toHaveLength(11);
    expect(read([short, next])).toHaveLength(1);
  });

  it('takes a request that is shorter than context and answer for another session', () => {
    const request = (input_length: number, hash_ids: number[]) => ({
      timestamp: 0,
      input_length,
      output_length: 100,
      hash_ids,
    });
    expect(read([request(1024, [0, 1]), request(1123, [0, 1, 2])])).toHaveLength(2);
    expect(read([request(1024, [0, 1]), request(1124, [0, 1, 2])])).toHaveLength(1);
  });

  it.each([
    ['hash_ids', { hash_ids: [1] }, '2 blocks of 512 tokens'],
    ['output_length', { output_length: -1 }, 'number >= 0'],
    ['timestamp', { timestamp: 'x' }, 'a number >= 0'],
  ])('refuses a bad %s', (field, fields, expected) => {
    const good = { timestamp: 0, input_length: 513, output_length: 1, hash_ids: [1, 2] };
    const refused = refusal(() => read([good, { ...good, ...fields }]));
    expect(refused).toMatchObject({ code: 'invalid_input', path: `f:2.${field}`, expected });
  });

  it('conserves tokens: contexts and answers are those of the requests', () => {
    const session = fc.record({
      prefix: fc.constantFrom(0, 1, 2),
      turns: fc.array(fc.record({ added: fc.nat(900), output: fc.nat(700) }), { minLength: 1, maxLength: 6 }),
    });
    fc.assert(
      fc.property(fc.array(session, { minLength: 1, maxLength: 6 }), (sessions) => {
        let next = 10;
        const requests = sessions.flatMap(({ prefix, turns }) => {
          let [input, blocks] = [512 * prefix, Array.from({ length: prefix }, (_, at) => at)];
          return turns.map(({ added, output }) => {
            input += added;
            while (blocks.length < Math.ceil(input / 512)) blocks = [...blocks, next++];
            const one = { timestamp: 0, input_length: input, output_length: output, hash_ids: blocks };
            // The last block is another one as soon as more is in it.
            blocks = blocks.slice(0, Math.floor(input / 512));
            input += Math.max(1, output);
            return one;
          });
        });
        const prompts = read(requests);
        const sorted = (list: readonly number[]) => [...list].sort((a, b) => a - b);
        expect(sorted(prompts.flatMap((one) => contexts(one).flat()))).toEqual(
          sorted(requests.map((one) => one.input_length)),
        );
        const answers = requests.reduce((sum, one) => sum + Math.max(1, one.output_length), 0);
        expect(prompts.reduce((sum, one) => sum + one.responses[0]!.tokens, 0)).toBe(answers);
        expect(prompts.length).toBeLessThanOrEqual(requests.length);
      }),
      { numRuns: 100 },
    );
  });
});
