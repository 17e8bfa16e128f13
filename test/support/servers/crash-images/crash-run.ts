/** A real server under load whose system calls are recorded, and what is left of it after a crash of the machine. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { AnyEvent, AnyPolicyDefinition } from '../../../../src/core/machine/definition.ts';
import { isPolicyError } from '../../../../src/errors.ts';
import { create, tailBatching } from '../../../../src/index.ts';
import { openDurableServer } from '../../../../src/rpc/index.ts';
import { likelyEvents } from '../../../../src/testing/index.ts';
import { exampleConfigs } from '../../examples/configs.ts';
import { Gone, LineClient } from '../line-client.ts';
import { type FileSystem, writeImage } from './image.ts';
import { type Op, Recording, recorded } from './trace.ts';

/** Why nothing can be recorded here; nothing if it can. */
export function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'system calls are recorded with strace, on Linux';
  const { error, status } = spawnSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=none', 'true']);
  return error === undefined && status === 0 ? undefined : 'strace is not installed, or may not trace';
}

export interface CrashRun {
  /** How to start `rollflex`: what Node is given before `serve`. */
  readonly entry: readonly string[];
  readonly version: string;
  /** Calls of each process; every second process is killed, the others stop in an orderly way. */
  readonly calls: readonly number[];
  readonly random: () => number;
}

interface Call {
  readonly session: string;
  readonly method: string;
  readonly params: {
    readonly policy?: string;
    readonly config?: unknown;
    readonly firstSeq?: number;
    readonly events?: readonly AnyEvent[];
  };
  /** Events of the session that are applied after it. */
  readonly seq: number;
  /** When its answer began to go out. */
  answered?: number;
  result?: unknown;
}

const definition = tailBatching as unknown as AnyPolicyDefinition;
const [config] = exampleConfigs['tail-batching']!;
const sessions = ['a', 'b'];
/** Calls that are sent together. */
const together = 4;

/** Events of a session, its state after each of them, and its calls. */
function scriptOf(session: string, calls: number, random: () => number) {
  const policy = create(definition, config) as unknown as { send(event: AnyEvent): unknown; snapshot(): unknown };
  const states = [JSON.stringify(policy.snapshot())];
  const script: Call[] = [{ session, method: 'session.open', params: { policy: definition.id, config }, seq: 0 }];
  let events: AnyEvent[] = [];
  const tape = Array.from({ length: calls * 6 }, () => Math.floor(random() * 1000));
  for (const event of likelyEvents(definition, config, tape, calls * 6)) {
    try {
      policy.send(event);
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      continue;
    }
    events.push(event);
    states.push(JSON.stringify(policy.snapshot()));
    if (random() < 0.5) continue;
    const seq = states.length - 1;
    script.push({ session, method: 'session.send', params: { firstSeq: seq - events.length, events }, seq });
    events = [];
  }
  return { states, script };
}

/** A recording, with what was answered. */
export interface Recorded {
  readonly ops: readonly Op[];
  readonly version: string;
  readonly calls: readonly Call[];
  /** By session: its state after so many events. */
  readonly states: Readonly<Record<string, readonly string[]>>;
}

/** Records servers that continue one another on one directory. */
export async function record({ entry, version, calls, random }: CrashRun): Promise<Recorded> {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-recorded-'));
  const stateDir = join(folder, 'state');
  const recording = new Recording(stateDir);
  const total = calls.reduce((sum, one) => sum + one, 0);
  const scripts = sessions.map((session) => scriptOf(session, total, random));
  const all = scripts[0]!.script.flatMap((call, index) => [
    call,
    ...scripts.slice(1).flatMap(({ script }) => script[index] ?? []),
  ]);
  let next = 0;
  try {
    for (const [index, count] of calls.entries()) {
      const trace = join(folder, `trace-${index}`);
      const strace = [
        '-D',
        '-f',
        '--seccomp-bpf',
        '-xx',
        '-s',
        String(1 << 24),
        '-e',
        `trace=${recorded}`,
        '-o',
        trace,
      ];
      const serve = ['serve', '--stdio', '--state-dir', stateDir, '--snapshot-events', '20'];
      const child = spawn('strace', [...strace, process.execPath, ...entry, ...serve], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const client = new LineClient(child.stdout, child.stdin);
      const from = next;
      for (const until = Math.min(next + count, all.length); next < until; ) {
        const batch = all.slice(next, (next += together));
        const sent = batch.map(async (call) => {
          const { session, method, params } = call;
          const more = method === 'session.open' ? { onExisting: 'attach' } : { producer: 'p' };
          call.result = await client.call(method, { session, ...params, ...more });
        });
        // The last calls of every second server are under way when it is killed.
        if (next >= until && index % 2 === 1) child.kill('SIGKILL');
        const gone = (error: unknown): void => {
          if (!(error instanceof Gone)) throw error;
        };
        await Promise.all(sent.map((one) => one.catch(gone)));
      }
      client.end();
      const text = await ended(trace, child.pid!);
      const first = recording.ops.length;
      recording.add(text);
      // Ids count from 1; an answer is there when the write of its last byte has begun.
      let rest = '';
      for (const op of recording.ops.slice(first)) {
        if (op.kind !== 'said') continue;
        const lines = (rest + op.text).split('\n');
        rest = lines.pop()!;
        for (const line of lines) all[from + JSON.parse(line).id - 1]!.answered = op.begin;
      }
      // What was not answered is sent again.
      while (next > from && all[next - 1]!.answered === undefined) next -= 1;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const states = Object.fromEntries(sessions.map((session, index) => [session, scripts[index]!.states]));
  return { ops: recording.ops, version, calls: all, states };
}

async function ended(trace: string, pid: number): Promise<string> {
  for (;;) {
    const text = readFileSync(trace, 'latin1');
    if (new RegExp(`^${pid} +\\+{3}`, 'm').test(text)) return text;
    await wait(20);
  }
}

/** What came of images. */
export interface CrashFigures {
  images: number;
  /** Images in which everything that was answered was there. */
  whole: number;
  /** Images that were refused by name, by reason. */
  readonly refused: Record<string, number>;
}

/** Opens an image of one moment with the real store; throws where anything that was answered is missing, or twice. */
export async function checkImage(
  run: Recorded,
  files: FileSystem,
  random: () => number,
  figures: CrashFigures,
): Promise<void> {
  const { ops, calls, states, version } = run;
  const before = ops[Math.floor(random() * ops.length)]!.begin + Math.floor(random() * 2);
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-image-'));
  const stateDir = join(folder, 'state');
  figures.images += 1;
  try {
    writeImage(stateDir, ops, before, files, random);
    const { server, close } = await openDurableServer({ stateDir, version });
    for (const session of sessions) {
      const answered = calls.filter(
        (one) => one.session === session && (one.answered ?? Number.POSITIVE_INFINITY) < before,
      );
      const last = answered.at(-1);
      const found = [...server.sessions].find(({ id }) => id === session);
      if (found === undefined) {
        // One that is set aside is refused, as a store is; it has no name if its snapshot is missing.
        const aside = server.sessions.aside.get(session) ?? server.sessions.aside.values().next().value;
        aside?.refuse();
        if (last !== undefined) throw new Error(`session ${session} is lost at ${before}`);
        continue;
      }
      const { seq } = found.policy;
      if (seq < (last?.seq ?? 0)) throw new Error(`session ${session} has ${seq} of ${last!.seq} events at ${before}`);
      if (JSON.stringify(found.policy.snapshot()) !== states[session]![seq])
        throw new Error(`session ${session} is another at ${before}`);
      const { firstSeq, events } = last?.params ?? {};
      if (events === undefined) continue;
      const again = found.send({ producer: 'p', firstSeq, events: events as never });
      if (!isDeepStrictEqual(JSON.parse(JSON.stringify(again)), last!.result) || found.policy.seq !== seq) {
        throw new Error(`a retry of session ${session} is not answered as before at ${before}`);
      }
    }
    await close();
    figures.whole += 1;
  } catch (error) {
    if (!isPolicyError(error) || error.code !== 'snapshot_mismatch') throw error;
    const why = `${error.expected.slice(0, 40)}; ${error.got}`
      .replaceAll(folder, '')
      .replaceAll(/\d+/g, 'N')
      .slice(0, 150);
    figures.refused[why] = (figures.refused[why] ?? 0) + 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
