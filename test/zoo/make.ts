/** Writes the logs of the zoo: `npx tsx test/zoo/make.ts <name>…`, or all of them; `--into DIR` writes them elsewhere. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { logs } from './files.ts';
import { eventLog, serverLog } from './record.ts';
import { slow } from './slow.ts';
import { stuck } from './stuck.ts';

const { values, positionals } = parseArgs({
  options: { into: { type: 'string', default: logs }, lost: { type: 'boolean', default: false } },
  allowPositionals: true,
});
mkdirSync(values.into, { recursive: true });
let all = 0;
for (const [name, make] of Object.entries({ ...stuck, ...slow })) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const scene = make();
  const path = join(values.into, scene.server === undefined ? `${name}.jsonl` : name);
  rmSync(path, { recursive: true, force: true });
  const texts = scene.server === undefined ? [eventLog(scene)] : serverLog(scene, scene.server);
  if (scene.server !== undefined) mkdirSync(path);
  for (const [index, text] of texts.entries()) {
    const number = index + 1 + (scene.server?.deleted ?? 0);
    writeFileSync(
      scene.server === undefined ? path : join(path, `decisions-${String(number).padStart(8, '0')}.jsonl`),
      text,
    );
  }
  const bytes = texts.reduce((sum, one) => sum + one.length, 0);
  all += bytes;
  const lost = scene.host.lost.map(({ at, report }) => `${at.toFixed(0)} ${JSON.stringify(report)}`);
  console.log(
    name,
    bytes,
    `round ${scene.host.round} ends ${scene.host.now.toFixed(0)} s`,
    values.lost ? lost.slice(0, 12) : lost.length,
  );
}
console.log(all);
