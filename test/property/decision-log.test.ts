/** Whatever happens to a decision log: what it has replays to the same decisions, and what it has not is named. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { registry } from '../../src/index.ts';
import { readDecisionLog } from '../../src/logs/format/decision-log.ts';
import { replayLog } from '../../src/logs/replay/replay-log.ts';
import { logFilesIn } from '../../src/logs/write/files.ts';
import { FileDecisionLog } from '../../src/rpc/index.ts';
import { choicesFrom, likelyEvents, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { WireClient } from '../support/servers/clocked.ts';
import { Folders, replayOf, sizesOf } from '../support/servers/decision-log.ts';
import { MemoryStore, serverOn, settleAll } from '../support/servers/memory-store.ts';

const folders = new Folders();
afterAll(() => folders.remove());

const subjects = registry.policies.flatMap((definition) =>
  exampleConfigs[definition.id]!.slice(0, 1).map((config) => ({
    definition: definition as AnyPolicyDefinition,
    config,
  })),
);
const logFileBytes = 65_536;

/** Two sessions under way, servers that stop and start again; gives how many events each has applied. */
async function run(directory: string, definition: AnyPolicyDefinition, config: unknown, tape: readonly number[]) {
  const { below } = choicesFrom([...tape].reverse());
  const store = new MemoryStore();
  const applied: Record<string, number> = {};
  const events = {
    x: likelyEvents(definition, config, tape, 120),
    y: likelyEvents(definition, config, [...tape, 1], 120),
  };
  let from = 0;
  while (from < 120) {
    const decisionLog = new FileDecisionLog({ logDir: directory, logFileBytes, logFiles: 1000 });
    const { server } = await serverOn(store, { decisionLog });
    const client = new WireClient(server);
    await settleAll(store);
    const ask = async (method: string, params: object) => {
      void client.line({ jsonrpc: '2.0', id: 1, method, params });
      await settleAll(store);
    };
    for (const session of ['x', 'y'])
      await ask('session.open', { policy: definition.id, config, session, onExisting: 'attach' });
    const to = Math.min(120, from + 20 + below(100));
    for (; from < to; from += 1) {
      for (const session of ['x', 'y'] as const)
        await ask('session.send', { session, events: [events[session][from]] });
    }
    for (const { id, policy } of server.sessions) applied[id] = policy.seq;
    // In order, or as a crash leaves it.
    if (below(2) === 0) server.close();
    await decisionLog.close();
  }
  return applied;
}

describe('a decision log', () => {
  test.each(subjects.map((one) => [one.definition.id, one] as const))(
    '%s: replays to the same decisions across files and restarts; what is taken out of it is named',
    async (_, { definition, config }) => {
      await fc.assert(
        fc.asyncProperty(tapes(), fc.nat(), fc.nat(), async (tape, victim, cut) => {
          const directory = folders.next();
          const applied = await run(directory, definition, config, tape);
          const whole = replayOf(directory);
          expect(Math.max(...sizesOf(directory))).toBeLessThanOrEqual(logFileBytes);
          for (const one of whole.sessions) {
            expect([one.session, one.difference, one.unplayed, one.gaps]).toEqual([one.session, undefined, 0, []]);
            expect(one.events).toBe(applied[one.session]);
          }
          // One line less, anywhere, or a file that ends too early.
          const texts = logFilesIn(directory).map((name) => readFileSync(join(directory, name), 'utf8'));
          const all = texts.flatMap((text, file) =>
            text
              .trimEnd()
              .split('\n')
              .map((line, at) => ({ file, at, line })),
          );
          const events = all.filter(({ line }) => line.startsWith('{"kind":"event"'));
          if (events.length === 0) return;
          const gone = events[victim % events.length]!;
          const without = texts.map((text, file) =>
            file === gone.file
              ? text
                  .split('\n')
                  .filter((__, at) => at !== gone.at)
                  .join('\n')
              : text,
          );
          const { session, seq } = JSON.parse(gone.line) as { session: string; seq: number };
          const less = replayTexts(without);
          const found = less.sessions.find((one) => one.session === session)!;
          expect(less.sessions.map((one) => one.difference)).toEqual(less.sessions.map(() => undefined));
          const played = less.sessions.reduce((sum, one) => sum + one.events + one.unplayed, 0);
          expect(played).toBe(events.length - 1);
          // The last event of a log whose server did not stop in order is not missed by anything.
          const isLast = seq === applied[session];
          if (!isLast) expect(found.gaps.map(({ from, to }) => [from, to])).toEqual([[seq, seq]]);
          const last = texts.at(-1)!;
          const short = replayTexts([...texts.slice(0, -1), last.slice(0, cut % last.length)]);
          expect(short.sessions.every((one) => one.difference === undefined && one.unplayed === 0)).toBe(true);
        }),
        runs(definition.id === 'flexrl' ? 1 : 3),
      );
    },
  );
});

function replayTexts(texts: readonly string[]) {
  const files = texts.map((text, at) => ({ name: String(at), read: () => text }));
  return replayLog(readDecisionLog(files), registry.restore);
}
