/** Returns a recommendation as text: a table of 80 columns at most, its meaning, and its limits. */
import { oneLine } from '../../core/ids/printable.ts';
import type { Interval } from '../../sim/comparison/result.ts';
import { speedupOf, timesOf } from '../../sim/report/faster.ts';
import type {
  ConfirmedSettings,
  FrontierRow,
  SweepAdvice,
  SweepFrontier,
  TriedSettings,
} from '../../sim/sweep/result.ts';
import { keyOf, type SweepSettings } from '../../sim/sweep/settings/settings.ts';
import { type Column, fixed, plainTable } from '../terminal/plain-table.ts';

const percent = (share: number): string => `${fixed(100 * share)}%`;
const factor = (value: number): string => `${Number(value.toFixed(4))}`;
const range = ({ low, high }: Interval): string =>
  Number.isFinite(high) ? `${fixed(low, 2)}-${fixed(high, 2)}` : `>${fixed(low, 2)}`;

interface Row {
  readonly name: string;
  readonly settings: SweepSettings | undefined;
  readonly secondsPerPrompt: number;
  readonly asFast: string;
  readonly speedup: string;
  readonly ofOracle: string;
  readonly costs?: { readonly kept: number } & Pick<
    TriedSettings,
    'longestTrainedRatio' | 'cappedShare' | 'staleShare' | 'maxLag'
  >;
}

const cost =
  (show: (costs: NonNullable<Row['costs']>) => string) =>
  ({ costs }: Row): string =>
    costs === undefined ? '' : show(costs);

const columns = (advice: SweepAdvice): readonly Column<Row>[] => [
  ['', ({ name, settings }) => (settings === undefined ? name : `${name}\n  ${shortOf(settings)}`)],
  ['s a\nprompt', ({ secondsPerPrompt }) => fixed(secondsPerPrompt, 3)],
  ['as\nfast', ({ asFast }) => asFast],
  ['equal\ntokens', ({ speedup }) => speedup],
  ...(advice.oracle === undefined ? [] : [['of\noracle', ({ ofOracle }: Row) => ofOracle] as const]),
  ['kept\ntokens', cost(({ kept }) => fixed(kept, 2))],
  ['longest\n1%', cost((one) => `${fixed(100 * one.longestTrainedRatio, 0)}%`)],
  // The table has no room for both columns, and few jobs have any lag.
  advice.recommended.maxLag + advice.published.maxLag > 0
    ? ['stale\nlag', cost((one) => `${percent(one.staleShare)}\n${one.maxLag}`)]
    : ['at\ncap', cost((one) => percent(one.cappedShare))],
];

/** Returns the settings as abbreviations; the text above the table explains them. */
function shortOf({ promptSpeculation, responseSpeculation, ...more }: SweepSettings): string {
  const factors = `${factor(promptSpeculation)}/${factor(responseSpeculation)}`;
  if ('width' in more) return `${factors} ${more.width}`;
  const { threshold, tp, windowRounds, maxStaleness } = more;
  const window = windowRounds === undefined ? '' : ` W ${windowRounds}`;
  const [composed, keeping] = [
    `lossless${window}`,
    `partial${window} ${factor(promptSpeculation)} lag ${maxStaleness}`,
  ];
  const etas = maxStaleness !== undefined ? keeping : windowRounds === undefined ? factors : composed;
  const [share, degree] = [typeof threshold === 'number' ? `${factor(100 * threshold)}%` : threshold, `${tp}`];
  return `${etas} ${share} ${degree}`.replaceAll('adaptive', 'adapt');
}

const confirmed = (name: string, { settings, secondsPerPrompt, gain, ofOracle, ...one }: ConfirmedSettings): Row => ({
  name,
  settings: settings === 'baseline' ? undefined : settings,
  secondsPerPrompt: secondsPerPrompt.value,
  ...(settings === 'baseline'
    ? { asFast: '', speedup: '' }
    : {
        asFast: `${fixed(speedupOf(gain).value, 2)}x\n${range(speedupOf(gain))}`,
        speedup: `${fixed(one.equalTokenSpeedup.value, 2)}x\n${range(one.equalTokenSpeedup)}`,
      }),
  ofOracle: ofOracle === undefined ? '' : `${fixed(100 * ofOracle, 0)}%`,
  costs: { ...one, kept: one.keptTokenRatio.value },
});

const tried = ({ settings, secondsPerPrompt, gain, equalTokenSpeedup, ...one }: TriedSettings): Row => ({
  name: 'tried',
  settings,
  secondsPerPrompt,
  asFast: `${fixed(timesOf(gain), 2)}x`,
  speedup: `${fixed(equalTokenSpeedup, 2)}x`,
  ofOracle: '',
  costs: { ...one, kept: one.keptTokenRatio },
});

const mostTried = 5;

function rowsOf({ recommended, published, baseline, oracle, tried: all }: SweepAdvice): Row[] {
  const rows = [
    confirmed('recommended', recommended),
    confirmed("papers' fixed", published),
    confirmed(baseline.label, baseline),
  ];
  if (oracle !== undefined) {
    rows.push({
      name: 'oracle',
      settings: undefined,
      secondsPerPrompt: oracle.secondsPerPrompt,
      asFast: `${fixed(timesOf(oracle.gain), 2)}x`,
      speedup: `${fixed(oracle.equalTokenSpeedup, 2)}x`,
      ofOracle: '100%',
    });
  }
  const shown = new Set(
    [recommended.settings, published.settings].map((one) => (one === 'baseline' ? one : keyOf(one))),
  );
  const most = all.reduce((seeds, one) => Math.max(seeds, one.seeds), 0);
  const others = all.filter(({ admissible, seeds, settings }) => {
    return admissible && seeds === most && !shown.has(keyOf(settings));
  });
  return [...rows, ...others.slice(0, mostTried).map(tried)];
}

/** Characters for the longest time of a frontier. */
const dots = 26;

/** Returns a frontier as text of 80 columns at most: a table, and a dot for the time of each row. */
function frontierText({ rows, epochs, steps, dataSetPrompts }: SweepFrontier): string {
  const longest = Math.max(...rows.map((one) => one.secondsPerPrompt));
  const dotOf = ({ secondsPerPrompt, isOnFrontier }: FrontierRow): string => {
    const width = Math.max(1, Math.round((dots * secondsPerPrompt) / longest));
    return `${'·'.repeat(width - 1)}${isOnFrontier ? '●' : '○'}`.padEnd(dots);
  };
  const columns: readonly Column<FrontierRow>[] = [
    ['', ({ settings }) => (settings === 'baseline' ? 'synchronous' : shortOf(settings))],
    ['kept\ntokens', (one) => fixed(one.keptTokenRatio, 2)],
    ['longest\n1%', (one) => `${fixed(100 * one.longestTrainedRatio, 0)}%`],
    ...(rows.some(({ maxLag }) => maxLag > 0)
      ? [['stale\nlag', (one: FrontierRow) => `${fixed(100 * one.staleShare, 0)}% ${one.maxLag}`] as const]
      : []),
    ['s a\nprompt', (one) => fixed(one.secondsPerPrompt, 3)],
    ['time: ● on the frontier    ', dotOf],
  ];
  const head = `time against kept tokens: ${steps} steps, in which ${dataSetPrompts} prompts come at least ${epochs} times`;
  return `${head}\n\n${plainTable(columns, rows)}`;
}

/** Returns how much more a thorough search would look at. */
function moreText({ responses, thoroughResponses }: SweepAdvice['search']): string {
  const times = thoroughResponses / responses;
  return times < 1.5 ? '' : ` --thorough simulates ${times.toFixed(times < 10 ? 1 : 0)} times as many responses.`;
}

/** Returns one recommendation as text. */
export function adviceText(advice: SweepAdvice, isQuiet: boolean): string {
  const { workload, simulated, search, meaning, notModelled, policy } = advice;
  const prompts = workload.prompts === null ? '' : `${workload.prompts} prompts, `;
  const { job, promptsPerRound, responsesPerPrompt, engines } = simulated;
  const step = advice.stepSeconds === undefined ? '' : `; synchronous ${fixed(advice.stepSeconds.value)} s a step`;
  const head = [
    `${oneLine(workload.name)}: ${prompts}cap ${workload.capTokens}`,
    `${job}: ${promptsPerRound} prompts of ${responsesPerPrompt} responses, ${engines} engine${engines === 1 ? '' : 's'}${step}`,
  ];
  const settings = advice.job === 'pools' ? 'eta_P/eta_R, F_w' : 'eta_P/eta_R, scale-down, TP (adapt: adaptive)';
  head.push(`settings: ${settings}`);
  const tables = [`${head.join('\n')}\n`, `${plainTable(columns(advice), rowsOf(advice))}\n`];
  if (advice.frontier !== undefined) tables.push(`${frontierText(advice.frontier)}\n`);
  if (isQuiet) return tables.join('\n');
  const [first, last] = [search.confirmationSeeds[0], search.confirmationSeeds.at(-1)];
  return [
    ...tables,
    [...meaning, ...(advice.frontier?.meaning ?? [])].join('\n'),
    `Policy ${policy}; its configuration, for registry.create: --json.`,
    `${search.runs} runs; rows with an interval are of the confirmation, seeds ${first} to ${last}; what was tried, of the search.${moreText(search)}`,
    '',
    'Not modelled:',
    ...notModelled.map((one) => `- ${one}`),
    '',
  ].join('\n');
}
