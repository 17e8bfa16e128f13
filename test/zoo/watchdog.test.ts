/** What a watchdog says of the logs of the zoo: nothing in healthy but slow runs, and who owes what in most of the hangs. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLogs } from '../../src/cli/log-files.ts';
import { create, watchdog } from '../../src/index.ts';
import type { WatchdogDecision, WatchdogEvent } from '../../src/policies/watchdog/index.ts';
import { root } from '../support/command-line/process.ts';

const folder = join(root, 'test/zoo/logs');
const names = readdirSync(folder);

/** A watchdog of one session, with its timer. */
class Followed {
  readonly #dog = create(watchdog, {});
  #fireAt = Number.POSITIVE_INFINITY;
  notices = 0;
  at = 0;

  wait(until: number): void {
    this.at = Math.max(this.at, until);
    while (this.#fireAt <= this.at) {
      const at = this.#fireAt;
      this.#fireAt = Number.POSITIVE_INFINITY;
      this.hear({ type: 'timer.fired', at, timerId: 'watchdog/check' });
    }
  }

  hear(message: WatchdogEvent): void {
    if (!this.#dog.takes(message)) return;
    for (const one of this.#dog.send(message) as WatchdogDecision[]) {
      if (one.type === 'timer.set') this.#fireAt = one.fireAtSeconds;
      else this.notices += 1;
    }
  }
}

/** How often something is named in a log, if the clock goes on for so long after its end. */
function noticesIn(name: string, afterSeconds: number): number {
  const sessions = new Map<string, Followed>();
  for (const { line } of openLogs([join(folder, name)])[0]!.lines()) {
    if (line === 'torn' || line.kind !== 'event') continue;
    let one = sessions.get(line.session);
    if (one === undefined) sessions.set(line.session, (one = new Followed()));
    one.wait(line.event.at);
    for (const message of [line.event, ...line.decisions]) one.hear({ ...message, at: one.at } as never);
  }
  let notices = 0;
  for (const one of sessions.values()) {
    one.wait(one.at + afterSeconds);
    notices += one.notices;
  }
  return notices;
}

test('nothing is named in healthy but slow runs', () => {
  const slow = names.filter((name) => name.startsWith('slow-'));
  expect(slow).toHaveLength(10);
  expect(slow.filter((name) => noticesIn(name, 0) > 0)).toEqual([]);
});

test('of most hangs something is named within an hour', () => {
  const hangs = names.filter((name) => !name.startsWith('slow-'));
  const silent = hangs.filter((name) => noticesIn(name, 3600) === 0);
  // Here nobody was asked by a command, or fewer than 8 of the answers that nobody asks for had come.
  expect(silent).toEqual(['miles-1673.jsonl', 'nemo-gym-2385.jsonl', 'nemo-rl-3066.jsonl', 'prime-rl-2912.jsonl']);
  expect(hangs).toHaveLength(26);
});
