/**
 * Stops and starts a built server in an orderly way, again and again, with a session of every policy and configuration, which get
 * likely events and contradicting ones between two stops: `npm run build`, then `npx tsx bench/rpc/stops.ts [stops]`. No session may
 * be set aside, and all go on as they were; now and then a record of one is damaged: that one alone is set aside, by name.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClassicLevel } from 'classic-level';
import { registry } from '../../src/registry.ts';
import { choicesOf } from '../../src/testing/hosts/play-to-end.ts';
import { likelyEvents } from '../../src/testing/index.ts';
import { withEvents } from '../../src/testing/runs/tested.ts';
import { exampleConfigs } from '../../test/support/examples/configs.ts';
import { contradicting } from '../../test/support/hosts/contradicting.ts';
import { damagedRecord, damagesOfRecords } from '../../test/support/servers/damaged-record.ts';
import { LineClient } from '../../test/support/servers/line-client.ts';

console.warn = () => undefined;
const stops = Number(process.argv[2] ?? 200);
const eventsEach = Number(process.argv[3] ?? 6);
const folder = mkdtempSync(join(tmpdir(), 'rollflex-stops-'));
const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

const sessions = registry.policies.flatMap((definition, place) =>
  (exampleConfigs[definition.id] ?? []).map((config, index) => {
    const { below } = choicesOf(100 * place + index);
    const tape = Array.from({ length: 257 }, () => below(999_983));
    const events = likelyEvents(contradicting(withEvents(definition)), config, tape, stops * eventsEach);
    return { session: `${definition.id} ${index}`, policy: definition.id, config, events, state: '' };
  }),
);

function start(directory: string) {
  const child = spawn(process.execPath, [command, 'serve', '--stdio', '--state-dir', directory], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const client = new LineClient(child.stdout, child.stdin);
  const stop = async (): Promise<void> => {
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    client.end();
    const code = await ended;
    if (code !== 0) throw new Error(`the server has ended with ${code}`);
  };
  return { client, stop };
}

type Client = LineClient;
const asideOf = async (client: Client): Promise<string[]> =>
  ((await client.call('server.info', {})).aside ?? []).map((one: { session: string }) => one.session);
const stateOf = async (client: Client, session: string): Promise<string> =>
  JSON.stringify((await client.call('session.snapshot', { session })).snapshot);

async function expectSame(client: Client, but?: string): Promise<void> {
  const check = async ({ session, state }: (typeof sessions)[number]): Promise<void> => {
    if (session !== but && (await stateOf(client, session)) !== state) throw new Error(`${session} is another`);
  };
  await Promise.all(sessions.map(check));
}

/** Damages a record of a session in a copy of the directory, and starts a server there. */
async function damage(directory: string, turn: number): Promise<void> {
  const copy = join(folder, 'damaged');
  cpSync(directory, copy, { recursive: true });
  const level = new ClassicLevel<string, string>(copy);
  const { session } = sessions[(turn * 7) % sessions.length]!;
  const data = new Map(await level.iterator().all());
  const how = damagesOfRecords[turn % damagesOfRecords.length]!;
  for (const [key, value] of damagedRecord(data, session, how, turn * 5))
    if (data.get(key) !== value) await level.put(key, value);
  await level.close();
  const { client, stop } = start(copy);
  const aside = await asideOf(client);
  // What is damaged may be its name.
  const isAlone = aside.length === 1 && !sessions.some((one) => one.session !== session && one.session === aside[0]);
  if (!isAlone) throw new Error(`${session} is damaged (${how}), and set aside are ${aside}`);
  await expectSame(client, session);
  await stop();
  rmSync(copy, { recursive: true });
}

let [sent, refused, damaged] = [0, 0, 0];
const begun = performance.now();
const directory = join(folder, 'state');
for (let turn = 0; turn < stops; turn += 1) {
  const { client, stop } = start(directory);
  const aside = await asideOf(client);
  if (aside.length > 0) throw new Error(`after ${turn} stops, set aside are ${aside}`);
  if (turn > 0) await expectSame(client);
  // Calls of a connection are applied in their order.
  const replies = sessions.map(async (one) => {
    const { session, policy, config } = one;
    if (turn === 0) void client.call('session.open', { session, policy, config });
    const mine = one.events.slice(turn * eventsEach, (turn + 1) * eventsEach);
    const answers = mine.map((event) => client.reply('session.send', { session, events: [event] }));
    const state = stateOf(client, session);
    for (const { error } of await Promise.all(answers)) {
      sent += 1;
      if (error !== undefined) refused += 1;
      if (error?.data?.code === 'internal') throw new Error(`${session}: ${error.message}`);
    }
    one.state = await state;
  });
  await Promise.all(replies);
  await stop();
  if (turn % 10 > 0) continue;
  await damage(directory, turn / 10);
  damaged += 1;
  process.stderr.write(`${turn + 1} of ${stops} stops\n`);
}
rmSync(folder, { recursive: true });
const seconds = Math.round((performance.now() - begun) / 1000);
process.stdout.write(
  `${stops} orderly stops of a server with ${sessions.length} sessions: ${sent} events, ${refused} refused; none was set aside, and ` +
    `${damaged} that were damaged cost no other; ${seconds} s\n`,
);
