/** What the page of a running job is told: answers of a server in memory, with a clock that is moved by hand. */
import { describe, expect, test, vi } from 'vitest';
import { answersOf } from '../../../src/cli/dashboard/answers.ts';
import { Feed, feedLimits } from '../../../src/cli/dashboard/feed.ts';
import { inOneGo } from '../../../src/core/why/why.ts';
import { createRegistry, tailBatching } from '../../../src/index.ts';
import type { SessionAnswer } from '../../../src/logs/job/live-answers.ts';
import { both } from '../../../src/logs/write/decision-log.ts';
import { registry as shipped } from '../../../src/registry.ts';
import { RpcServer } from '../../../src/rpc/index.ts';
import { completed, HandClock, openingEvents, tail, WireClient } from '../../support/servers/clocked.ts';

function running({ watch = false, registry = shipped as never } = {}) {
  const clock = new HandClock();
  const feed = new Feed(clock);
  const server = new RpcServer({ clock, registry, decisionLog: feed, ...(watch ? { watch: {} } : {}) });
  const answers = answersOf(server, feed, { watch });
  const of = (text: string) => new URLSearchParams(text);
  return {
    clock,
    feed,
    server,
    client: new WireClient(server),
    job: (query = '') => answers.job(of(query)),
    session: (id: string): SessionAnswer => inOneGo(answers.session(of(`session=${id}`)) as never) as SessionAnswer,
    timeline: (query: string) => answers.timeline(of(query)),
    requests: (query: string) => answers.requests(of(query)),
    why: (query: string) => answers.why(of(query)),
  };
}

const send = (client: WireClient, events: readonly object[], session = 'job') =>
  client.call('session.send', { session, events });

describe('answers', () => {
  test('who has to act comes from the state, also before anything was followed', async () => {
    const { client, session, clock } = running();
    await client.call('session.open', { ...tail, session: 'job' });
    await send(client, openingEvents());
    const before = session('job');
    expect(before).toMatchObject({ seq: 2, followed: null, isCut: false });
    expect(before.owed).toMatchObject([{ who: 'engine', answer: 'response.completed', count: 9, late: 0 }]);
    clock.move(1);
    const { followed, held } = session('job');
    expect(followed).toMatchObject({
      earlier: 0,
      totals: { events: 2 },
      missed: [],
      rounds: [{ id: 'r1', launched: 9 }],
    });
    expect(held).toContainEqual(expect.objectContaining({ what: 'round', stands: 'has 0 of 2 prompts' }));
  });

  test('what is owed is looked up anew, also where the machine did something else for seconds in the middle of a look', async () => {
    let passed = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (passed += 5000));
    const { client, session, why, clock } = running();
    await client.call('session.open', { ...tail, session: 'job' });
    await send(client, openingEvents());
    const [owed] = session('job').owed;
    expect(owed).toMatchObject({ answer: 'response.completed', count: 9 });
    await send(client, [completed(owed!.ids[0]!, clock.time)]);
    clock.move(60);
    expect(session('job').owed).toContainEqual(expect.objectContaining({ answer: 'response.completed', count: 8 }));
    expect(why('session=job&id=a').answer).toMatch(/^Prompt a /);
    vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 24_000, system: 1_000 });
    expect(() => why('session=job&id=a')).toThrow('what is looked through in 25 ms');
  });

  test('why of a thing, of the whole, and of what is not held', async () => {
    const { client, why, clock, job } = running();
    await client.call('session.open', { ...tail, session: 'job' });
    await send(client, [{ type: 'engine.added', at: 0, engineId: 'e7' }, ...openingEvents()]);
    clock.move(1);
    expect(why('session=job&id=a').answer).toMatch(/^Prompt a .* owes response\.completed/);
    expect(why('session=job').answer).toContain('response.completed');
    expect(() => why('session=job&id=zebra')).toThrow('the id of something that is held');
    expect(() => why('session=other')).toThrow('a session that is open');
    expect(() => why(`session=job&id=${'x'.repeat(3000)}`)).toThrow('at most 2048 characters');
    expect(job().sessions[0]).toMatchObject({
      session: 'job',
      load: { owed: [{ by: 'engine', count: 9 }], overdue: false },
    });
  });

  test('what takes far longer than usual is overdue, by what was followed or by the watchdog', async () => {
    for (const watch of [false, true]) {
      const { client, session, clock, job } = running({ watch });
      await client.call('session.open', { ...tail, session: 'job' });
      await send(
        client,
        openingEvents().map((one) => ({ ...one, at: clock.time })),
      );
      const [{ id }] = session('job').owed.map(({ ids }) => ({ id: ids[0]! })) as [{ id: string }];
      clock.move(2);
      await send(client, [completed(id, clock.time)]);
      clock.move(100);
      expect(job().sessions[0]!.load!.overdue).toBe(false);
      clock.move(5000);
      const { owed, notices } = session('job');
      // Without the watchdog the present is not known of a session whose times are no Unix times, but the page counts on.
      expect([job().sessions[0]!.load!.overdue, notices.length > 0]).toEqual([true, watch]);
      if (watch) expect(owed[0]).toMatchObject({ overdue: true, late: 8 });
    }
  });

  test('refused events by code and path, and the last of them', async () => {
    const { client, session } = running();
    await client.call('session.open', { ...tail, session: 'job' });
    for (let n = 0; n < 30; n += 1) {
      const events = [{ ...openingEvents()[1]!, prompts: [{ promptId: n % 2 === 0 ? 5 : '' }] }];
      await client.reply('session.send', { session: 'job', events, producer: `host\u0007${n}` });
    }
    const { refused, refusedKinds, refusedLast } = session('job');
    expect([refused, refusedKinds.length, refusedLast.length]).toEqual([30, 1, 20]);
    expect(refusedKinds).toEqual([{ code: 'invalid_event', path: 'prompts[*].promptId', count: 30 }]);
    expect(refusedLast.at(-1)).toMatchObject({ code: 'invalid_event', producer: 'host\\u000729' });
  });

  test('a policy that does not say what blocks what is shown by what it asked for', async () => {
    const own = Object.create(null, {
      ...Object.getOwnPropertyDescriptors(tailBatching),
      id: { value: 'acme/tail', enumerable: true },
      waits: { value: undefined },
    });
    const { client, session, clock } = running({ registry: createRegistry([own]) as never });
    await client.call('session.open', { ...tail, policy: 'acme/tail', session: 'job' });
    await send(client, openingEvents());
    clock.move(1);
    const { owed, held } = session('job');
    expect(owed).toMatchObject([{ answer: 'response.completed', count: 9 }]);
    expect(held).toContainEqual(expect.objectContaining({ what: 'prompts', stands: 'is held', count: 3 }));
  });

  test('what came before a session was heard is counted, not drawn', async () => {
    const first = running();
    await first.client.call('session.open', { ...tail, session: 'job' });
    await send(first.client, openingEvents());
    const { snapshot } = await first.client.call('session.snapshot', { session: 'job' });
    const { client, session, clock, timeline } = running();
    await client.call('session.open', { snapshot, session: 'job' });
    const [{ ids } = { ids: [] }] = session('job').owed;
    await send(client, [completed(ids[0]!)]);
    clock.move(1);
    expect(session('job').followed).toMatchObject({ earlier: 2, totals: { events: 1, completed: 1 } });
    expect(timeline('session=job&level=0')!.actors).toEqual([]);
    expect(() => timeline('session=job&level=9')).toThrow('at most 6');
  });
});

describe('the feed', () => {
  test('leaves out what is too much at once, in one piece, and says how many events', async () => {
    const { client, session, clock } = running();
    await client.call('session.open', { ...tail, session: 'job' });
    const known = Array.from({ length: 1000 }, (_, n) => ({ type: 'engine.added', at: 0, engineId: `e${n % 3}` }));
    const calls = Math.ceil(feedLimits.events / 1000) + 2;
    for (let n = 0; n < calls; n += 1) await send(client, known);
    for (let n = 0; n < 2000; n += 1) clock.move(0.2);
    expect(session('job').followed).toMatchObject({ totals: { events: feedLimits.events }, missed: [] });
    await send(client, known.slice(0, 5));
    clock.move(1);
    const { followed, seq } = session('job');
    expect(followed!.missed).toMatchObject([{ events: calls * 1000 - feedLimits.events }]);
    expect(followed!.totals.events + followed!.missed[0]!.events).toBe(seq);
  });

  test('follows so many sessions, and one beyond them once somebody looks at it', async () => {
    const { client, session, clock, job } = running();
    for (let n = 0; n <= feedLimits.sessions; n += 1) {
      await client.call('session.open', { ...tail, session: `s${n}` });
      await send(client, openingEvents(), `s${n}`);
    }
    clock.move(1);
    const last = `s${feedLimits.sessions}`;
    const loads = () =>
      job()
        .sessions.filter(({ load }) => load === null)
        .map(({ session: id }) => id);
    expect(loads()).toEqual([last]);
    expect(session(last).owed).toMatchObject([{ count: 9 }]);
    expect(loads()).toEqual(['s0']);
    await client.call('session.close', { session: 's1' });
    await send(client, [completed(session('s0').owed[0]!.ids[0]!)], 's0');
    clock.move(1);
    expect(session('s0').followed).toMatchObject({ earlier: 2, totals: { events: 1 } });
  });

  test('beside a decision log both hear everything; a session that takes the id of another is another', async () => {
    const [one, other] = [new Feed(new HandClock()), new Feed(new HandClock())];
    const server = new RpcServer({ decisionLog: both(one, other) });
    const client = new WireClient(server);
    await client.call('session.open', { ...tail, session: 'job' });
    const first = server.sessions.get('job');
    await client.reply('session.send', { session: 'job', events: [{ type: 'nothing', at: 0 }] });
    await client.call('session.open', { ...tail, session: 'job', onExisting: 'replace' });
    const second = server.sessions.get('job');
    for (const feed of [one, other]) {
      expect([feed.heard(first)!.isClosed, feed.heard(first)!.refusedCount]).toEqual([true, 1]);
      expect([feed.heard(second)!.isClosed, feed.heard(second)!.run]).toEqual([false, 2]);
    }
  });
});
