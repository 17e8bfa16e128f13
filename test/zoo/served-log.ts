/** A log sent to a server again: what the page of the running job shows meanwhile, and the decision log that is left. */
import { answersOf } from '../../src/cli/dashboard/answers.ts';
import { Feed } from '../../src/cli/dashboard/feed.ts';
import { inOneGo } from '../../src/core/why/why.ts';
import { isPolicyError } from '../../src/errors.ts';
import type { SessionAnswer } from '../../src/logs/job/live-answers.ts';
import { both } from '../../src/logs/write/decision-log.ts';
import { FileDecisionLog } from '../../src/logs/write/file-log.ts';
import { joined } from '../../src/pages/dashboard/state.ts';
import { RpcServer } from '../../src/rpc/index.ts';
import { HandClock, WireClient } from '../support/servers/clocked.ts';
import { begin, type Clocked } from './another-clock.ts';

/** The server has Unix time, whatever its host has. */
const serverBegan = begin;

/** What a server leaves of a log. */
export interface Served {
  /** Folder of its decision log. */
  readonly folder: string;
  /** What its page shows in the middle of the log, at its end, and much later. */
  readonly shown: readonly unknown[];
}

/** Sends the events of a log to a server, each at its time. */
export async function served({ path, lines }: Clocked, seconds: number): Promise<Served> {
  const [first, ...rest] = lines.map((line) => JSON.parse(line));
  const clock = new HandClock();
  clock.time = serverBegan;
  const folder = `${path}-served`;
  // Several files, each of which begins with a snapshot.
  const log = new FileDecisionLog({ logDir: folder, logFileBytes: 65_536, logFiles: 100 }, { clock });
  const feed = new Feed(clock);
  const server = new RpcServer({ clock, decisionLog: both(log, feed), watch: {} });
  const client = new WireClient(server);
  await client.call('session.open', { session: 'job', snapshot: first.snapshot });
  const shown: unknown[] = [];
  const look = looker(server, feed);
  for (const [index, { event }] of rest.entries()) {
    clock.move(Math.max(0, serverBegan + event.at - seconds - clock.time));
    await client.call('session.send', { session: 'job', events: [event] });
    if (index !== rest.length >> 1) continue;
    clock.move(1);
    shown.push(look());
  }
  for (const later of [1, 1000]) {
    clock.move(later);
    shown.push(look());
  }
  await client.call('session.close', { session: 'job' });
  await log.close();
  return { folder, shown };
}

/** Timers have ids, too, and nobody waits for them. */
function orRefusal(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    return error.message;
  }
}

/** Returns what looks at the page: at all that it asks for. */
function looker(server: RpcServer, feed: Feed): () => unknown {
  const answers = answersOf(server, feed, { watch: true });
  const query = (more = '') => new URLSearchParams(`session=job${more}`);
  let bins: Parameters<typeof joined>[0];
  return () => {
    const { server: _, startedAt: __, now: ___, ...job } = answers.job(new URLSearchParams());
    const { openedAt, notices, ...session } = inOneGo(answers.session(query()) as never) as SessionAnswer;
    const timeline = answers.timeline(query(`&level=2&since=${bins?.to ?? 0}`))!;
    bins = joined(bins, timeline);
    const held = [...session.owed, ...session.held].flatMap(({ ids }) => ids.slice(0, 1));
    return {
      job,
      session: { ...session, notices: notices.map(({ notice }) => notice) },
      timeline: { ...bins, from: bins.from * bins.width, to: bins.to * bins.width },
      requests: answers.requests(query()),
      why: [
        answers.why(query()),
        ...held.map((id) => orRefusal(() => answers.why(query(`&id=${encodeURIComponent(id)}`)))),
      ],
    };
  };
}
