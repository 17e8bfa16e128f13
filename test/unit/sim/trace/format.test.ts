import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTrace, readTraceLine } from '../../../../src/sim/trace/format.ts';
import { readTrace } from '../../../../src/sim/trace/read.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const response = fc.record(
  {
    tokens: fc.integer({ min: 1, max: 2 ** 31 }),
    correct: fc.boolean(),
    // JSON has no −0.
    rewardSeconds: fc.double({ min: 0, max: 1e6, noNaN: true }).map((seconds) => seconds + 0),
    capped: fc.boolean(),
  },
  { requiredKeys: ['tokens'] },
);
const turn = fc.record(
  {
    tokens: fc.integer({ min: 1, max: 1e6 }),
    addedTokens: fc.nat(),
    tool: fc.string({ minLength: 1 }),
    toolSeconds: fc.double({ min: 0, max: 1e6, noNaN: true }).map((seconds) => seconds + 0),
  },
  { requiredKeys: ['tokens'] },
);
const inTurns = fc
  .array(turn, { minLength: 1, maxLength: 4 })
  .map((list) => ({ tokens: list.reduce((sum, { tokens }) => sum + tokens, 0), turns: list }));
const prompt = fc.record(
  {
    prompt: fc.string({ minLength: 1, unit: 'binary' }),
    promptTokens: fc.nat(),
    task: fc.string(),
    sharedTokens: fc.nat(),
    environment: fc.string({ minLength: 1 }),
    responses: fc.array(fc.oneof(response, inTurns), { minLength: 1, maxLength: 4 }),
  },
  { requiredKeys: ['prompt', 'responses'] },
);

const turns = (list: string): string => `{"responses":[{"tokens":1,"turns":[${list}]}]}`;
const ofTurns = 'f:3.responses[0]';

describe('the format of rollflex', () => {
  it('is read as it was written, whatever is in ids and tasks', () => {
    const prompts = fc.uniqueArray(prompt, { selector: (one) => one.prompt, minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(prompts, (given) => {
        const text = formatTrace(given);
        expect(text.split('\n')).toHaveLength(given.length + 1);
        expect(readTrace(text)).toEqual({ kind: 'prompts', reader: 'rollflex', prompts: given });
      }),
    );
  });

  it('needs tokens only; the place of a line is its id', () => {
    expect(readTraceLine('{"responses":[{"tokens":3}]}', 'a.jsonl:7')).toEqual({
      prompt: 'a.jsonl:7',
      responses: [{ tokens: 3 }],
    });
    expect(formatTrace([])).toBe('');
  });

  it.each([
    ['not JSON', '{"responses":', 'f:3', 'a JSON object'],
    ['an array', '[{"tokens":1}]', 'f:3', 'a JSON object'],
    ['a number', '7', 'f:3', 'a JSON object'],
    ['null', 'null', 'f:3', 'a JSON object'],
    ['two objects', '{"responses":[{"tokens":1}]} {}', 'f:3', 'a JSON object'],
    ['no responses', '{"prompt":"a"}', 'f:3.responses', /array/],
    ['an empty list of responses', '{"responses":[]}', 'f:3.responses', 'array >= 1'],
    ['a response without tokens', '{"responses":[{"tokens":1},{}]}', 'f:3.responses[1].tokens', /number/],
    ['0 tokens', '{"responses":[{"tokens":0}]}', 'f:3.responses[0].tokens', 'number > 0'],
    ['half a token', '{"responses":[{"tokens":1.5}]}', 'f:3.responses[0].tokens', 'a whole number'],
    ['tokens as text', '{"responses":[{"tokens":"9"}]}', 'f:3.responses[0].tokens', /number/],
    [
      'more tokens than a double counts',
      '{"responses":[{"tokens":1e300}]}',
      'f:3.responses[0].tokens',
      'int <= 9007199254740991',
    ],
    [
      'a negative reward time',
      '{"responses":[{"tokens":1,"rewardSeconds":-1}]}',
      'f:3.responses[0].rewardSeconds',
      /0/,
    ],
    ['an empty id', '{"prompt":"","responses":[{"tokens":1}]}', 'f:3.prompt', 'string >= 1'],
    ['an id that is a number', '{"prompt":4,"responses":[{"tokens":1}]}', 'f:3.prompt', 'a string'],
    [
      'a mistyped key in the place of one that is needed',
      turns('{"token":1,"toolSecond":1}'),
      `${ofTurns}.turns[0].token`,
      /did you mean "tokens"/,
    ],
    ['a wrong value beside an unknown key', '{"id":"a","responses":[{"tokens":0,"x":1}]}', `${ofTurns}.tokens`, /> 0/],
    ['a turn without tokens', turns('{"addedTokens":1}'), `${ofTurns}.turns[0].tokens`, /number/],
    [
      'a turn that adds less than nothing',
      turns('{"tokens":1,"addedTokens":-1}'),
      `${ofTurns}.turns[0].addedTokens`,
      'number >= 0',
    ],
    ['no turns', turns(''), `${ofTurns}.turns`, 'array >= 1'],
    [
      'turns with more tokens than their response',
      turns('{"tokens":1},{"tokens":2}'),
      `${ofTurns}.tokens`,
      /sum of the tokens of its turns/,
    ],
  ])('refuses %s', (_what, line, path, expected) => {
    const refused = refusal(() => readTraceLine(line, 'f:3'));
    expect(refused).toMatchObject({ code: 'invalid_input', path });
    expect(refused.expected).toMatch(expected);
  });

  it('passes over keys that it does not have, and tells each with the nearest key', () => {
    const line = '{"id":7,"promptToken":3,"responses":[{"tokens":1,"len":1,"turns":[{"tokens":1,"toolSecond":1}]}]}';
    const told: [string, string | undefined][] = [];
    expect(readTraceLine(line, 'f:3', (key, meant) => told.push([key, meant]))).toEqual({
      prompt: 'f:3',
      responses: [{ tokens: 1, turns: [{ tokens: 1 }] }],
    });
    expect(told.toSorted()).toEqual([
      ['id', undefined],
      ['promptToken', 'promptTokens'],
      ['responses[].len', undefined],
      ['responses[].turns[].toolSecond', 'toolSeconds'],
    ]);
  });

  it('is read with its turns and times where responses have more keys', () => {
    const prompts = readTrace('{"prompt":"a","responses":[{"id":1,"tokens":3,"turns":[{"tokens":1},{"tokens":2}]}]}\n');
    expect(prompts).toMatchObject({ reader: 'rollflex', prompts: [{ responses: [{ turns: [{}, {}] }] }] });
    expect(readTrace('{"prompt":"a","responses":[{"id":1,"tokens":3,"rewardSeconds":2}]}\n')).toMatchObject({
      prompts: [{ responses: [{ tokens: 3, rewardSeconds: 2 }] }],
    });
  });

  it('says what was got, shortened', () => {
    expect(refusal(() => readTraceLine(`{"responses":${'x'.repeat(1e6)}`, 'f:1')).got).toHaveLength(120);
  });
});
