/** What tells shared faults from faults of one's own, without a policy: domains, open failures, verdicts and suspensions. */
import { describe, expect, test } from 'vitest';
import {
  beginTry,
  type FaultDomain,
  isFailing,
  mustWait,
  pauseAfter,
  SharedFaults,
  takesTry,
  type Where,
} from '../../../../src/core/rollout/shared-faults.ts';

const anywhere: Where = { scope: 'engine', id: null };
const on = (id: string): Where => ({ scope: 'engine', id });

/** Faults with a clock, an order of launches and failures, and what was emitted; saved and restored before each call, if asked for. */
class Faults {
  all = new SharedFaults();
  order = 0;
  at = 0;
  readonly told: { type: string; reason: object }[] = [];
  readonly restores: boolean;

  constructor(restores: boolean) {
    this.restores = restores;
  }

  get #now(): SharedFaults {
    if (this.restores) this.all = new SharedFaults(JSON.parse(JSON.stringify(this.all.save())));
    return this.all;
  }

  get #ctx() {
    return { at: this.at, emit: (one: { type: string; reason: object }) => this.told.push(one) } as never;
  }

  /** Returns the number of a launch, or of a failure. */
  next(): number {
    this.order += 1;
    return this.order;
  }

  /** Lets a try fail of an item of which none has succeeded, or of one that can succeed (`isGood`). */
  fail(item: string, where = anywhere, { tryId = '', isGood = false } = {}): boolean {
    return this.#now.failed({ ...where, item, place: 0, kind: 'x', order: this.next(), isGood }, tryId, this.at);
  }

  /** Lets a try succeed that was launched now, or with this number. Returns whose failures are own, and whose forgotten. */
  succeed(item: string, where = anywhere, launched = this.next()) {
    const { verdicts, hasRecovered } = this.#now.succeeded(where, item, launched, this.#ctx);
    const of = (isOwn: boolean) => verdicts.filter((one) => one.isOwn === isOwn).map(({ failure }) => failure.item);
    return { own: of(true), forgotten: of(false), hasRecovered };
  }

  /** Lets tries of four other items succeed, as many as judge what failed before, and returns the verdicts of each. */
  succeedFour(where = anywhere, launched?: number) {
    return ['w', 'x', 'y', 'z'].map((other) => {
      const { own, forgotten } = this.succeed(other, where, launched);
      return { own, forgotten };
    });
  }

  /** Lets items fail in a row that ends: what they fail after that is judged. */
  endRow(items: string, where = anywhere): void {
    for (const item of items) this.fail(item, where);
    this.succeed('other', where);
  }

  keepLatest(item: string, most: number): void {
    this.#now.keepLatest({ item, place: 0, kind: 'x' }, most);
  }

  suspend(where = anywhere, inFlight = 0): string[] {
    const domain = this.#now.find(where)!;
    return this.all.suspend(domain, this.next(), inFlight, this.#ctx).map(({ failure }) => failure.item);
  }

  remove(id: string): unknown[] {
    return this.#now.removeDomain(on(id), this.#ctx).map(({ failure, isOwn }) => [failure.item, isOwn]);
  }

  tell(scope: Where['scope']): void {
    this.#now.endSuspensions(scope, this.#ctx);
  }

  find(where = anywhere): FaultDomain {
    return this.#now.find(where)!;
  }

  open(item: string): number {
    return [...this.#now.openOf(item)].length;
  }
}

const nothing = { own: [], forgotten: [] };
/** What {@link Faults.succeedFour} returns where the fourth success charges these items. */
const atTheFourth = (...own: string[]) => [nothing, nothing, nothing, { own, forgotten: [] }];
const nobody = () => false;
const somebody = () => true;

test('the pauses of failures in a row are 0, 1, 2, 4 … 60 seconds', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1e9].map(pauseAfter)).toStrictEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
});

describe.each([
  ['in one go', false],
  ['saved and restored before each call', true],
])('faults, %s', (_how, restores) => {
  const start = () => new Faults(restores);

  test('where nothing fails nothing is remembered, and where all is well again nothing is kept', () => {
    const faults = start();
    expect(faults.succeed('a')).toStrictEqual({ own: [], forgotten: [], hasRecovered: false });
    expect(faults.all.isQuiet).toBe(true);
    faults.fail('a');
    expect(faults.all.isQuiet).toBe(false);
    expect(faults.succeed('b')).toStrictEqual({ own: [], forgotten: ['a'], hasRecovered: false });
    // It is known that it was forgiven, until it succeeds.
    expect(faults.all.isQuiet).toBe(false);
    faults.succeed('a');
    expect(faults.all.isQuiet).toBe(true);
    expect(faults.all.save()).toStrictEqual({ domains: [], open: [] });
  });

  test('the success of an item shows that its failures were not its own', () => {
    const faults = start();
    faults.fail('a');
    faults.fail('a');
    const { forgotten } = faults.succeed('a');
    expect(forgotten).toStrictEqual(['a', 'a']);
    expect(faults.open('a')).toBe(0);
    // Two of three tries of an item that can succeed have failed: the domain is not healthy.
    faults.fail('b');
    expect(faults.succeed('c')).toMatchObject({ own: [], forgotten: ['b'] });
  });

  test('a failure is judged by tries that were launched after it, in the order of the failures', () => {
    const faults = start();
    faults.endRow('ab');
    const before = faults.next();
    faults.fail('a');
    const between = faults.next();
    faults.fail('b');
    expect(faults.succeedFour(anywhere, before)).toStrictEqual([nothing, nothing, nothing, nothing]);
    expect(faults.succeedFour(anywhere, between)).toStrictEqual(atTheFourth('a'));
    expect(faults.succeedFour()).toStrictEqual(atTheFourth('b'));
  });

  test('a domain is healthy while at most a quarter of the last sixteen tries of good items failed', () => {
    const faults = start();
    faults.endRow('a');
    for (let turn = 0; turn < 2; turn += 1) faults.fail('good', anywhere, { isGood: true });
    faults.succeed('good');
    // Two of five, of six, of seven: what fails is forgotten at once. Then two of eight.
    for (let turn = 0; turn < 3; turn += 1) {
      faults.fail('a');
      expect(faults.succeed('b')).toMatchObject({ own: [], forgotten: ['a'] });
    }
    faults.fail('a');
    expect(faults.succeedFour()).toStrictEqual(atTheFourth('a'));
  });

  test('no more than sixteen tries, and as many items that have failed in a row, are remembered', () => {
    const faults = start();
    for (let item = 0; item < 40; item += 1) faults.fail(`i${item % 20}`, anywhere, { isGood: true });
    const { recent, failing, failures } = faults.find();
    expect(recent).toStrictEqual(Array.from({ length: 16 }, () => true));
    expect([...failing.keys()]).toStrictEqual(Array.from({ length: 16 }, (_, item) => `i${item + 4}`));
    expect(failures).toBe(40);
  });

  test('what failed in a part is judged by tries in this part, and both must be healthy', () => {
    const faults = start();
    faults.endRow('a', on('e0'));
    faults.fail('a', on('e0'));
    expect(faults.succeedFour(on('e1'))).toStrictEqual([nothing, nothing, nothing, nothing]);
    expect(faults.succeed('b')).toMatchObject(nothing);
    expect(faults.succeed('b', on('e0'))).toMatchObject({ own: ['a'], forgotten: [] });
    // The part is well, the whole is not.
    for (const item of ['c', 'd', 'c', 'd']) faults.fail(item, on('e2'), { isGood: true });
    faults.fail('a', on('e0'));
    expect(faults.succeed('i', on('e0'))).toMatchObject({ own: [], forgotten: ['c', 'd', 'c', 'd', 'a'] });
  });

  test('scopes are apart', () => {
    const faults = start();
    const pool: Where = { scope: 'environment', id: 'pool' };
    faults.endRow('a', pool);
    faults.fail('a', pool);
    expect(faults.succeedFour()).toStrictEqual([nothing, nothing, nothing, nothing]);
    expect(faults.succeedFour(pool)).toStrictEqual(atTheFourth('a'));
  });

  test('items that fail one after the other: eight, or all that are in flight; one alone in a part is no fault of the whole', () => {
    const faults = start();
    faults.fail('a');
    expect(isFailing(faults.find(), 0, nobody)).toBe(false);
    faults.fail('b');
    expect(isFailing(faults.find(), 9, nobody)).toBe(true);
    expect(isFailing(faults.find(), 9, somebody)).toBe(false);
    for (const item of ['c', 'd', 'e', 'f', 'g']) faults.fail(item);
    expect(isFailing(faults.find(), 99, somebody)).toBe(false);
    faults.fail('h');
    expect(isFailing(faults.find(), 99, somebody)).toBe(true);
    const parts = start();
    for (const item of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) parts.fail(item, on('e0'));
    expect(isFailing(parts.find(on('e0')), 99, somebody)).toBe(true);
    expect(isFailing(parts.find(), 99, somebody)).toBe(false);
    parts.fail('i', on('e1'));
    expect(isFailing(parts.find(), 99, somebody)).toBe(true);
  });

  test('a success that was launched before the first failure calms one item only, a later one all', () => {
    const faults = start();
    const before = faults.next();
    for (const item of ['a', 'b', 'c']) faults.fail(item);
    faults.succeed('d', anywhere, before);
    expect([...faults.find().failing.keys()]).toStrictEqual(['b', 'c']);
    faults.succeed('d');
    expect(faults.find().failing.size).toBe(0);
  });

  test('a suspension ends with the success of a try that was launched since; an older one does not end it', () => {
    const faults = start();
    for (const item of 'abcdefgh') faults.fail(item);
    const before = faults.next();
    faults.at = 10;
    faults.suspend();
    expect(faults.told).toStrictEqual([
      {
        type: 'tries.suspended',
        at: 10,
        scope: 'engine',
        reason: { code: 'failing', items: 8, failures: 8, retrySeconds: 1 },
      },
    ]);
    faults.at = 15;
    expect(faults.succeed('i', anywhere, before)).toMatchObject({ hasRecovered: false });
    expect(faults.succeed('i')).toMatchObject({ hasRecovered: true });
    expect(faults.told[1]).toStrictEqual({
      type: 'tries.recovered',
      at: 15,
      scope: 'engine',
      reason: { code: 'succeeded', suspendedSeconds: 5 },
    });
    expect(faults.all.isQuiet).toBe(true);
  });

  test('single tries: one at a time, after 1, 2, 4 … 60 seconds', () => {
    const faults = start();
    for (const item of 'abcdefgh') faults.fail(item);
    faults.suspend();
    const pauses: number[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      const from = faults.at;
      const { retryAt } = faults.find().suspension!;
      expect(takesTry(faults.find(), retryAt - 0.5)).toBe(false);
      expect(mustWait(faults.find(), 'a', retryAt - 0.5)).toBe(true);
      expect(mustWait(faults.find(), 'a', retryAt)).toBe(false);
      faults.at = retryAt;
      beginTry(faults.find(), `t${turn}`, 'a', faults.at);
      expect(mustWait(faults.find(), 'b', faults.at + 1e3)).toBe(true);
      pauses.push(retryAt - from);
      faults.fail('a', anywhere, { tryId: `t${turn}` });
    }
    expect(pauses).toStrictEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
    // One that has ended without saying anything is no failure, but the next one waits all the same.
    const { failures, failing } = faults.find();
    beginTry(faults.find(), 't', 'b', faults.at);
    faults.all.dropTries(faults.at, (_, id) => id === 't');
    expect(faults.find().tries.size).toBe(0);
    expect(faults.find().failures).toBe(failures);
    expect([...faults.find().failing]).toEqual([...failing]);
    expect(faults.find().suspension!.retryAt).toBe(faults.at + 60);
  });

  test('what others share elsewhere does not make single tries without a pause', () => {
    const faults = start();
    faults.fail('a');
    faults.fail('b');
    faults.suspend(anywhere, 2);
    expect(mustWait(faults.find(), 'c', 0)).toBe(false);
    beginTry(faults.find(), 'c0', 'c', 0);
    faults.all.dropTries(0, () => true);
    expect(mustWait(faults.find(), 'c', 0.9)).toBe(true);
    expect(mustWait(faults.find(), 'c', 1)).toBe(false);
    beginTry(faults.find(), 'c1', 'c', 1);
    faults.all.dropTries(1, () => true);
    expect(mustWait(faults.find(), 'd', 2.9)).toBe(true);
  });

  test('until as many items have failed as were in flight, each other one is tried once, without a pause', () => {
    const faults = start();
    faults.fail('a');
    faults.fail('b');
    faults.suspend(anywhere, 2);
    expect(faults.find().suspension).toMatchObject({ items: 4 });
    expect(mustWait(faults.find(), 'a', 0)).toBe(true);
    expect(mustWait(faults.find(), 'c', 0)).toBe(false);
    beginTry(faults.find(), 'c0', 'c', 0);
    expect(mustWait(faults.find(), 'c', 0)).toBe(true);
    beginTry(faults.find(), 'd0', 'd', 0);
    expect(mustWait(faults.find(), 'e', 0)).toBe(true);
  });

  test('a part that is suspended alone is not charged, and does not make the whole suspicious', () => {
    const faults = start();
    for (const item of 'abcdefgh') faults.fail(item, on('e0'));
    expect(faults.suspend(on('e0'))).toStrictEqual([...'abcdefgh']);
    expect(faults.fail('a', on('e0'))).toBe(false);
    expect(faults.open('a')).toBe(0);
    expect(faults.find().failing.size).toBe(0);
    // Its failures were forgotten with the suspension, so that what it fails elsewhere after that is judged at once.
    faults.fail('b', on('e1'));
    expect(faults.succeedFour(on('e1'))).toStrictEqual(atTheFourth('b'));
    faults.endRow('i', on('e1'));
    faults.fail('i', on('e1'));
    expect(faults.succeedFour(on('e1'))).toStrictEqual(atTheFourth('i'));
  });

  test('the host says that something has changed: the scope recovers, others do not', () => {
    const faults = start();
    for (const item of 'abcdefgh') {
      faults.fail(item, { scope: 'prompt', id: null });
      faults.fail(item);
    }
    faults.suspend({ scope: 'prompt', id: null });
    faults.suspend();
    expect(faults.told[0]).toMatchObject({ scope: 'prompt', reason: { code: 'failing', items: 8, failures: 8 } });
    expect(faults.told[0]!.reason).not.toHaveProperty('retrySeconds');
    faults.at = 7;
    faults.tell('prompt');
    expect(faults.told.slice(2)).toStrictEqual([
      { type: 'tries.recovered', at: 7, scope: 'prompt', reason: { code: 'told', suspendedSeconds: 7 } },
    ]);
    expect(faults.find().suspension).not.toBeNull();
  });

  test('an item that has left, and a part that is gone, are forgotten with their failures', () => {
    const faults = start();
    faults.fail('a', on('e0'));
    faults.fail('a', on('e1'));
    faults.fail('b', on('e1'));
    faults.all.forget('a');
    expect(faults.open('a')).toBe(0);
    expect(faults.remove('e1')).toStrictEqual([['b', false]]);
    expect(faults.find(on('e1'))).toBeUndefined();
    expect(faults.open('b')).toBe(0);
    expect(faults.remove('e9')).toStrictEqual([]);
  });

  test('after a restart of the host nothing is in flight, and the next single try is a second away', () => {
    const faults = start();
    for (const item of 'abcdefgh') faults.fail(item);
    faults.suspend();
    faults.at = 1;
    beginTry(faults.find(), 't', 'a', 1);
    faults.all.restart(50);
    expect(faults.find().tries.size).toBe(0);
    expect(faults.find().suspension).toMatchObject({ retryAt: 51 });
  });

  test('what fails again after a row of failures has ended is own, once four others have succeeded since', () => {
    const faults = start();
    faults.fail('bad');
    expect(faults.succeed('a')).toMatchObject({ own: [], forgotten: ['bad'] });
    faults.fail('bad');
    expect(faults.succeedFour()).toStrictEqual(atTheFourth('bad'));
  });

  test('so is one that an outage hit alone, where others from before succeed first', () => {
    const faults = start();
    const before = faults.next();
    faults.fail('bad');
    faults.fail('bad');
    expect(faults.succeedFour(anywhere, before)).toStrictEqual([nothing, nothing, nothing, nothing]);
    expect(faults.succeed('a')).toMatchObject({ own: [], forgotten: ['bad', 'bad'] });
    faults.fail('bad');
    expect(faults.succeedFour()).toStrictEqual(atTheFourth('bad'));
  });

  test('what an item has failed is forgotten, and not that it was forgotten once in another scope', () => {
    const faults = start();
    const reward: Where = { scope: 'reward', id: null };
    faults.fail('bad', reward);
    faults.succeed('a', reward);
    faults.fail('bad', reward);
    faults.fail('bad');
    faults.all.forget('bad', 'reward');
    expect(faults.open('bad')).toBe(1);
    expect(faults.succeedFour(reward)).toStrictEqual(atTheFourth('bad'));
  });

  test('where each part is suspended the whole is, and what fails in the parts is open again', () => {
    const faults = start();
    const parts = [on('e0'), on('e1')];
    const suspended: unknown[] = [];
    const suspendWhole = () =>
      faults.all.suspendWhole(parts, ({ id, failing }) => {
        suspended.push(id, [...failing]);
        faults.suspend();
      });
    faults.endRow('ab', on('e0'));
    for (const item of 'ab') faults.fail(item, on('e0'));
    faults.suspend(on('e0'));
    expect(suspendWhole()).toBe(false);
    for (const item of 'cd') faults.fail(item, on('e1'));
    faults.suspend(on('e1'));
    expect(faults.fail('a', on('e0'))).toBe(false);
    expect(suspendWhole()).toBe(true);
    expect(suspended).toEqual([
      null,
      [
        ['b', 'e0'],
        ['a', 'e0'],
        ['c', 'e1'],
        ['d', 'e1'],
      ],
    ]);
    expect(suspendWhole()).toBe(false);
    expect(faults.fail('a', on('e0'))).toBe(true);
  });

  test('two that always fail are told from an outage, though each success ends a suspension', () => {
    const faults = start();
    const own: string[] = [];
    for (let round = 0; round < 8; round += 1) {
      faults.fail('bad');
      faults.fail('worse');
      if (faults.all.find(anywhere)!.suspension === null) faults.suspend();
      own.push(...faults.succeed(`good${round}`).own);
    }
    expect(new Set(own)).toEqual(new Set(['bad', 'worse']));
  });

  test('one that fails in a row and then succeeds tells of an outage: all is forgotten, a second time as well', () => {
    const faults = start();
    for (const item of ['a', 'b', 'c']) faults.fail(item);
    faults.suspend();
    expect(faults.succeed('new').forgotten).toEqual(['a', 'b', 'c']);
    for (const item of ['a', 'b', 'c']) faults.fail(item);
    faults.suspend();
    expect(faults.succeed('a').forgotten).toEqual(['a', 'b', 'c']);
    for (const other of ['d', 'e', 'f', 'g']) expect(faults.succeed(other).own).toEqual([]);
  });

  test('of a long series of failures the latest are kept, and what has succeeded since the first counts', () => {
    const faults = start();
    faults.fail('bad');
    faults.succeed('a');
    const own = ['b', 'c', 'd', 'e', 'f'].flatMap((other) => {
      faults.fail('bad');
      faults.keepLatest('bad', 1);
      return faults.succeed(other).own;
    });
    expect(own).toEqual(['bad']);
  });

  test('the latest are kept of each try of an item: those of another, and of another kind, stay', () => {
    const faults = start();
    const failure = (place: number, kind = 'x') =>
      ({ ...anywhere, item: 'bad', place, kind, order: faults.next(), isGood: false }) as const;
    for (const one of [failure(1), failure(0, 'y'), failure(0), failure(0)]) faults.all.failed(one, '', 0);
    faults.keepLatest('bad', 1);
    expect([...faults.all.openOf('bad')].map(({ place, kind }) => [place, kind])).toEqual([
      [1, 'x'],
      [0, 'y'],
      [0, 'x'],
    ]);
  });

  test('a part on which only those fail that were forgiven before is not new trouble', () => {
    const faults = start();
    faults.fail('bad', on('e0'));
    faults.fail('worse', on('e0'));
    expect(faults.all.countNew(faults.all.find(on('e0'))!)).toBe(2);
    faults.succeed('a', on('e0'));
    faults.fail('bad', on('e0'));
    faults.fail('worse', on('e0'));
    expect(faults.all.countNew(faults.all.find(on('e0'))!)).toBe(0);
  });
});
