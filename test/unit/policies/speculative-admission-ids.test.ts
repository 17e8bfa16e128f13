/** Request ids: how they are minted, and how a request is found by its id whatever its prompt is called. */
import { describe, expect, test } from 'vitest';
import { IdMint, parseId } from '../../../src/policies/speculative-admission/ids.ts';
import { bothWays, brief } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

describe('ids', () => {
  test('an id is prefix, prompt, index and attempt, in whatever order they are asked for', () => {
    const mint = new IdMint();
    const asked = [
      ['', 'a', 0, 0],
      ['', 'a', 1, 0],
      ['', 'b', 1, 0],
      ['h1-', 'b', 1, 0],
      ['h1-', 'b', 1, 2],
      ['h1-', 'b', 12, 2],
      ['h1-', 'a', 0, 0],
      ['', 'a', 0, 0],
      ['', '', 3, 10],
    ] as const;
    expect(asked.map(([prefix, prompt, index, attempt]) => mint.mint(prefix, prompt, index, attempt))).toStrictEqual([
      'a/0#0',
      'a/1#0',
      'b/1#0',
      'h1-b/1#0',
      'h1-b/1#2',
      'h1-b/12#2',
      'h1-a/0#0',
      'a/0#0',
      '/3#10',
    ]);
  });

  test.each([
    ['', 'a/0#0', { promptId: 'a', index: 0, attempt: 0 }],
    ['', 'a/12#345', { promptId: 'a', index: 12, attempt: 345 }],
    ['', 'set/7/x/3#1', { promptId: 'set/7/x', index: 3, attempt: 1 }],
    ['', 'a#1/2#3/4#5', { promptId: 'a#1/2#3', index: 4, attempt: 5 }],
    ['', 'two\nlines/0#0', { promptId: 'two\nlines', index: 0, attempt: 0 }],
    ['', 'a/123456789#123456789', { promptId: 'a', index: 123456789, attempt: 123456789 }],
    ['h1-', 'h1-a/10#11', { promptId: 'a', index: 10, attempt: 11 }],
    ['h/1#', 'h/1#a/0#0', { promptId: 'a', index: 0, attempt: 0 }],
  ])('with prefix %j, %j is read as %j', (prefix, id, parsed) => {
    expect(parseId(prefix, id)).toStrictEqual(parsed);
  });

  test.each([
    ['', 'a'],
    ['', 'a/0'],
    ['', 'a#0'],
    ['', '/0#0'],
    ['', 'a/x#0'],
    ['', 'a/0#x'],
    ['', 'a/0#'],
    ['', 'a/#0'],
    ['', 'a/0#0 '],
    ['', 'a/1234567890#0'],
    ['', 'a/0#1234567890'],
    ['h1-', 'a/0#0'],
    ['h1-', 'h1-/0#0'],
    ['h1-', 'h2-a/0#0'],
  ])('with prefix %j, %j is no id', (prefix, id) => {
    expect(parseId(prefix, id)).toBeUndefined();
  });
});

describe.each(bothWays)('requests are found by their ids, %s', (_how, start) => {
  test.each(['set/7', 'a#1', 'a/1#0', '/', '#', 'two\nlines', 'h1-'])('of a prompt named %j', (promptId) => {
    for (const idPrefix of ['', 'h1-', 'job/1#']) {
      const session = start({ idPrefix, promptsPerRound: 1 });
      const launches = only(session.open([{ promptId }]), 'request.launch').map((one) => one.requestId);
      expect(launches).toStrictEqual([`${idPrefix}${promptId}/0#0`, `${idPrefix}${promptId}/1#0`]);
      expect(brief(session.complete(...launches)).at(-1)).toBe('round.drained r0 all_ended');
    }
  });

  test('of a response with an index of two digits', () => {
    const session = start({ promptsPerRound: 1, responsesPerPrompt: 12 });
    session.open(prompts('a'));
    session.complete(...Array.from({ length: 11 }, (_, index) => `a/${11 - index}#0`));
    expect(only(session.complete('a/0#0'), 'prompt.collected')).toMatchObject([
      { requestIds: Array.from({ length: 12 }, (_, index) => `a/${index}#0`) },
    ]);
    expect(brief(session.complete('a/11#0'))).toStrictEqual(['response.late a/11#0 completion']);
  });

  test('attempt numbers go on from the highest that was used, also by tries again', () => {
    const session = start();
    session.open(prompts('a', 'b'));
    session.tell('response.failed', { requestId: 'a/0#0', kind: 'infrastructure' });
    session.tell('response.failed', { requestId: 'a/0#1', kind: 'data' });
    session.tell('response.failed', { requestId: 'a/0#2', kind: 'environment' });
    session.at = 2;
    session.tell('timer.fired', { timerId: 'speculative-admission/pause' });
    expect(session.state).toMatchObject({ nextAttempt: 4 });
    session.complete('a/0#3', 'a/1#0', 'b/0#0', 'b/1#0');
    expect(only(session.open(prompts('c')), 'request.launch').map((one) => one.requestId)).toStrictEqual([
      'c/0#4',
      'c/1#4',
    ]);
  });
});
