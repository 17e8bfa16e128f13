/** Plays a log of the zoo into sessions of a server, as its host did: any policy, and whatever it was stuck in. */
import { filesOf } from '../../zoo/files.ts';
import type { LineClient } from './line-client.ts';

/**
 * Opens the sessions of a log, and sends all of their events.
 *
 * @returns the names of the sessions: that of the log where it has no other
 */
export async function playLog(client: LineClient, log: string): Promise<string[]> {
  const opened = new Set<string>();
  for (const { read } of filesOf(log)) {
    for (const line of read().trimEnd().split('\n')) {
      const { session = log, snapshot, event } = JSON.parse(line);
      if (snapshot !== undefined && !opened.has(session)) {
        await client.call('session.open', { session, snapshot });
        opened.add(session);
      } else if (event !== undefined) await client.reply('session.send', { session, events: [event] });
    }
  }
  return [...opened];
}
