/** The hosts of the zoo with other random numbers: `npx tsx test/zoo/other-seeds.ts [SEEDS]` counts the causes that are named. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Explanation, explain } from '../../src/cli/explain/explain.ts';
import { LogIndex } from '../../src/cli/log-index/index.ts';
import { registry } from '../../src/index.ts';
import { incidents } from './incidents.ts';
import { eventLog, serverLog } from './record.ts';
import type { Scene } from './scene.ts';
import { slow } from './slow.ts';
import { stuck } from './stuck.ts';

const seeds = Number(process.argv[2] ?? 10);
const folder = mkdtempSync(join(tmpdir(), 'rollflex-seeds-'));

/** The same scene with other random numbers. */
function reseeded(scene: Scene, by: number): Scene {
  (scene.host.manner as { seed: number }).seed += 1000 * by;
  return scene;
}

/** What is found out about the log of a scene; nothing where it has no event. */
function explained(scene: Scene, name: string): Explanation | undefined {
  const path = join(folder, name);
  let paths = [path];
  if (scene.server === undefined) {
    const text = eventLog(scene);
    if (text.trim() === '') return undefined;
    writeFileSync(path, text);
  } else {
    mkdirSync(path);
    const first = 1 + (scene.server.deleted ?? 0);
    paths = serverLog(scene, scene.server).map((text, index) => {
      const file = join(path, `decisions-${String(first + index).padStart(8, '0')}.jsonl`);
      writeFileSync(file, text);
      return file;
    });
  }
  const restore = (snapshot: unknown) => registry.restore(snapshot);
  const index = new LogIndex(paths, { restore: restore as never, writer: 'seeds', cache: folder });
  try {
    // On a server it is the session `job-0`, beside another one.
    const session = index.sessions.find((one) => one.session !== 'job-1')!;
    return explain(index, session, undefined);
  } finally {
    index.close();
  }
}

const counts = { stuck: [0, 0], slow: [0, 0] } as const satisfies Record<string, [number, number]>;
const count = (kind: keyof typeof counts, isRight: boolean): void => {
  const pair = counts[kind] as [number, number];
  pair[0] += isRight ? 1 : 0;
  pair[1] += 1;
};
for (let seed = 1; seed <= seeds; seed += 1) {
  for (const { log, cause } of incidents) {
    const scene = reseeded(stuck[log]!(), seed);
    const found = explained(scene, `${log}-${seed}`)!;
    // Of these two nothing is lost: it is changed.
    const isUnlost = ['nemo-rl-3066', 'miles-1673'].includes(log);
    // With these numbers no report met the fault.
    if (scene.host.lost.length === 0 && !isUnlost) continue;
    const event = found.owed[0]?.event ?? { type: '' };
    const isLost = ({ report }: (typeof scene.host.lost)[number]): boolean =>
      Object.entries(event).every(([field, value]) => typeof value !== 'string' || report[field] === value);
    const isNamed =
      found.verdict === 'stuck' && (scene.host.lost.some(isLost) || (isUnlost && event.type === cause.event));
    count('stuck', isNamed);
    if (!isNamed) console.log(`${log} ${seed}: ${found.verdict}, first ${JSON.stringify(found.owed[0])}`);
  }
  for (const [log, make] of Object.entries(slow)) {
    const found = explained(reseeded(make(), seed), `${log}-${seed}`);
    if (found === undefined) continue;
    count('slow', found.verdict !== 'stuck');
    if (found.verdict === 'stuck') console.log(`${log} ${seed}: ${JSON.stringify(found.owed[0])}`);
  }
}
rmSync(folder, { recursive: true });
console.log(`the cause is named in ${counts.stuck[0]} of ${counts.stuck[1]} logs with a fault`);
console.log(`nothing is named in ${counts.slow[0]} of ${counts.slow[1]} logs of slow runs`);
