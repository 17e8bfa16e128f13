import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { logFilesIn } from '../../../src/logs/write/files.ts';
import { FileDecisionLog, prometheus, RpcServer, type ServerOptions } from '../../../src/rpc/index.ts';
import { completed, HandClock, openingEvents, tail, WireClient } from '../../support/servers/clocked.ts';
import { Folders, replayOf, sizesOf, wholeLines } from '../../support/servers/decision-log.ts';
import { MemoryStore, serverOn, settleAll } from '../../support/servers/memory-store.ts';

const folders = new Folders();
afterAll(() => folders.remove());

function logged(logDir: string, options: object = {}, server: ServerOptions = {}) {
  const clock = new HandClock();
  const drops: Record<string, number> = {};
  const troubles: (string | undefined)[] = [];
  const written = { lines: 0 };
  const decisionLog = new FileDecisionLog(
    { logDir, ...options },
    {
      version: '1',
      clock,
      written: (lines) => (written.lines += lines),
      dropped: (reason, lines) => (drops[reason] = (drops[reason] ?? 0) + lines),
      trouble: (error) => troubles.push(error?.message),
    },
  );
  const rpc = new RpcServer({ clock, ...server, decisionLog });
  const close = async () => {
    rpc.close();
    await decisionLog.close();
  };
  return { clock, server: rpc, client: new WireClient(rpc), decisionLog, drops, written, troubles, close };
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds() && tries < 5000; tries += 1) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(holds()).toBe(true);
}

const queue = { policy: 'long-prompt-queue', config: { promptsPerRound: 2 } };
const round = (index: number, pad = '') => ({
  type: 'round.requested',
  at: index,
  roundId: `r${index}${pad}`,
  weightVersion: index,
});
const events = (from: number, to: number, pad = '') =>
  Array.from({ length: to - from }, (_, index) => round(from + index, pad));

describe('a decision log', () => {
  test('has what happened, in order, with times and producers, and replays', async () => {
    const directory = folders.next();
    const { client, clock, close } = logged(directory);
    await client.call('session.open', { ...tail, session: 'x' });
    clock.move(2);
    await client.call('session.send', { session: 'x', producer: 'trainer', events: openingEvents() });
    await client.reply('session.send', { session: 'x', events: [completed('a/0#0'), completed('never')] });
    await close();
    const lines = wholeLines(directory);
    expect(lines.map((one) => one.kind)).toEqual(['log', 'session', 'event', 'event', 'event', 'refused', 'closed']);
    expect(lines[0]).toMatchObject({ format: 1, version: '1', file: 1 });
    expect(lines[1]).toMatchObject({
      session: 'x',
      policy: 'tail-batching',
      seq: 0,
      snapshot: { config: tail.config },
    });
    expect(lines[2]).toMatchObject({ time: 1002, seq: 1, producer: 'trainer', event: openingEvents()[0] });
    expect(lines[5]).toEqual({
      kind: 'refused',
      time: 1002,
      session: 'x',
      seq: 3,
      code: 'unknown_id',
      path: 'requestId',
    });
    expect(replayOf(directory)).toMatchObject({ sessions: [{ session: 'x', events: 3, gaps: [], unplayed: 0 }] });
  });

  test('every file can be read by itself, stays below its size, and only the last ones are kept', async () => {
    const directory = folders.next();
    const { client, close } = logged(directory, { logFileBytes: 65_536, logFiles: 3 });
    for (const session of ['a', 'b']) await client.call('session.open', { ...queue, session });
    for (let at = 0; at < 3000; at += 30) {
      for (const session of ['a', 'b']) await client.call('session.send', { session, events: events(at, at + 30) });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await close();
    const names = logFilesIn(directory);
    expect(names).toHaveLength(3);
    expect(Math.max(...sizesOf(directory))).toBeLessThanOrEqual(65_536);
    const whole = replayOf(directory);
    expect(whole.sessions.map((one) => [one.gaps, one.unplayed, one.difference])).toEqual([
      [[], 0, undefined],
      [[], 0, undefined],
    ]);
    // The oldest that is kept begins somewhere; from there on nothing is missing.
    expect(whole.sessions[0]!.events).toBeGreaterThan(50);
    for (const name of names.slice(0, -1)) rmSync(join(directory, name));
    const last = replayOf(directory, 'b');
    expect(last.sessions).toMatchObject([{ session: 'b', gaps: [], unplayed: 0 }]);
    expect(last.sessions[0]!.events).toBeGreaterThan(0);
  });

  test('goes on in a new file after a restart, also where the last line was cut off', async () => {
    const directory = folders.next();
    const store = new MemoryStore();
    for (let run = 0; run < 3; run += 1) {
      const decisionLog = new FileDecisionLog({ logDir: directory });
      const { server } = await serverOn(store, { decisionLog });
      const client = new WireClient(server);
      await settleAll(store);
      const line = {
        jsonrpc: '2.0',
        id: 1,
        method: 'session.open',
        params: { ...queue, session: 'x', onExisting: 'attach' },
      };
      void client.line(line);
      await settleAll(store);
      const send = { session: 'x', events: events(run * 10, run * 10 + 10) };
      void client.line({ jsonrpc: '2.0', id: 2, method: 'session.send', params: send });
      await settleAll(store);
      // As a crash leaves it: no word of an end.
      await decisionLog.close();
      if (run === 1) {
        const path = join(directory, logFilesIn(directory).at(-1)!);
        truncateSync(path, readFileSync(path).length - 7);
      }
    }
    const { sessions, tornFiles } = replayOf(directory);
    expect(tornFiles).toBe(1);
    expect(sessions).toMatchObject([{ events: 29, unplayed: 0, gaps: [{ from: 20, to: 20 }] }]);
    expect(logFilesIn(directory)).toHaveLength(3);
  });

  test('shadow mode outlives a server with its state: what the host decided is nothing to the policy', async () => {
    const directory = folders.next();
    const store = new MemoryStore();
    const decided = (at: number) => ({
      type: 'host.decided',
      at,
      decision: { type: 'sandbox.run', runId: `r${at}`, timeoutSeconds: 9 },
    });
    for (let run = 0; run < 2; run += 1) {
      const decisionLog = new FileDecisionLog({ logDir: directory });
      const { server } = await serverOn(store, { decisionLog });
      const client = new WireClient(server);
      await settleAll(store);
      const ask = async (method: string, params: object) => {
        void client.line({ jsonrpc: '2.0', id: 1, method, params });
        await settleAll(store);
        return JSON.parse(client.lines.at(-1)!).result;
      };
      const policy = { policy: 'sandbox-timeout', config: {}, session: 'x', shadow: true, onExisting: 'attach' };
      expect((await ask('session.open', policy)).seq).toBe(run);
      const requested = { type: 'sandbox.requested', at: run, runId: `r${run}`, testCaseId: 'case' };
      const send = { session: 'x', producer: 'p', firstSeq: 2 * run, events: [decided(run), requested] };
      expect(await ask('session.send', send)).toMatchObject({ seq: run + 1, nextSeq: 2 * run + 2 });
      await decisionLog.close();
    }
    expect(wholeLines(directory).map((one) => one.kind)).toEqual([
      ...['log', 'session', 'decided', 'event'],
      ...['log', 'session', 'decided', 'event'],
    ]);
    expect(replayOf(directory).sessions).toMatchObject([{ events: 2, gaps: [], unplayed: 0 }]);
  });

  test('a session that was closed, replaced or opened from another snapshot leaves no gap', async () => {
    const directory = folders.next();
    const { client, close } = logged(directory);
    await client.call('session.open', { ...queue, session: 'x' });
    await client.call('session.send', { session: 'x', events: events(0, 5) });
    const { snapshot } = await client.call('session.snapshot', { session: 'x' });
    await client.call('session.open', { ...queue, session: 'x', onExisting: 'replace' });
    await client.call('session.send', { session: 'x', events: events(0, 2) });
    await client.call('session.close', { session: 'x' });
    await client.call('session.open', { snapshot, session: 'x' });
    await client.call('session.send', { session: 'x', events: events(5, 8) });
    await close();
    expect(replayOf(directory).sessions).toMatchObject([{ events: 10, gaps: [], unplayed: 0 }]);
  });
});

describe('what a log leaves out', () => {
  test('lines that a slow disk cannot take are dropped, said, and named by the replay; no call fails', async () => {
    const directory = folders.next();
    const { client, drops, written, close } = logged(directory, { logWaitingBytes: 65_536 });
    await client.call('session.open', { ...queue, session: 'x' });
    await client.call('session.send', { session: 'x', events: events(0, 10) });
    await until(() => written.lines === 12);
    // One call is more than may wait.
    const { decisions } = await client.call('session.send', { session: 'x', events: events(10, 2000) });
    expect(decisions).toHaveLength(2 * 1990);
    await until(() => written.lines === 2002 - drops.waiting!);
    await client.call('session.send', { session: 'x', events: events(2000, 2010) });
    await close();
    const said = wholeLines(directory).filter((one) => one.kind === 'dropped');
    expect(said).toHaveLength(1);
    expect(said[0]!.lines).toBe(drops.waiting);
    const { sessions, droppedLines } = replayOf(directory);
    expect(droppedLines).toBe(drops.waiting);
    const [{ gaps, events: played, unplayed, difference }] = sessions as [(typeof sessions)[0]];
    expect(difference).toBeUndefined();
    expect(unplayed).toBe(0);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]!.to).toBe(2000);
    expect(gaps[0]!.to - gaps[0]!.from + 1).toBe(drops.waiting);
    expect(played).toBe(2010 - drops.waiting!);
  });

  test('a line that is longer than a file has room for is left out, and the rest goes on from a snapshot', async () => {
    const directory = folders.next();
    const { client, drops, close } = logged(directory, { logFileBytes: 65_536 });
    await client.call('session.open', {
      ...tail,
      config: { promptsPerRound: 40, responsesPerPrompt: 8 },
      session: 'x',
    });
    const prompts = Array.from({ length: 50 }, (_, index) => ({ promptId: `p${index}` }));
    await client.call('session.send', { session: 'x', events: [openingEvents()[0]] });
    const supplied = { type: 'prompts.supplied', at: 1, roundId: 'r1', prompts };
    const { decisions } = await client.call('session.send', { session: 'x', events: [supplied] });
    expect(decisions.length).toBeGreaterThan(100);
    const done = ['p1/0#0', 'p1/1#0'].map((one) => completed(one, 2));
    await client.call('session.send', { session: 'x', events: done });
    await close();
    expect(drops).toEqual({ tooLong: 1 });
    // The state is too large for these files as well: what follows can be read, but not replayed.
    expect(replayOf(directory).sessions).toMatchObject([{ gaps: [{ from: 2, to: 2 }], events: 1, unplayed: 2 }]);
  });

  test('a disk that refuses lines: calls go on, it is said once, and a new file is tried later', async () => {
    const directory = folders.next();
    const { client, clock, drops, troubles, close } = logged(directory);
    await client.call('session.open', { ...queue, session: 'x' });
    // The folder is gone: no file can be made.
    rmSync(directory, { recursive: true });
    await client.call('session.send', { session: 'x', events: events(0, 3) });
    await until(() => troubles.length === 1);
    await client.call('session.send', { session: 'x', events: events(3, 6) });
    expect(troubles).toHaveLength(1);
    expect(troubles[0]).toContain('ENOENT');
    const dropped = drops.failed!;
    expect(dropped).toBeGreaterThan(5);
    mkdirSync(directory);
    await client.call('session.send', { session: 'x', events: events(6, 7) });
    expect(drops.failed).toBe(dropped + 1);
    clock.move(2);
    await client.call('session.send', { session: 'x', events: events(7, 9) });
    await close();
    expect(troubles).toEqual([troubles[0], undefined]);
    expect(wholeLines(directory).map((one) => one.kind)).toEqual([
      'log',
      'dropped',
      'session',
      'event',
      'event',
      'closed',
    ]);
    expect(replayOf(directory).sessions).toMatchObject([{ events: 2, gaps: [], unplayed: 0 }]);
  });

  test('never writes to a file that is there', async () => {
    const directory = folders.next();
    const { client, clock, troubles, close } = logged(directory);
    writeFileSync(join(directory, 'decisions-00000001.jsonl'), 'of somebody else\n');
    await client.call('session.open', { ...queue, session: 'x' });
    await client.call('session.send', { session: 'x', events: events(0, 1) });
    await until(() => troubles.length === 1);
    clock.move(2);
    await client.call('session.send', { session: 'x', events: events(1, 2) });
    await close();
    expect(readFileSync(join(directory, 'decisions-00000001.jsonl'), 'utf8')).toBe('of somebody else\n');
    expect(logFilesIn(directory)).toHaveLength(2);
  });
});

describe('reading', () => {
  const logOfFive = async (): Promise<string> => {
    const directory = folders.next();
    const { client, close } = logged(directory);
    await client.call('session.open', { ...queue, session: 'x' });
    await client.call('session.send', { session: 'x', events: events(0, 5) });
    await close();
    return join(directory, logFilesIn(directory)[0]!);
  };
  const edited = async (edit: (lines: string[]) => string[]) => {
    const path = await logOfFive();
    writeFileSync(path, `${edit(readFileSync(path, 'utf8').trimEnd().split('\n')).join('\n')}\n`);
    return join(path, '..');
  };

  test('a line that is missing in the middle is named, and not misread', async () => {
    const directory = await edited((lines) => lines.filter((_, index) => index !== 4));
    expect(replayOf(directory).sessions).toMatchObject([
      { events: 2, gaps: [{ from: 3, to: 3, where: 'decisions-00000001.jsonl:5' }], unplayed: 2 },
    ]);
  });

  test('a changed decision is shown', async () => {
    const directory = await edited((lines) =>
      lines.map((line, index) => (index === 3 ? line.replace('short', 'long') : line)),
    );
    expect(replayOf(directory).sessions[0]!.difference).toMatchObject({ seq: 2, where: 'decisions-00000001.jsonl:4' });
  });

  test('an event that this version refuses is a difference, and the rest waits for a snapshot', async () => {
    const directory = await edited((lines) =>
      lines.map((line, index) => (index === 3 ? line.replace('"weightVersion":1', '"weightVersion":-1') : line)),
    );
    const [found] = replayOf(directory).sessions;
    expect(found!.difference!.replayed).toContain('refused');
    expect(found).toMatchObject({ events: 1, unplayed: 3, gaps: [] });
  });

  test('broken lines, other formats and lines out of order are refused with their place', async () => {
    const fails = async (edit: (lines: string[]) => string[], path: string) =>
      expect(replayed(await edited(edit))).toMatchObject({ code: 'invalid_input', path });
    const replayed = (directory: string): unknown => {
      try {
        return replayOf(directory);
      } catch (error) {
        return error;
      }
    };
    await fails((lines) => ['{', ...lines], 'decisions-00000001.jsonl:1');
    await fails((lines) => lines.slice(1), 'decisions-00000001.jsonl:1');
    await fails((lines) => [lines[0]!.replace('"format":1', '"format":2')], 'decisions-00000001.jsonl:1.format');
    await fails((lines) => [...lines.slice(0, 3), lines[2]!], 'decisions-00000001.jsonl:4');
    await fails((lines) => [lines[0]!, lines[2]!], 'decisions-00000001.jsonl:2');
    await fails((lines) => [...lines.slice(0, 3), '{"kind":"event"}'], 'decisions-00000001.jsonl:4.time');
    expect(() => replayOf(join(folders.next(), '..', '1'), 'y')).toThrow('a session of the log');
  });

  test('the end of a file may be cut off at any byte', async () => {
    const path = await logOfFive();
    const text = readFileSync(path, 'utf8');
    for (let length = text.length - 1; length > 0; length -= 37) {
      writeFileSync(path, text.slice(0, length));
      const { sessions } = replayOf(join(path, '..'));
      const before = text.slice(0, length).split('\n').length - 1;
      expect(sessions.length === 0 ? 0 : sessions[0]!.events).toBeGreaterThanOrEqual(
        Math.max(0, Math.min(5, before - 2)),
      );
      expect(sessions[0]?.difference).toBeUndefined();
    }
  });
});

test('/metrics counts lines, bytes and what was dropped', async () => {
  const { meter, listen } = await prometheus();
  const decisionLog = new FileDecisionLog(
    { logDir: folders.next(), logWaitingBytes: 65_536 },
    {
      written: (lines, bytes) => meter.logged(lines, bytes),
      dropped: (reason, lines) => meter.logDropped(reason, lines),
    },
  );
  // By this clock the call does not pause, so that nothing is written before its end.
  const server = new RpcServer({ decisionLog, meter, clock: new HandClock() });
  const client = new WireClient(server);
  await client.call('session.open', { ...queue, session: 'x' });
  await client.call('session.send', { session: 'x', events: events(0, 1000) });
  await decisionLog.close();
  const listening = await listen(server, { port: 0 });
  const text = await (await fetch(`http://127.0.0.1:${listening.port}/metrics`)).text();
  await listening.close();
  const value = (name: string): number =>
    Number(new RegExp(`^rollflex_decision_log_${name} (\\d+)$`, 'm').exec(text)?.[1]);
  const [lines, dropped] = [value('lines_total'), value('dropped_lines_total\\{reason="waiting"\\}')];
  expect(lines + dropped).toBe(1002);
  expect(Math.min(lines, dropped)).toBeGreaterThan(100);
  expect(value('bytes_total')).toBeGreaterThan(20 * lines);
});

test('a directory that cannot be made, and options out of bounds, are refused at once', () => {
  const path = folders.next();
  mkdirSync(path);
  writeFileSync(join(path, 'file'), '');
  expect(() => new FileDecisionLog({ logDir: join(path, 'file', 'x') })).toThrow('logDir: expected a directory');
  expect(() => new FileDecisionLog({ logDir: path, logFiles: 1 })).toThrow('logFiles');
  expect(() => new FileDecisionLog({ logDir: path, logFileBytes: 10 })).toThrow('logFileBytes');
});
