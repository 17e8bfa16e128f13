/** A server that is killed again and again under load, and a client that holds it to what it answered. */
import { type ChildProcess, spawn } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';
import type { AnyEvent, AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { create } from '../../../src/core/machine/start.ts';
import { isPolicyError } from '../../../src/errors.ts';
import { registry } from '../../../src/index.ts';
import { likelyEvents } from '../../../src/testing/index.ts';
import { generator } from '../basics/numbers.ts';
import { exampleConfigs } from '../examples/configs.ts';
import { Gone, type LineClient, type Transport } from './line-client.ts';

export interface KillRun {
  /** How to start `rollflex`: the program and what stands before `serve`. */
  readonly command: readonly [string, ...string[]];
  readonly transport: Transport;
  readonly stateDir: string;
  readonly kills: number;
  readonly seed: number;
  readonly fsync?: 'always' | 'interval';
}

export interface KillFigures {
  kills: number;
  calls: number;
  events: number;
  /** Calls that were sent again because their answer was lost. */
  retries: number;
  /** Of these, calls that had been applied. */
  applied: number;
  sessions: number;
}

interface Call {
  readonly firstSeq: number;
  readonly events: readonly AnyEvent[];
  readonly decisions: readonly unknown[];
}
/** A session with all its calls, and what they give in process. */
interface Script {
  readonly open: Readonly<Record<string, unknown>>;
  readonly calls: readonly Call[];
  readonly snapshot: unknown;
}

const subjects = registry.policies.flatMap((definition) =>
  exampleConfigs[definition.id]!.slice(0, 1).map((config) => ({
    definition: definition as AnyPolicyDefinition,
    config,
  })),
);
const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value));
const mostCallEvents = 12;
/** Calls under way at once. */
const window = 6;

function scriptOf(number: number, random: () => number): Script {
  const { definition, config } = subjects[number % subjects.length]!;
  const tape = Array.from({ length: 200 }, () => Math.floor(random() * 1000));
  const policy = create(definition, config) as unknown as {
    send(event: AnyEvent): unknown[];
    snapshot(): unknown;
  };
  const calls: Call[] = [];
  let [firstSeq, events, decisions]: [number, AnyEvent[], unknown[]] = [0, [], []];
  const end = (): void => {
    if (events.length > 0) calls.push({ firstSeq, events, decisions: asJson(decisions) });
    [firstSeq, events, decisions] = [firstSeq + events.length, [], []];
  };
  for (const event of likelyEvents(definition, config, tape, 600)) {
    try {
      decisions.push(...policy.send(event));
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      continue;
    }
    events.push(event);
    if (random() < 1 / mostCallEvents) end();
  }
  end();
  const deliver = number % 2 === 0 ? 'reply' : 'stream';
  const open = { policy: definition.id, config, session: `kill-${number}`, deliver };
  return { open, calls, snapshot: asJson(policy.snapshot()) };
}

function assertSame(what: string, got: unknown, expected: unknown): void {
  if (isDeepStrictEqual(got, expected)) return;
  throw new Error(`${what} is not as without any crash:\n${JSON.stringify(got)}\n${JSON.stringify(expected)}`);
}

/** Runs until so many kills have come; throws where anything is lost, twice, or other than in process. */
export async function killRun({ command, transport, stateDir, kills, seed, fsync }: KillRun): Promise<KillFigures> {
  const random = generator(seed);
  const figures: KillFigures = { kills: 0, calls: 0, events: 0, retries: 0, applied: 0, sessions: 0 };
  let script = scriptOf(0, random);
  let next = 0;
  let streamed: unknown[] = [];
  let acknowledged = 0;
  let isChecked = false;
  let child!: ChildProcess;
  let client!: LineClient;

  const notified = ({ decisionSeq, decision }: { decisionSeq: number; decision: unknown }): void => {
    if (decisionSeq <= acknowledged) throw new Error(`decision ${decisionSeq} came again after it was acknowledged`);
    if (decisionSeq <= streamed.length) assertSame('a decision that came again', decision, streamed[decisionSeq - 1]);
    else if (streamed.push(decision) !== decisionSeq) throw new Error(`a decision before ${decisionSeq} is missing`);
  };
  const start = async (): Promise<void> => {
    const [program, ...before] = command;
    const options = ['--state-dir', stateDir, '--snapshot-events', '60', '--fsync', fsync ?? 'always'];
    const args = [...before, 'serve', ...transport.options, ...options];
    child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    client = await transport.connect(child, notified);
  };
  /** Closes a session that is done with, and opens the next; an answer to that may have been lost. */
  const turnOver = async (): Promise<void> => {
    const { error } = await client.reply('session.close', { session: script.open.session });
    if (error !== undefined && error.data.code !== 'unknown_id') throw new Error(error.message);
    figures.sessions += 1;
    script = scriptOf(figures.sessions, random);
    [next, streamed, acknowledged, isChecked] = [0, [], 0, false];
  };
  const resume = async (): Promise<void> => {
    if (isChecked) await turnOver();
    const { session, deliver } = script.open;
    await client.call('session.open', { ...script.open, onExisting: 'attach' });
    if (deliver === 'stream') await client.call('session.subscribe', { session });
  };
  /** One call; what was answered must be as in process. */
  const send = async ({ firstSeq, events, decisions }: Call, isRetry: boolean): Promise<void> => {
    const { session, deliver } = script.open;
    const before = isRetry ? (await client.call('session.snapshot', { session })).seq : 0;
    const result = await client.call('session.send', { session, producer: 'p', firstSeq, events });
    if (isRetry && before > firstSeq) figures.applied += 1;
    assertSame('nextSeq', result.nextSeq, firstSeq + events.length);
    if (deliver === 'reply') assertSame('an answer', result.decisions, decisions);
    figures.calls += 1;
    figures.events += events.length;
  };
  const finish = async (): Promise<void> => {
    const { session, deliver } = script.open;
    const { snapshot } = await client.call('session.snapshot', { session });
    assertSame('the state at the end', snapshot, script.snapshot);
    if (deliver === 'stream') {
      const { acknowledged: last } = await client.call('session.ack', { session, decisionSeq: streamed.length });
      acknowledged = last;
      const all = script.calls.flatMap((one) => one.decisions);
      assertSame('the stream', streamed, all);
    }
    isChecked = true;
    await resume();
  };
  /** Sends with several calls under way, until the server is gone. */
  const load = async (): Promise<void> => {
    for (let isRetry = true; ; isRetry = false) {
      const under = script.calls.slice(next, next + window);
      if (under.length === 0) {
        await finish();
        continue;
      }
      const results = await Promise.allSettled(under.map((one) => send(one, isRetry)));
      for (const one of results) {
        if (one.status === 'fulfilled') next += 1;
        else {
          if (one.reason instanceof Gone) figures.retries += 1;
          throw one.reason;
        }
      }
      if (script.open.deliver === 'stream' && random() < 0.3 && streamed.length > acknowledged) {
        const decisionSeq = acknowledged + Math.floor(random() * (streamed.length - acknowledged + 1));
        acknowledged = (await client.call('session.ack', { session: script.open.session, decisionSeq })).acknowledged;
      }
    }
  };

  await start();
  await resume();
  while (figures.kills < kills) {
    const timer = setTimeout(() => child.kill('SIGKILL'), random() * 60);
    try {
      await load();
    } catch (error) {
      if (!(error instanceof Gone)) {
        child.kill('SIGKILL');
        throw error;
      }
    }
    clearTimeout(timer);
    figures.kills += 1;
    if (child.exitCode === null && child.signalCode === null)
      await new Promise((resolve) => child.once('exit', resolve));
    await start();
    // Killed again while it starts, now and then.
    if (random() < 0.1) {
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
      figures.kills += 1;
      await start();
    }
    await resume();
  }
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
  return figures;
}
