/** The hosts of the zoo with other random numbers: `npx tsx test/zoo/other-seeds.ts [SEEDS]` counts the causes that `explain` and a watchdog name. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLogs } from '../../src/cli/files/logs.ts';
import { registry } from '../../src/index.ts';
import { type Explanation, explainSession } from '../../src/logs/explain/explain.ts';
import { answerOf } from '../../src/logs/explain/text.ts';
import { LogIndex } from '../../src/logs/index/log-index.ts';
import { incidents } from './incidents.ts';
import { mended, outages } from './outages.ts';
import { eventLog, serverLog } from './record.ts';
import type { Scene } from './scene.ts';
import { sharedIncidents } from './shared-incidents.ts';
import { slow } from './slow.ts';
import { stuck } from './stuck.ts';
import { type HeardLine, noticesOf } from './watched.ts';

type Notice = ReturnType<typeof noticesOf>[number];

const seeds = Number(process.argv[2] ?? 10);
const folder = mkdtempSync(join(tmpdir(), 'rollflex-seeds-'));

/** The same scene with other random numbers. */
function reseeded(scene: Scene, by: number): Scene {
  (scene.host.manner as { seed: number }).seed += 1000 * by;
  return scene;
}

/** What is found out about the log of a scene, and what a watchdog says first; nothing where it has no event. */
function explained(scene: Scene, name: string): { found: Explanation; notice: () => Notice | undefined } | undefined {
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
    const found = explainSession(index, session, undefined);
    const lines = [...linesOf(paths)].filter((line) => line.session !== 'job-1');
    return { found, notice: () => noticesOf(lines, scene.isHealthy === true ? 0 : 3600)[0] };
  } finally {
    index.close();
  }
}

/** The events of a log. */
function* linesOf(paths: readonly string[]): Generator<HeardLine> {
  for (const { lines } of openLogs(paths))
    for (const { line } of lines()) if (line !== 'torn' && line.kind === 'event') yield line as HeardLine;
}

const counts = {
  stuck: [0, 0],
  shared: [0, 0],
  slow: [0, 0],
  'stuck, watchdog': [0, 0],
  'slow, watchdog': [0, 0],
} as const satisfies Record<string, [number, number]>;
const count = (kind: keyof typeof counts, isRight: boolean): void => {
  const pair = counts[kind] as [number, number];
  pair[0] += isRight ? 1 : 0;
  pair[1] += 1;
};
for (let seed = 1; seed <= seeds; seed += 1) {
  for (const { log, cause } of incidents) {
    const scene = reseeded(stuck[log]!(), seed);
    const { found, notice } = explained(scene, `${log}-${seed}`)!;
    // Of these two nothing is lost: it is changed.
    const isUnlost = ['nemo-rl-3066', 'miles-1673'].includes(log);
    // With these numbers no report met the fault.
    if (scene.host.lost.length === 0 && !isUnlost) continue;
    const isMissing = (event: object & { readonly type: string }): boolean => {
      const isLost = ({ report }: (typeof scene.host.lost)[number]): boolean =>
        Object.entries(event).every(([field, value]) => typeof value !== 'string' || report[field] === value);
      return scene.host.lost.some(isLost) || (isUnlost && event.type === cause.event);
    };
    const isNamed = found.verdict === 'stuck' && isMissing(found.owed[0]?.event ?? { type: '' });
    count('stuck', isNamed);
    const noticed = notice();
    const isNoticed = noticed !== undefined && isMissing({ type: noticed.event, ...noticed.ids });
    count('stuck, watchdog', isNoticed);
    if (!isNoticed) console.log(`${log} ${seed}: watchdog, first ${JSON.stringify(noticed)}`);
    if (!isNamed) console.log(`${log} ${seed}: ${found.verdict}, first ${JSON.stringify(found.owed[0])}`);
  }
  for (const { log, verdict, names } of sharedIncidents) {
    const { found } = explained(reseeded(outages[log]!(), seed), `${log}-${seed}`)!;
    const said = answerOf(found).join(' ');
    // All engines, or each of them.
    const share = names.includes('engine') ? 'engine' : names;
    const isNamed = found.verdict === verdict && said.includes(share);
    count('shared', isNamed);
    if (!isNamed) console.log(`${log} ${seed}: ${said}`);
  }
  for (const [log, make] of Object.entries({ ...slow, ...mended })) {
    const both = explained(reseeded(make(), seed), `${log}-${seed}`);
    if (both === undefined) continue;
    const { found } = both;
    const noticed = both.notice();
    count('slow, watchdog', noticed === undefined);
    if (noticed !== undefined) console.log(`${log} ${seed}: watchdog, ${JSON.stringify(noticed)}`);
    const isSilent = !['stuck', 'suspended', 'stalled'].includes(found.verdict);
    count('slow', isSilent);
    if (!isSilent) console.log(`${log} ${seed}: ${answerOf(found).join(' ')}`);
  }
}
rmSync(folder, { recursive: true });
console.log(`explain: what all share is named in ${counts.shared[0]} of ${counts.shared[1]} logs of outages`);
for (const [who, kind] of [
  ['explain', ''],
  ['a watchdog', ', watchdog'],
] as const) {
  const [named, stuckLogs] = counts[`stuck${kind}`];
  const [silent, slowLogs] = counts[`slow${kind}`];
  console.log(`${who}: the cause is named in ${named} of ${stuckLogs} logs with a fault`);
  console.log(`${who}: nothing is named in ${silent} of ${slowLogs} logs of slow runs`);
}
