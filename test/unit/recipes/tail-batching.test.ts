import { expect, test } from 'vitest';
import { create, tailBatching } from '../../../src/index.ts';
import type { Prompt } from '../../../src/schemas/index.ts';
import { only, prompts, Session } from '../../support/sessions/session.ts';

const tail = (config = {}) =>
  new Session(
    create(tailBatching, {
      promptsPerRound: 2,
      responsesPerPrompt: 2,
      promptSpeculation: 1.5,
      responseSpeculation: 1.5,
      ...config,
    }) as never,
  );

/** Runs a round in which the first two prompts are the fast ones. */
function round(session: Session, supplied: readonly Prompt[]) {
  const roundId = `r${session.rounds++}`;
  const asked = session.send({ type: 'round.requested', roundId, weightVersion: session.rounds } as never);
  const wants = only(asked, 'prompts.request')[0]?.count ?? 0;
  const more =
    wants === 0 ? [] : session.send({ type: 'prompts.supplied', roundId, prompts: supplied.slice(0, wants) } as never);
  const launches = only([...asked, ...more], 'request.launch');
  const fast = [...new Set(launches.map((one) => one.promptId))].slice(0, 2);
  const all = launches
    .filter((one) => fast.includes(one.promptId) && one.index < 2)
    .flatMap((one) => session.complete(one.requestId));
  return {
    wants,
    kind: only(asked, 'round.planned')[0]!.kind,
    trained: only(all, 'round.completed')[0]!.prompts.map((one) => one.promptId),
    all: [...all, ...session.confirm(all)],
  };
}

test('short rounds defer, and the deferred come together in a long round', () => {
  const session = tail();
  expect(round(session, prompts('a', 'b', 'long1'))).toMatchObject({ wants: 3, kind: 'short', trained: ['a', 'b'] });
  session.restore();
  expect(round(session, prompts('c', 'd', 'long2'))).toMatchObject({ kind: 'short', trained: ['c', 'd'] });
  const last = round(session, []);
  expect(last).toMatchObject({ wants: 0, kind: 'long', trained: ['long1', 'long2'] });
  expect(only(last.all, 'round.completed')[0]!.prompts[0]!.deferral).toMatchObject({ count: 1, sinceRound: 0 });
});

test('a prompt that is drawn again while it is queued does not crash, and is not queued twice', () => {
  const session = tail();
  round(session, prompts('a', 'b', 'x'));
  const again = round(session, prompts('c', 'd', 'x'));
  expect(only(again.all, 'prompt.merged')).toMatchObject([{ promptId: 'x', reason: { code: 'already_queued' } }]);
});

test('a round is refused whole while the last one drains: no part has changed', () => {
  const session = tail();
  session.send({ type: 'round.requested', roundId: 'q', weightVersion: 0 } as never);
  session.refuses({ type: 'round.requested', at: 0, roundId: 'q2', weightVersion: 0 }, 'out_of_order', 'roundId');
});

test('internal events are refused from outside', () => {
  const session = tail();
  session.refuses(
    { type: 'round.opened', at: 0, roundId: 'q', kind: 'short', weightVersion: 0, prompts: [] },
    'invalid_event',
    'type',
  );
  session.refuses({ type: 'prompt.deferred', at: 0 }, 'invalid_event', 'type');
});

test('a failed long round puts its prompts back (RollPacker artifact)', () => {
  const session = tail();
  round(session, prompts('a', 'b', 'x'));
  round(session, prompts('c', 'd', 'y'));
  session.send({ type: 'round.requested', roundId: 'bad', weightVersion: 2 } as never);
  session.confirm(session.send({ type: 'round.failed', roundId: 'bad' } as never));
  expect(round(session, [])).toMatchObject({ kind: 'long', trained: ['x', 'y'] });
});

test('nothing is left when the source is exhausted: the queue is flushed (RollPacker artifact)', () => {
  const session = tail();
  round(session, prompts('a', 'b', 'x'));
  session.send({ type: 'source.exhausted' } as never);
  expect(round(session, [])).toMatchObject({ kind: 'long', trained: ['x'] });
  expect(session.send({ type: 'round.requested', roundId: 'end', weightVersion: 9 } as never)).toMatchObject([
    { type: 'source.drained' },
  ]);
});
