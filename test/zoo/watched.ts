/** A watchdog beside a session of a log, with its timer. */
import { create, watchdog } from '../../src/index.ts';
import type { WatchdogDecision, WatchdogEvent } from '../../src/policies/watchdog/index.ts';
import type { Message } from '../../src/schemas/messages.ts';

type Notice = Message<'host.owes'>;

/** What the watchdog hears of a line of a log. */
export interface HeardLine {
  readonly session: string;
  readonly seq: number;
  readonly event: { readonly type: string; readonly at: number };
  readonly decisions: readonly { readonly type: string }[];
}

class Watched {
  readonly #dog = create(watchdog, {});
  #fireAt = Number.POSITIVE_INFINITY;
  readonly notices: Notice[];
  at = 0;
  seq = 0;

  constructor(notices: Notice[] = []) {
    this.notices = notices;
  }

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
      else if (one.type === 'host.owes') this.notices.push(one);
      else throw new Error(`no log of a hang gains nothing: ${JSON.stringify(one)}`);
    }
  }
}

/** What is said of the lines of a log, with one watchdog for each session, if the clock goes on for so long after its end. */
export function noticesOf(lines: Iterable<HeardLine>, afterSeconds: number): Notice[] {
  const sessions = new Map<string, Watched>();
  for (const { session, seq, event, decisions } of lines) {
    let one = sessions.get(session);
    // Across a gap in the log nobody knows what was answered; beside a job there are no gaps.
    if (one === undefined || seq > one.seq + 1) sessions.set(session, (one = new Watched(one?.notices)));
    one.seq = seq;
    one.wait(event.at);
    for (const message of [event, ...decisions]) one.hear({ ...message, at: one.at } as never);
  }
  return [...sessions.values()].flatMap((one) => {
    one.wait(one.at + afterSeconds);
    return one.notices;
  });
}
