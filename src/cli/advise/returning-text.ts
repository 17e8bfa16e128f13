/** The part of the answer for prompts that come several times. */
import type { Returning, ReturningVerdict } from '../../sim/advise/returning.ts';
import { leastWorth } from '../../sim/advise/returning.ts';
import { factorText, plainSigns, speedupOf } from '../../sim/report/faster.ts';
import type { FrontierRow, SweepAdvice } from '../../sim/sweep/result.ts';
import type { SynchronousSettings } from '../../sim/sweep/settings/settings.ts';
import type { DumpSummary } from '../../sim/trace/import/import.ts';
import { type Column, fixed, plainTable, seconds } from '../terminal/plain-table.ts';
import { type Advised, between, configuration, factor, percent, wordWidth, wrapped } from './lines.ts';

/** Returns how many prompts came in several steps of the dump, in words; nothing if it does not tell. */
const seenIn = ({ distinct } = {} as Partial<DumpSummary>): string | undefined =>
  distinct === undefined || distinct.returned === 0
    ? undefined
    : `${distinct.returned} of ${distinct.prompts} prompts came in several steps`;

/** Returns the hint for a dump in which some prompts came in several steps, where it was not asked what that is worth. */
export function hintLines({ answer, summary, epochs }: Advised): string[] {
  const seen = seenIn(summary);
  if (answer.returning !== undefined || epochs.from === 'given' || seen === undefined) return [];
  return wrapped('again', `${seen}: if all come N times, --epochs N compares the lossless tail`);
}

/** Returns what is said of prompts that come several times, if it was asked. */
export function againLines({ answer, summary, epochs }: Advised): string[] {
  const { returning, sweep, trainer } = answer;
  if (returning === undefined) return [];
  const frontier = sweep.frontier!;
  const { verdict, firstEpochSeconds, windowRounds, paste } = returning;
  const { steps, dataSetPrompts } = frontier;
  const times = `each prompt comes ${epochs.count} times (${epochs.from === 'seen' ? seenIn(summary) : '--epochs'})`;
  const lines = [
    ...wrapped('again', `${times}: ${steps} steps, ${dataSetPrompts} prompts an epoch`),
    ...compared(returning),
    ...wrapped('learns', `in the first epoch, which saves little: about ${seconds(firstEpochSeconds)} s here`),
    ...assumed(sweep),
  ];
  if (windowRounds === null) return [...lines, ...wrapped('lossless', reasons[verdict])];
  const lossless = returning.rows.lossless?.settings as SynchronousSettings;
  const partial = lossless.maxStaleness === undefined ? '' : `, partial rollout ${factor(lossless.promptSpeculation)}`;
  const by = trainer.adapter === null ? '' : `, ${trainer.page}#the-lossless-tail`;
  const word = verdict === 'best' ? 'switch' : 'instead';
  const best =
    returning.rows.settings === undefined
      ? `nothing else is sure to save ${percent(leastWorth)}, and keeps enough tokens`
      : 'it is as fast, and keeps every response';
  const why = verdict === 'best' ? best : 'it is slower, and keeps every response';
  return [
    ...lines,
    ...wrapped(word, `on the lossless tail (W ${windowRounds}${partial}): ${why}${by}`),
    'paste',
    ...(paste.length > 0 ? paste : configuration(frontier.lossless!.config)),
  ];
}

/** Returns what a selection of prompts would have saved, where the dump tells it. */
export function selectingLines({ answer: { selecting } }: Advised): string[] {
  if (selecting === undefined) return [];
  const { groups, equalShare, savedTokens, keptGroups } = selecting;
  const equal = `of ${groups} groups of prompts that had come before, ${percent(equalShare)} were all right or all wrong`;
  const saved = `passes over ${percent(savedTokens.value)} of their tokens (${between(savedTokens)})`;
  const kept = `keeps ${percent(keptGroups.value)} (${between(keptGroups)}) of the groups that differ`;
  return wrapped('prompts', `${equal}: prompt-selection ${saved}, and ${kept}; docs/prompt-selection.md`);
}

const reasons: Readonly<Record<ReturningVerdict, string>> = {
  best: '',
  option: '',
  unsure: `composing rounds is not sure to save ${percent(leastWorth)} of the time: not recommended`,
  assumed: 'not recommended before the correlation is measured: a dump with several responses to a prompt tells it',
  unknown: 'no prompt has two responses, so nothing can be said: not recommended',
};

function compared({ rows: { baseline, settings, lossless } }: Returning): string[] {
  const rows = [baseline, settings, lossless].filter((row) => row !== undefined);
  const columns = rows.some(({ maxLag }) => maxLag > 0) ? [...always, stale] : always;
  const table = plainTable(columns, rows, { width: 80 - wordWidth });
  return table.split('\n').map((line) => `${' '.repeat(wordWidth)}${line}`.trimEnd());
}

const stale: Column<FrontierRow> = ['stale\nlag', (row) => `${percent(row.staleShare)} ${row.maxLag}`];
/** In 71 columns; what does not fit goes below. `rollflex sweep` shows the same rows (`sweep/text.ts`). */
const always: readonly Column<FrontierRow>[] = [
  ['', ({ settings }) => (settings === 'baseline' ? 'as it is' : nameOf(settings))],
  ['s a\nprompt', (row) => fixed(row.secondsPerPrompt, 2)],
  ['as fast', ({ gain }) => (gain === null ? '' : factorText(speedupOf(gain), plainSigns))],
  ['kept', (row) => fixed(row.keptTokenRatio, 2)],
  ['longest\n1%', (row) => percent(row.longestTrainedRatio)],
];

function nameOf({ promptSpeculation, responseSpeculation, windowRounds, maxStaleness }: SynchronousSettings): string {
  if (maxStaleness !== undefined) {
    const window = windowRounds === undefined ? '' : `, W ${windowRounds}`;
    return `partial rollout ${factor(promptSpeculation)}${window}`;
  }
  if (windowRounds !== undefined) return `lossless tail, W ${windowRounds}`;
  const factors = `${factor(promptSpeculation)}/${factor(responseSpeculation)}`;
  return factors === '1/1' ? 'without tail batching' : `tail batching ${factors}`;
}

function assumed({ frontier, workload }: SweepAdvice): string[] {
  const { correlationIs, correlation, correlationOfEpochs } = frontier!;
  if (correlationIs === 'unknown') return [];
  if (workload.resampling.endsWith('within-prompt')) {
    return wrapped('assumes', 'recorded lengths come again, which flatters the lossless tail (--resampling)');
  }
  const rho = `lengths of a prompt correlate by ${correlation.toFixed(2)}`;
  if (correlationIs === 'assumed') return wrapped('assumes', `${rho} (--correlation), in later epochs, too`);
  if (correlationOfEpochs === null) return wrapped('assumes', `${rho} (measured in a step), in later epochs, too`);
  return wrapped('measured', `${rho} in a step, and by ${correlationOfEpochs.toFixed(2)} from step to step`);
}
