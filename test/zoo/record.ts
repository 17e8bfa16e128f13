/** Logs of hosts: event logs, and decision logs of a server that several hosts use. */

import type { AnyDecision, AnyEvent } from '../../src/core/machine/definition.ts';
import type { LogLine } from '../../src/logs/format/decision-log.ts';
import { recordEvents } from '../../src/logs/format/event-log.ts';
import { SessionLines } from '../../src/logs/write/session-lines.ts';
import type { ZooHost } from './host.ts';

/** A run of a host. */
export interface Run {
  readonly host: ZooHost;
  /** Which of its policies is recorded. */
  readonly recorded: number;
  /** When it ends, in seconds. */
  readonly until: number;
  /** Whether it ends at the last moment at which nothing takes longer than anything of its kind before. */
  readonly isHealthy?: boolean;
}

/** What a server does to its log. */
export interface ServerLog {
  /** When it begins another file, in seconds. */
  readonly rotations?: readonly number[];
  /** From when to when it drops lines, in seconds. */
  readonly drops?: readonly [from: number, to: number];
  /** How many of its files are deleted, the oldest first. */
  readonly deleted?: number;
  /** Another session on the server. */
  readonly beside?: Run;
}

/** Runs a host, and returns its event log. */
export function eventLog({ host, recorded, until, isHealthy }: Run): string {
  const lines: string[] = [];
  recordEvents(host.policies[recorded]!, (line) => lines.push(line));
  let end = 0;
  host.run(until, () => {
    // Late enough to be suspicious, and not later than anything before.
    const lateness = host.lateness();
    if (lateness > 0.6 && lateness <= 1) end = lines.length;
  });
  return `${(isHealthy === true ? lines.slice(0, end) : lines).join('\n')}\n`;
}

const start = 1_764_000_000;

/** Runs hosts of a server one after the other, and returns the files of its log. */
export function serverLog(run: Run, { rotations = [], drops, deleted = 0, beside }: ServerLog): string[] {
  const fileAt = (now: number): number => rotations.filter((one) => one <= now).length;
  const entries: { time: number; file: number; text: string }[] = [];
  let dropped = 0;
  const sessions = beside === undefined ? [run] : [run, beside];
  for (const [index, { host, recorded, until }] of sessions.entries()) {
    const isRefused = () => drops !== undefined && host.now >= drops[0] && host.now < drops[1];
    const write = (text: string): boolean => {
      if (isRefused()) return false;
      entries.push({ time: host.now, file: fileAt(host.now), text });
      return true;
    };
    const policy = host.policies[recorded]!;
    const session = {
      id: `job-${index}`,
      deliver: 'reply',
      timers: 'host',
      shadow: false,
      inFlight: 0,
      policy,
    } as const;
    const lines = new SessionLines(session, {
      get epoch() {
        return 2 * fileAt(host.now) + (drops !== undefined && host.now >= drops[1] ? 1 : 0);
      },
      get refusing() {
        return isRefused() ? ('waiting' as const) : undefined;
      },
      snapshotRoom: 1e6,
      now: () => start + Math.round(host.now * 1000) / 1000,
      byteLength: (text) => Buffer.byteLength(text),
      begin: write,
      add: (line: LogLine) => write(`${JSON.stringify(line)}\n`),
      drop: () => void (dropped += 1),
    });
    host.before = (one) => {
      if (one === policy) lines.before();
    };
    policy.observe((event: AnyEvent, decisions: readonly AnyDecision[]) => lines.applied(event, decisions, 'trainer'));
    host.run(until);
  }
  if (drops !== undefined) {
    const line = { kind: 'dropped', time: start + drops[1], lines: dropped, waiting: dropped, failed: 0, tooLong: 0 };
    entries.push({ time: drops[1], file: fileAt(drops[1]), text: `${JSON.stringify(line)}\n` });
  }
  const ordered = entries.sort((a, b) => a.file - b.file || a.time - b.time);
  return Array.from({ length: rotations.length + 1 }, (_, file) => {
    const time = start + (file === 0 ? 0 : rotations[file - 1]!);
    const header = { kind: 'log', format: 1, version: '0.1.0', run: 'run0', file: file + 1, time };
    const texts = ordered.filter((one) => one.file === file).map(({ text }) => text);
    return `${JSON.stringify(header)}\n${texts.join('')}`;
  }).slice(deleted);
}
