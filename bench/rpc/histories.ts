/**
 * Shows that what several clients see of shared sessions is linearizable, against the same policies in process: clients
 * in processes of their own, several producers, calls sent at once; servers and clients are stopped (SIGSTOP) and
 * killed (SIGKILL), connections broken, cut off within a line and half-closed, calls sent again while they are still
 * under way. Streams give each decision once and in order.
 * `npx tsx bench/rpc/histories.ts [TROUBLES] [SEED]`; of Python: `ROLLFLEX_HISTORY_ROUNDS=50 python -m pytest
 * tests/test_histories.py`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyRun } from '../../test/support/servers/history-run.ts';
import { builtCli } from '../support.ts';

const [troubles = 200, seed = 1] = process.argv.slice(2).map(Number);
const kinds = [
  ['unix socket', 'always'],
  ['unix socket', 'interval'],
  ['tcp', 'always'],
  ['tcp', 'interval'],
] as const;

for (const [at, [transport, fsync]] of kinds.entries()) {
  const folder = mkdtempSync(join(tmpdir(), 'rf-'));
  const token = { file: join(folder, 'token'), token: 'a token for this run only' };
  writeFileSync(token.file, token.token, { mode: 0o600 });
  const begun = performance.now();
  try {
    const figures = await historyRun({
      command: [process.execPath, builtCli()],
      folder,
      ...(transport === 'tcp' ? { token } : {}),
      fsync,
      clients: 5,
      sessions: 4,
      events: 200,
      troubles,
      seed: seed + at,
    });
    const { sessions, calls, lost, streamed, looked, largest } = figures;
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    console.log(
      `${transport}, --fsync ${fsync}: ${sessions} sessions, ${calls} calls and readings of a stream, ${lost} without an answer, ${streamed} streamed decisions; all linearizable, ${looked} states looked at, ${largest} for one session (${seconds} s)`,
    );
    const each = Object.entries(figures.troubles).map(([what, times]) => `${what} ${times}`);
    console.log(`  ${each.join('; ')}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
