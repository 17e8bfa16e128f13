/** Rounds that work without progress: every prompt is filtered. What bounds them, what they end with, and what is said of them. */
import { describe, expect, test } from 'vitest';
import type { Why } from '../../../src/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { bothWays, brief, type Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

interface Asked {
  why(id: string, what: string): Why;
}

/** Completes both responses of a prompt, with these rewards. */
function ends(session: Rounds, id: string, ...rewards: readonly [number, number]): VocabularyDecision[] {
  const requestIds = [0, 1].map((index) => {
    const found = session.state.prompts as unknown as {
      spec: { promptId: string };
      responses: { requestId: string }[];
    }[];
    return found.find(({ spec }) => spec.promptId === id)!.responses[index]!.requestId;
  });
  session.complete(...requestIds);
  return requestIds.flatMap((requestId, at) => session.tell('reward.ready', { requestId, reward: rewards[at] }));
}
const completed = (all: readonly VocabularyDecision[]) =>
  only(all, 'round.completed').map(({ prompts: trained, reason }) => [trained.map(({ promptId }) => promptId), reason]);

describe.each(bothWays)('a round that may filter so many prompts, %s', (_how, start) => {
  test('is bounded only where it is set', () => {
    const session = start({ filter: 'zero-variance' });
    session.open(prompts('a', 'b'));
    let asked = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      asked += only(ends(session, turn === 0 ? 'a' : `p${turn}`, 0, 0), 'prompts.request').length;
      session.supply('r0', { promptId: `p${turn + 1}` });
    }
    expect(asked).toBe(200);
  });

  test('asks for no more, and ends with those that count', () => {
    const session = start({ filter: 'zero-variance', maxFiltered: 2 });
    session.open(prompts('a', 'b'));
    expect(brief(ends(session, 'a', 1, 0))).toContain('prompt.counted a passed');
    expect(brief(ends(session, 'b', 0, 0))).toContain('prompts.request r0 filtered');
    session.supply('r0', { promptId: 'c' }, { promptId: 'd' });
    const last = ends(session, 'c', 1, 1);
    expect(brief(last).slice(-4)).toEqual([
      'prompt.filtered c zero_variance',
      'round.completed r0 filtered',
      'prompt.returned d not_started',
      'round.drained r0 all_ended',
    ]);
    expect(completed(last)).toEqual([
      [['a'], { code: 'filtered', counted: 1, needed: 2, filtered: 2, maxFiltered: 2 }],
    ]);
  });

  test('waits for the prompts that it has, which may count, and starts no others', () => {
    const session = start({ filter: 'host', maxFiltered: 1 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    const judge = (promptId: string, keep: boolean) => session.tell('prompt.judged', { roundId: 'r0', promptId, keep });
    expect(brief(judge('a', false))).toEqual(['prompt.filtered a host']);
    expect(session.why('r0', 'rounds')).toContain('r0 has 0 of 2 prompts, and 1 was filtered');
    expect(brief(session.supply('r0', { promptId: 'late' }))).toEqual([]);
    session.complete('b/0#0', 'b/1#0');
    expect(brief(judge('b', true))).toEqual([
      'prompt.counted b passed',
      'round.completed r0 filtered',
      'prompt.returned late not_started',
      'round.drained r0 all_ended',
    ]);
  });

  test('does not wait for prompts that were asked for, and returns them when they come', () => {
    const session = start({ filter: 'zero-variance', maxFiltered: 2 });
    session.open(prompts('a', 'b'));
    ends(session, 'a', 0, 0);
    expect(completed(ends(session, 'b', 0, 0))).toEqual([
      [[], { code: 'filtered', counted: 0, needed: 2, filtered: 2, maxFiltered: 2 }],
    ]);
    expect(brief(session.supply('r0', { promptId: 'c' }))).toEqual(['prompt.returned c round_closed']);
  });

  test('with nothing it asks for no prompts until the host opens the next round', () => {
    const session = start({ filter: 'zero-variance', maxFiltered: 1 });
    session.open(prompts('a', 'b'));
    ends(session, 'a', 0, 0);
    expect(completed(ends(session, 'b', 0, 0))).toMatchObject([[[], { code: 'filtered', counted: 0, filtered: 2 }]]);
    expect(session.tell('source.reopened')).toEqual([]);
    expect(only(session.tell('host.restarted', { idPrefix: 'again-' }), 'prompts.request')).toEqual([]);
    expect(brief(session.open([]))).toEqual(['prompts.request r1 round_opened']);
    expect(session.why('r1', 'rounds')).toContain('r1 has 0 of 2 prompts, and 2 in a row were filtered');
  });

  test('the bound is for a round, over its domains', () => {
    const quotas = { code: 1, math: 1 };
    const session = start({ filter: 'zero-variance', maxFiltered: 1, quotas });
    session.open([
      { promptId: 'a', domain: 'code' },
      { promptId: 'b', domain: 'math' },
    ]);
    expect(brief(ends(session, 'a', 0, 0))).not.toContain('prompts.request r0 filtered');
    expect(completed(ends(session, 'b', 0, 1))).toMatchObject([[['b'], { code: 'filtered', counted: 1, filtered: 1 }]]);
  });

  test('after a restart it asks for no more either', () => {
    const session = start({ filter: 'zero-variance', maxFiltered: 1 });
    session.open(prompts('a', 'b'));
    ends(session, 'a', 0, 0);
    const again = session.tell('host.restarted', { idPrefix: 'again-' });
    expect(again.map(({ type }) => type)).toEqual(['request.launch', 'request.launch']);
  });
});

describe.each(bothWays)('when what a round waits for was asked for, %s', (_how, start) => {
  const since = (session: Rounds, id: string, what: string, type: string) =>
    (session.policy as unknown as Asked).why(id, what).owed.find(({ event }) => event.type === type)?.since;

  test('prompts: by the last request, or the last portion', () => {
    const session = start({ filter: 'zero-variance' });
    session.open(prompts('a'));
    expect(since(session, 'r0', 'rounds', 'prompts.supplied')).toBe(0);
    session.at = 30;
    session.supply('r0', { promptId: 'b' });
    session.at = 1500;
    ends(session, 'a', 0, 0);
    expect(since(session, 'r0', 'rounds', 'prompts.supplied')).toBe(1500);
    session.at = 1502;
    ends(session, 'b', 0, 0);
    session.at = 1503;
    session.supply('r0', { promptId: 'c' });
    expect(since(session, 'r0', 'rounds', 'prompts.supplied')).toBe(1503);
  });

  test('a response whose tool has answered: by its last resumption', () => {
    const session = start();
    session.open(prompts('a', 'b'));
    session.at = 60;
    session.tell('tool.started', { requestId: 'a/0#0', tool: 'bash' });
    session.at = 100;
    session.tell('tool.finished', { requestId: 'a/0#0', outcome: 'success' });
    expect(since(session, 'a/0#0', 'requests', 'response.completed')).toBe(100);
    expect(since(session, 'a/1#0', 'requests', 'response.completed')).toBe(0);
  });
});
