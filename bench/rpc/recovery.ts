/**
 * Shows how long a server needs to start again after `kill -9`, against how much its session has done: with the
 * snapshots that take the place of the journal, and without any.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, tailBatching } from '../../src/index.ts';
import { openDurableServer } from '../../src/rpc/index.ts';
import { machine, median } from '../support.ts';

const config = { promptsPerRound: 64, responsesPerPrompt: 8, promptSpeculation: 1.25, responseSpeculation: 1.25 };
const folder = mkdtempSync(join(tmpdir(), 'rollflex-recovery-'));

/** Rounds without end, as a host would report them. */
function* rounds(): Generator<object> {
  const policy = create(tailBatching, config);
  let prompts = 0;
  for (let round = 0; ; round += 1) {
    const at = round;
    const waiting: object[] = [{ type: 'round.requested', at, roundId: `r${round}`, weightVersion: round }];
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) {
      yield event;
      for (const one of policy.send(event as never)) {
        if (one.type === 'request.launch') {
          waiting.push({ type: 'response.completed', at, requestId: one.requestId, tokens: 100 + (prompts % 900) });
        } else if (one.type === 'request.abort') {
          waiting.push({ type: 'request.aborted', at, requestId: one.requestId, tokens: 50 });
        } else if (one.type === 'prompts.request') {
          const supplied = Array.from({ length: one.count }, () => ({ promptId: `p${prompts++}` }));
          waiting.push({ type: 'prompts.supplied', at, roundId: one.roundId, prompts: supplied });
        }
      }
    }
  }
}

const bytesIn = (directory: string): number =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

/** Fills a directory, and times servers that start with copies of it. */
async function recovery(events: number, snapshotEvents: number): Promise<{ milliseconds: number; bytes: number }> {
  const stateDir = mkdtempSync(join(folder, 'state-'));
  const { server, close } = await openDurableServer({ stateDir, snapshotEvents, version: '1' });
  let answered: () => void = () => undefined;
  const connection = server.connect({
    write: () => answered(),
    waiting: 0,
    drained: () => Promise.resolve(),
    destroy: () => undefined,
  })!;
  const call = async (method: string, params: object): Promise<void> => {
    const answer = new Promise<void>((resolve) => (answered = resolve));
    await connection.receive(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`));
    await answer;
  };
  await call('session.open', { policy: 'tail-batching', config, session: 'x' });
  const source = rounds();
  for (let sent = 0; sent < events; sent += 256) {
    const batch = Array.from({ length: 256 }, () => source.next().value);
    await call('session.send', { session: 'x', events: batch });
  }
  const times: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    const copy = mkdtempSync(join(folder, 'copy-'));
    cpSync(stateDir, copy, { recursive: true });
    const begun = performance.now();
    const again = await openDurableServer({ stateDir: copy, snapshotEvents, version: '1' });
    times.push(performance.now() - begun);
    await again.close();
  }
  const bytes = bytesIn(stateDir);
  await close();
  return { milliseconds: median(times), bytes };
}

console.log(`a server that starts after kill -9, one session of tail batching; ${machine()}`);
for (const events of [10_240, 40_960, 163_840]) {
  const usual = await recovery(events, 10_000);
  const never = await recovery(events, 10_000_000);
  const figure = ({ milliseconds, bytes }: typeof usual) =>
    `${milliseconds.toFixed(0)} ms, ${(bytes / 2 ** 20).toFixed(1)} MiB`;
  console.log(`${events.toLocaleString('en')} events: ${figure(usual)}; without snapshots ${figure(never)}`);
}
rmSync(folder, { recursive: true });
