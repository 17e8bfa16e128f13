/** What is said of suspended tries: all parts, and whether they hold everything up. */
import { expect, test } from 'vitest';
import { SuspensionNotices } from '../../../../src/core/why/suspended-tries.ts';

const suspended = (id: string, at: number) => ({
  type: 'tries.suspended',
  at,
  scope: 'engine',
  id,
  reason: { code: 'failing', failures: 8 },
});
const recovered = (id: string, at: number) => ({
  type: 'tries.recovered',
  at,
  scope: 'engine',
  id,
  reason: { code: 'succeeded' },
});
const accepted = (at: number) => ({ type: 'response.accepted', at, reason: { code: 'held' } });

/** Follows messages, and is saved and restored before each. */
function after(...messages: readonly { readonly type: string; readonly at: number }[]): SuspensionNotices {
  let notices = new SuspensionNotices();
  for (const one of messages) {
    notices = new SuspensionNotices(JSON.parse(JSON.stringify(notices.save() ?? { all: [] })));
    notices.follow(one as never, one.at);
  }
  return notices;
}
const ids = (all: readonly { readonly id?: string | undefined }[]) => all.map(({ id }) => id);

test('what is suspended holds everything up where no work is done for half a minute', () => {
  const notices = after(accepted(99), suspended('e0', 100), suspended('e1', 101));
  expect(ids(notices.holdingUp(131))).toEqual([]);
  expect(ids(notices.holdingUp(132))).toEqual(['e0', 'e1']);
  expect(notices.all[0]).toEqual({ scope: 'engine', id: 'e0', since: 100, failures: 8 });
});

test('one of several holds nothing up while the others work', () => {
  const notices = after(suspended('e0', 100), accepted(110));
  expect([ids(notices.all), ids(notices.holdingUp(900))]).toEqual([['e0'], []]);
});

test('work before the last of them was suspended does not count', () => {
  expect(ids(after(suspended('e0', 100), accepted(110), suspended('e1', 300)).holdingUp(400))).toEqual(['e0', 'e1']);
});

test('responses that come from weights that are too old, again and again, hold everything up', () => {
  const tried = (at: number, attempt: number) => ({
    type: 'request.launch',
    at,
    reason: { code: 'retry_stale_weights', attempt },
  });
  const stale = [tried(100, 2), tried(110, 3), tried(150, 4)];
  expect(after(...stale).holdingUp(200)).toEqual([{ scope: 'weights', since: 110, failures: 2 }]);
  expect(after(...stale, accepted(160)).all).toEqual([]);
});

test('rewards are held up by themselves, though responses come', () => {
  const rewards = { ...suspended('w0', 100), scope: 'reward' };
  expect(ids(after(rewards, accepted(110)).holdingUp(200))).toEqual(['w0']);
  const ready = { type: 'reward.ready', at: 120 };
  expect(ids(after(rewards, accepted(110), ready).holdingUp(200))).toEqual([]);
});

test('all of a kind stand for its parts', () => {
  const all = { ...suspended('', 120), id: undefined };
  expect(after(suspended('e0', 100), all).all).toEqual([{ scope: 'engine', since: 120, failures: 8 }]);
});

test('what has recovered is not named, and nothing is saved without a suspension', () => {
  const notices = after(suspended('e0', 100), suspended('e1', 101), recovered('e0', 150));
  expect(ids(notices.all)).toEqual(['e1']);
  expect(after(suspended('e0', 100), recovered('e0', 150)).save()).toBe(undefined);
});
