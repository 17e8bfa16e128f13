/** Time against kept tokens as text: a table, and beside it a dot for the time of each row. */
import type { FrontierRow, SweepFrontier } from '../sim/sweep/frontier.ts';
import { type Column, fixed, plainTable } from './plain-table.ts';
import { shortOf } from './sweep-table.ts';

/** Characters for the longest time. */
const width = 26;

/** Returns the frontier as text of 80 columns at most. */
export function frontierText({ rows, epochs, steps, dataSetPrompts }: SweepFrontier): string {
  const longest = Math.max(...rows.map((one) => one.secondsPerPrompt));
  const dotOf = ({ secondsPerPrompt, isOnFrontier }: FrontierRow): string => {
    const place = Math.max(1, Math.round((width * secondsPerPrompt) / longest));
    return `${'·'.repeat(place - 1)}${isOnFrontier ? '●' : '○'}`.padEnd(width);
  };
  const columns: readonly Column<FrontierRow>[] = [
    ['', ({ settings }) => (settings === 'baseline' ? 'synchronous' : shortOf(settings))],
    ['kept\ntokens', (one) => fixed(one.keptTokenRatio, 2)],
    ['longest\n1%', (one) => `${fixed(100 * one.longestTrainedRatio, 0)}%`],
    ['s a\nprompt', (one) => fixed(one.secondsPerPrompt, 3)],
    ['time: ● on the frontier    ', dotOf],
  ];
  const head = `time against kept tokens: ${steps} steps, in which ${dataSetPrompts} prompts come at least ${epochs} times`;
  return `${head}\n\n${plainTable(columns, rows)}`;
}
