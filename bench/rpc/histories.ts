import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyRun } from '../../test/support/servers/history-run.ts';
import { builtCli } from '../support.ts';

const [troubles = 50, seed = 1] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'rfh-'));
try {
  console.log(
    await historyRun({
      command: [process.execPath, builtCli()],
      folder,
      fsync: 'always',
      clients: 5,
      sessions: 4,
      events: 150,
      troubles,
      seed,
    }),
  );
} finally {
  rmSync(folder, { recursive: true });
}
