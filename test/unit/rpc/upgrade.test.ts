/** A rolling upgrade: builds of the server take over from one another under `kill -9`, on one state directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AnyEvent, AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { create, rollpacker } from '../../../src/index.ts';
import { likelyEvents } from '../../../src/testing/index.ts';
import { generator } from '../../support/basics/numbers.ts';
import { exampleConfigs } from '../../support/examples/configs.ts';
import { type Builds, makeBuilds } from '../../support/servers/builds.ts';
import { Gone, type LineClient, stdio } from '../../support/servers/line-client.ts';
import { turnstile } from '../../support/servers/turnstile.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-upgrade-'));
let builds: Builds;
/** The policy by its version, and once more with other decisions. */
const modules: Record<string, string> = {};
beforeAll(async () => {
  builds = makeBuilds();
  for (const [name, args] of [
    ['one', '1'],
    ['two', '2'],
    ['other', '2, 3'],
  ] as const) {
    const text = `import { turnstile } from './turnstile.ts'; export default turnstile(${args});`;
    modules[name] = await builds.policies(name, text);
  }
});
afterAll(() => {
  builds.remove();
  rmSync(folder, { recursive: true });
});

interface Running {
  readonly child: ChildProcess;
  readonly client: LineClient;
  /** What it says on standard error, once it has ended. */
  readonly ended: Promise<string>;
}

async function start(version: string, policies: string, stateDir: string): Promise<Running> {
  const options = ['--state-dir', stateDir, '--policies', modules[policies]!];
  const child = spawn(process.execPath, [builds.cli(version), 'serve', '--stdio', ...options]);
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  const ended = once(child, 'close').then(() => said);
  return { child, client: await stdio.connect(child, () => undefined), ended };
}

/** A session with its events, and what is known of their answers. */
class Followed {
  readonly #open: Readonly<Record<string, unknown>>;
  readonly #calls: readonly {
    readonly firstSeq: number;
    readonly events: readonly AnyEvent[];
    readonly decisions: unknown;
  }[];
  /** What the newest version makes of all events. */
  readonly snapshot: unknown;
  answered = 0;

  constructor(session: string, definition: AnyPolicyDefinition, config: unknown, events: readonly AnyEvent[]) {
    this.#open = { session, policy: definition.id, config, onExisting: 'attach' };
    const policy = create(definition, config) as unknown as { send(event: AnyEvent): unknown[]; snapshot(): unknown };
    this.#calls = events.map((event, firstSeq) => ({ firstSeq, events: [event], decisions: policy.send(event) }));
    this.snapshot = policy.snapshot();
  }

  get done(): boolean {
    return this.answered === this.#calls.length;
  }

  /** Sends on from what was answered, with several calls under way. */
  async send(client: LineClient, most: number, heard = (): unknown => undefined): Promise<void> {
    const { seq, session } = await client.call('session.open', this.#open);
    expect(seq).toBeGreaterThanOrEqual(this.answered);
    const under = this.#calls.slice(this.answered, this.answered + most).map(async ({ decisions, ...call }) => {
      const answer = await client.call('session.send', { session, producer: 'p', ...call });
      this.answered += 1;
      expect(answer.decisions).toEqual(decisions);
      heard();
    });
    await Promise.all(under);
  }

  async check(client: LineClient): Promise<void> {
    const { session } = this.#open;
    expect((await client.call('session.snapshot', { session: session as string })).snapshot).toEqual(this.snapshot);
  }
}

const [config] = exampleConfigs.rollpacker!;
const random = generator(5);
const tape = Array.from({ length: 200 }, () => Math.floor(random() * 1000));
const asks = Array.from({ length: 120 }, (_, at) => ({ type: 'test/turn.asked', at, promptId: `p${at}` }));
const followed = (): Followed[] => [
  new Followed('mine', turnstile(2) as unknown as AnyPolicyDefinition, {}, asks),
  new Followed(
    'theirs',
    rollpacker as unknown as AnyPolicyDefinition,
    config,
    accepted(likelyEvents(rollpacker as never, config, tape, 160)),
  ),
];

function accepted(events: readonly AnyEvent[]): AnyEvent[] {
  const policy = create(rollpacker, config as never);
  return events.filter((event) => {
    try {
      policy.send(event as never);
      return true;
    } catch {
      return false;
    }
  });
}

/** Kills the server while its clients send, after so many answers. */
async function crash({ child, client, ended }: Running, sessions: readonly Followed[], answers: number): Promise<void> {
  await client.call('session.list', {}).catch(async () => expect(await ended).toBe(''));
  let left = answers;
  const load = async (one: Followed): Promise<void> => {
    while (!one.done) await one.send(client, 7, () => --left === 0 && child.kill('SIGKILL'));
  };
  const gone = (error: unknown): void => {
    if (!(error instanceof Gone)) throw error;
  };
  await Promise.all(sessions.map((one) => load(one).catch(gone)));
  await ended;
}

test('each build goes on where the one before it was killed; snapshots are migrated', async () => {
  const stateDir = join(folder, 'rolling');
  const sessions = followed();
  for (const [version, policies] of [
    ['0.4.0', 'one'],
    ['0.4.2', 'one'],
    ['0.5.0', 'two'],
  ] as const) {
    await crash(await start(version, policies, stateDir), sessions, 1 + Math.floor(random() * 40));
  }
  const newest = await start('0.6.0', 'two', stateDir);
  for (const one of sessions) {
    while (!one.done) await one.send(newest.client, 40);
    await one.check(newest.client);
  }
  newest.child.stdin!.end();
  expect(await newest.ended).toBe('');
});

test('a build that decides otherwise is refused by name, and changes nothing: the old build goes on', async () => {
  const stateDir = join(folder, 'other');
  const sessions = followed();
  await crash(await start('0.4.0', 'one', stateDir), sessions, 50);
  const other = await start('0.5.0', 'other', stateDir);
  expect(await other.ended).toMatch(
    /step 1 of \d+ of session mine \(test\/turnstile\) as version 0\.4\.0 decided it, but its decisions are others now, got "version 0\.5\.0: start and stop version 0\.4\.0 once/,
  );
  const old = await start('0.4.0', 'one', stateDir);
  for (const one of sessions) await one.send(old.client, 3);
  old.child.stdin!.end();
  expect(await old.ended).toBe('');
  // It has left snapshots only, which any later version may read, however it decides.
  const later = await start('1.0.0', 'other', stateDir);
  expect((await later.client.call('session.list', {})).sessions).toHaveLength(2);
  later.child.kill('SIGKILL');
  await later.ended;
});
