/** What a watchdog says of the logs of the zoo: nothing in healthy but slow runs, and who owes what in the hangs. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLogs } from '../../src/cli/log-files.ts';
import { create, watchdog } from '../../src/index.ts';
import type { WatchdogDecision, WatchdogEvent } from '../../src/policies/watchdog/index.ts';
import type { Message } from '../../src/schemas/messages.ts';
import { root } from '../support/command-line/process.ts';
import { incidents } from './incidents.ts';

const folder = join(root, 'test/zoo/logs');
const names = readdirSync(folder);

/** A watchdog of one session, with its timer. */
class Followed {
  readonly #dog = create(watchdog, {});
  #fireAt = Number.POSITIVE_INFINITY;
  readonly notices: Message<'host.owes'>[] = [];
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
      else this.notices.push(one);
    }
  }
}

/** What is named in a log, if the clock goes on for so long after its end. */
function noticesIn(name: string, afterSeconds: number): Message<'host.owes'>[] {
  const sessions = new Map<string, Followed>();
  for (const { line } of openLogs([join(folder, name)])[0]!.lines()) {
    if (line === 'torn' || line.kind !== 'event') continue;
    let one = sessions.get(line.session);
    if (one === undefined) sessions.set(line.session, (one = new Followed()));
    one.wait(line.event.at);
    for (const message of [line.event, ...line.decisions]) one.hear({ ...message, at: one.at } as never);
  }
  return [...sessions.values()].flatMap((one) => {
    one.wait(one.at + afterSeconds);
    return one.notices;
  });
}

test('nothing is named in healthy but slow runs', () => {
  const slow = names.filter((name) => name.startsWith('slow-'));
  expect(slow).toHaveLength(10);
  expect(slow.filter((name) => noticesIn(name, 0).length > 0)).toEqual([]);
});

test('of every hang something is named within an hour, and first the event that is missing', () => {
  const first = incidents.map(({ log, cause }) => {
    const name = names.find((one) => one === log || one === `${log}.jsonl`)!;
    return { log, missing: cause.event, named: noticesIn(name, 3600)[0]?.event as string | undefined };
  });
  expect(first).toHaveLength(26);
  expect(first.filter(({ named, missing }) => named !== missing)).toEqual([]);
});
