/** What is heard of one session, and kept for whoever looks. */

import { printable } from '../../core/ids/printable.ts';
import type { AnyDecision } from '../../core/machine/definition.ts';
import type { LooseEvent } from '../../core/machine/start.ts';
import type { PolicyError } from '../../errors.ts';
import type { JobView } from '../../logs/job/job-view.ts';
import type { RefusedEvent } from '../../logs/job/live-answers.ts';
import type { LoggedSession, SessionDecisionLog } from '../../logs/write/decision-log.ts';
import type { WatchdogNotice } from '../../policies/watchdog/index.ts';

/** What was refused last, kinds of refusals, and notices that are kept of a session; longest text of one. */
const [mostRefused, mostKinds, mostNotices, longest] = [20, 50, 20, 300];

/** Interface of the feed to its sessions. */
export interface FeedHost {
  now(): number;
  take(session: SessionFeed, event: LooseEvent, decisions: readonly AnyDecision[]): void;
  release(session: SessionFeed): void;
}

const cut = (text: string): string => printable(text.slice(0, longest));
/** Remembers the last few of many. */
function keep<T>(list: T[], one: T, most: number): void {
  list.push(one);
  if (list.length > most) list.shift();
}

export class SessionFeed implements SessionDecisionLog {
  /** Number of the session among all that this server has had. */
  readonly run: number;
  readonly session: LoggedSession;
  /** Unix time. */
  readonly openedAt: number;
  /** Events that were applied before the first one that was heard: in a snapshot, or before a restart. */
  earlier: number | undefined;
  /** What was followed; absent while no event has come, and where too many sessions are followed. */
  view: JobView | undefined;
  /** When the latest event was followed, by the clock of the server. */
  heardAt = 0;
  /** Events that were left out since the last one that was taken. */
  lost = 0;
  isClosed = false;
  readonly refusedLast: RefusedEvent[] = [];
  /** Refused events by code and path, numbers in the path aside. */
  readonly refusedKinds = new Map<string, { readonly code: string; readonly path: string; count: number }>();
  refusedCount = 0;
  /** What the watchdog has said last, with the Unix time. */
  readonly notices: { readonly time: number; readonly notice: WatchdogNotice }[] = [];
  readonly #host: FeedHost;

  constructor(run: number, session: LoggedSession, host: FeedHost) {
    this.run = run;
    this.session = session;
    this.#host = host;
    this.openedAt = host.now();
  }

  before(): void {
    // No state is read at an event.
  }

  applied(event: LooseEvent, decisions: readonly AnyDecision[]): void {
    this.#host.take(this, event, decisions);
  }

  decided(): void {
    // What the host of a session in shadow mode decides is no event of the policy.
  }

  refused(error: PolicyError, producer: string | undefined): void {
    this.refusedCount += 1;
    const { code } = error;
    const path = cut(error.path);
    const kind = path.replace(/\d+/g, '*');
    const known = this.refusedKinds.get(`${code} ${kind}`);
    if (known !== undefined) known.count += 1;
    else if (this.refusedKinds.size < mostKinds)
      this.refusedKinds.set(`${code} ${kind}`, { code, path: kind, count: 1 });
    const from = producer === undefined ? null : cut(producer);
    keep(
      this.refusedLast,
      { time: this.#host.now(), code, path, message: cut(error.message), producer: from },
      mostRefused,
    );
  }

  owes(notice: WatchdogNotice): void {
    keep(this.notices, { time: this.#host.now(), notice }, mostNotices);
  }

  closed(): void {
    this.isClosed = true;
    this.#host.release(this);
  }
}
