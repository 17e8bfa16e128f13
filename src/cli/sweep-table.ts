/** A recommendation as text: a table within 80 columns, what it means, and what it does not know. */
import { oneLine } from '../core/printable.ts';
import type { ConfirmedSettings, SweepAdvice, TriedSettings } from '../sim/sweep/result.ts';
import { keyOf, type SweepSettings } from '../sim/sweep/settings.ts';
import { type Column, fixed, plainTable } from './plain-table.ts';

const percent = (share: number): string => `${fixed(100 * share)}%`;
const factor = (value: number): string => `${Number(value.toFixed(4))}`;

interface Row {
  readonly name: string;
  readonly settings: SweepSettings | undefined;
  readonly secondsPerPrompt: number;
  readonly less: string;
  readonly kept: string;
  readonly capped: string;
}

const cell =
  (show: (settings: SweepSettings) => string) =>
  ({ settings }: Row): string =>
    settings === undefined ? '' : show(settings);

const columns = (advice: SweepAdvice): readonly Column<Row>[] => [
  ['', ({ name }) => name],
  ['eta_P', cell(({ promptSpeculation }) => factor(promptSpeculation))],
  ['eta_R', cell(({ responseSpeculation }) => factor(responseSpeculation))],
  ...(advice.job === 'pools'
    ? [['F_w', cell((one) => ('width' in one ? `${one.width}` : ''))] as const]
    : ([
        ['scale-\ndown', cell((one) => ('threshold' in one ? shareOf(one.threshold) : ''))],
        ['TP', cell((one) => ('tp' in one ? `${one.tp}` : ''))],
      ] as const)),
  ['s a\nprompt', ({ secondsPerPrompt }) => fixed(secondsPerPrompt, 3)],
  ['less', ({ less }) => less],
  ['kept\ntokens', ({ kept }) => kept],
  ['at cap', ({ capped }) => capped],
];

const shareOf = (threshold: number | string): string =>
  typeof threshold === 'number' ? `${factor(100 * threshold)}%` : threshold;

const confirmed = (name: string, { settings, secondsPerPrompt, gain, ...one }: ConfirmedSettings): Row => ({
  name,
  settings: settings === 'baseline' ? undefined : settings,
  secondsPerPrompt: secondsPerPrompt.value,
  less: settings === 'baseline' ? '' : `${percent(gain.value)}\n${fixed(100 * gain.low)}-${fixed(100 * gain.high)}`,
  kept: fixed(one.keptTokenRatio.value, 2),
  capped: percent(one.cappedShare),
});

const tried = ({ settings, secondsPerPrompt, gain, keptTokenRatio, cappedShare }: TriedSettings): Row => ({
  name: 'tried',
  settings,
  secondsPerPrompt,
  less: percent(gain),
  kept: fixed(keptTokenRatio, 2),
  capped: percent(cappedShare),
});

const mostTried = 5;

function rowsOf({ recommended, published, baseline, clairvoyant, tried: all }: SweepAdvice): Row[] {
  const rows = [
    confirmed('recommended', recommended),
    confirmed("papers' fixed", published),
    confirmed(baseline.label, baseline),
  ];
  rows.push({
    name: 'clairvoyant',
    settings: undefined,
    secondsPerPrompt: clairvoyant.secondsPerPrompt,
    less: percent(clairvoyant.gain),
    kept: '1.00',
    capped: '',
  });
  const shown = new Set(
    [recommended.settings, published.settings].map((one) => (one === 'baseline' ? one : keyOf(one))),
  );
  const most = all.reduce((seeds, one) => Math.max(seeds, one.seeds), 0);
  const others = all.filter(({ admissible, seeds, settings }) => {
    return admissible && seeds === most && !shown.has(keyOf(settings));
  });
  return [...rows, ...others.slice(0, mostTried).map(tried)];
}

/** One recommendation. */
export function adviceText(advice: SweepAdvice, isQuiet: boolean): string {
  const { workload, simulated, search, meaning, notModelled, policy } = advice;
  const prompts = workload.prompts === null ? '' : `${workload.prompts} prompts, `;
  const { job, promptsPerRound, responsesPerPrompt, engines } = simulated;
  const head = [
    `${oneLine(workload.name)}: ${prompts}cap ${workload.capTokens}`,
    `${job}: ${promptsPerRound} prompts of ${responsesPerPrompt} responses, ${engines} engine${engines === 1 ? '' : 's'}`,
  ];
  const parts = [`${head.join('\n')}\n`, `${plainTable(columns(advice), rowsOf(advice))}\n`];
  if (isQuiet) return parts.join('\n');
  const seeds = `${search.confirmationSeeds[0]} to ${search.confirmationSeeds.at(-1)}`;
  return [
    ...parts,
    meaning.join('\n'),
    `Policy ${policy}; its configuration, for createPolicy: --json.`,
    `${search.runs} runs; rows with an interval are from seeds ${seeds}, which the search has not seen.`,
    '',
    'Not modelled:',
    ...notModelled.map((one) => `- ${one}`),
    '',
  ].join('\n');
}
