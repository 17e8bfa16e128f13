/** `rollflex shadow`: lists the decisions of a policy that differ from those of its host, with their estimated value. */
import { Command } from 'commander';
import { oneLine } from '../../core/ids/printable.ts';
import type { ShadowCounts, ShadowDifference } from '../../sim/log-report/pairs.ts';
import { type ShadowSession, shadowReport } from '../../sim/log-report/report.ts';
import { openDecisionLog } from '../files/logs.ts';
import { option } from '../terminal/options.ts';
import { print, printJson } from '../terminal/output.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { worthOf } from './text.ts';

interface ShadowOptions {
  readonly session?: string;
  readonly json?: boolean;
}

/** Most differences that are printed; --json contains more of them. */
const shown = 5;

function printSession({ session, policy, events, missingEvents, decisions, worth }: ShadowSession): void {
  print(`${oneLine(`${session}, ${policy}`)}: ${events} events\n`);
  const count = (of: 'agreed' | 'differed' | 'onlyHost' | 'onlyPolicy') => (one: ShadowCounts) => String(one[of]);
  print(
    plainTable(
      [
        ['decision', (one) => oneLine(one.decision)],
        ['agreed', count('agreed')],
        ['differed', count('differed')],
        ['only host', count('onlyHost')],
        ['only policy', count('onlyPolicy')],
      ],
      decisions,
    ),
  );
  const differences = decisions.flatMap((one) => one.differences);
  for (const one of differences.slice(0, shown)) print(`\n${describe(one)}`);
  const more = decisions.reduce((sum, one) => sum + one.differed, 0) - Math.min(shown, differences.length);
  if (more > 0) print(`… and ${more} more${differences.length > shown ? '; --json has some of them' : ''}`);
  print('');
  for (const line of worthOf(policy, worth)) print(line);
  if (missingEvents > 0) print(`- ${missingEvents} events are not in the log: what was decided about them is missing.`);
}

const fields = (value: object): string =>
  Object.entries(value)
    .map(([name, one]) => `${name} ${typeof one === 'string' ? one : JSON.stringify(one)}`)
    .join(', ');

function describe({ id, host, policy, reason, where }: ShadowDifference): string {
  const { code, ...numbers } = reason;
  const why = Object.keys(numbers).length === 0 ? code : `${code}: ${fields(numbers)}`;
  return `${oneLine(`${id}: host ${fields(host)}; policy ${fields(policy)}`)}\n  ${oneLine(`${why} (${where})`)}`;
}

/** Prints the report of a log. Throws `invalid_input`, `unknown_id`; the system's error. */
function runShadow(paths: readonly string[], { session, json }: ShadowOptions): void {
  const report = shadowReport(openDecisionLog(paths), session);
  if (json) return printJson(report);
  for (const one of report.sessions) printSession(one);
  if (report.droppedLines > 0) print(`- The server has left out ${report.droppedLines} lines of this log.`);
}

export function shadowCommand(): Command {
  return new Command('shadow')
    .argument('<log...>', 'the folder (or files) of serve --log-dir')
    .addOption(option('session', 'this session only'))
    .addOption(option('json'))
    .addHelpText(
      'after',
      `
Shadow mode
  session.open {"policy":"sandbox-timeout","config":{},"shadow":true}: the host sends its events, and
  what it has decided by itself as {"type":"host.decided","decision":{"type":"sandbox.run","runId":"r1",
  "timeoutSeconds":30}}. For adaptive-tp, gpu-scale-down and sandbox-timeout. What tail batching would
  have saved follows from its own decisions: rollflex simulate --from-log estimates it.

Examples
  rollflex shadow ~/rollflex-log
  rollflex shadow ~/rollflex-log --session timeouts --json`,
    )
    .action((paths: string[], options: ShadowOptions) => runShadow(paths, options));
}
