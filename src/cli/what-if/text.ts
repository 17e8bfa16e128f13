/** An answer of `what-if` in words, for the command line and for the page of `debug`. */
import { basisLine } from '../../sim/colocated/basis.ts';
import { unmetSentences } from '../../sim/colocated/policy-scheduler.ts';
import { fasterText, plainSigns, speedupOf } from '../../sim/report/faster.ts';
import type { WhatIfText } from '../../sim/what-if/form.ts';
import type { RestOfJob, WhatIf } from '../../sim/what-if/what-if.ts';
import { type Column, fixed, percent, seconds } from '../terminal/plain-table.ts';
import { answered, type WhatIfAnswer, type WhatIfQuestion } from './question.ts';

/** A row of the table: the log, or simulations of it. */
export interface WhatIfRow {
  readonly label: string;
  readonly all: readonly RestOfJob[];
}

/** An answer as a table, and the sentences beside it. */
export interface WhatIfTable extends Pick<WhatIfText, 'about' | 'worth' | 'assumed'> {
  readonly columns: readonly Column<WhatIfRow>[];
  readonly rows: readonly WhatIfRow[];
}

function textOf(answer: WhatIfAnswer, question: Pick<WhatIfQuestion, 'set'>): WhatIfText {
  const { columns, rows, ...texts } = tableOf(answer, question);
  return {
    ...texts,
    about: [basisLine(answer.basis), ...texts.about],
    head: columns.map(([head]) => head.replace('\n', ' ')),
    rows: rows.map((row) => columns.map(([, cell]) => cell(row))),
  };
}

/** Returns what answers questions about a log in texts. */
export const textAnswerer =
  (paths: readonly string[]) =>
  async (question: WhatIfQuestion): Promise<WhatIfText> =>
    textOf(await answered(paths, question), question);

const mean = (all: readonly RestOfJob[], of: (one: RestOfJob) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0) / all.length;

const columnsOf = (isStale: boolean): Column<WhatIfRow>[] => {
  const whole = (head: string, of: (one: RestOfJob) => number): Column<WhatIfRow> => [
    head,
    ({ all }) => fixed(mean(all, of), 0),
  ];
  const stale: Column<WhatIfRow> = ['stale\ntokens', ({ all }) => percent(mean(all, (one) => one.staleShare))];
  return [
    ['', ({ label }) => label],
    ['rest\ns', ({ all }) => seconds(mean(all, (one) => one.seconds))],
    whole('rounds', (one) => one.rounds),
    whole('mean tokens\nof a response', (one) => one.meanResponseTokens),
    whole('prompts\ndeferred', (one) => one.deferredPrompts),
    ...(isStale ? [stale] : []),
  ];
};

/** Returns the table of an answer, and the sentences beside it. */
export function tableOf(
  { name, otherPolicy, config, answer, costsOf }: WhatIfAnswer,
  { set }: Pick<WhatIfQuestion, 'set'>,
): WhatIfTable {
  const { at, policy, log, asItWas, changed, saved, kept } = answer;
  const where =
    at.roundId === null ? 'from its beginning' : `from event ${at.seq} (round ${at.roundId}, ${seconds(at.seconds)} s)`;
  const isChanged = set.length > 0 || otherPolicy !== null;
  const before = (path: string): unknown => {
    const [first, field] = path.split('.');
    const whole = (config as Record<string, unknown>)[first!];
    return field === undefined ? whole : (whole as Record<string, unknown> | undefined)?.[field];
  };
  const range = ({ value, low, high }: WhatIf['saved'], shown: (one: number) => string): string =>
    `${shown(value)} (${shown(low)} to ${shown(high)})`;
  return {
    about: [
      `${name}, ${policy}: ${where} until as many prompts are trained as in the log`,
      ...(otherPolicy === null
        ? set.map(
            ([path, value]) => `${path}: ${JSON.stringify(before(path)) ?? 'not set'} -> ${JSON.stringify(value)}`,
          )
        : [`${otherPolicy} after the open round, with ${ownSettings(set)}`]),
    ],
    columns: columnsOf([log, ...changed].some(({ maxLag }) => maxLag > 0)),
    rows: [
      { label: 'the log', all: [log] },
      { label: 'simulated as it was', all: asItWas },
      ...(isChanged ? [{ label: 'with the change', all: changed }] : []),
    ],
    ...(isChanged && {
      worth: saysNothing(saved)
        ? `This log cannot tell what that saves: ${percent(saved.low)} to ${percent(saved.high)} of the time. ${needs(answer)} It keeps ${range(kept, (one) => fixed(one, 2))} of the tokens.`
        : `${otherPolicy ?? 'The change'}: ${fasterText(speedupOf(saved), plainSigns)}, keeping ${range(kept, (one) => fixed(one, 2))} of the tokens.`,
    }),
    assumed: [
      ...unmetSentences([{ label: otherPolicy ?? policy, unmet: answer.unmet ?? [] }]),
      ...assumed(answer, costsOf),
    ],
  };
}

const ownSettings = (set: WhatIfQuestion['set']): string =>
  set.length === 0 ? 'its own settings' : set.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ');

/** Whether an interval of a saving has both signs, and is as wide as the time itself. */
const saysNothing = ({ low, high }: WhatIf['saved']): boolean => low < 0 && high > 0 && high - low > 1;

/** Returns what the log lacks for a narrower interval. */
const needs = ({ fit }: WhatIf): string =>
  fit === null
    ? 'It needs rounds that show how fast engines and training are: give an event after some rounds (--at), or measured steps (--calibrate).'
    : `It needs more than ${fit.rounds === 1 ? 'the one round' : `the ${fit.rounds} rounds`} before the event: give a later event (--at), or a longer log.`;

function assumed({ fit, lengths, engines, at, untrained, misses }: WhatIf, costsOf: WhatIfAnswer['costsOf']): string[] {
  const { known, censored, unknown } = lengths;
  return [
    `${known} responses are as long as in the log; ${censored} that were aborted there are drawn beyond their abort, and those that it does not have (${unknown} did not end in it) from all.`,
    intervalsAre(misses.seconds.rounds.length),
    fit === null
      ? `Engines and training are as fast as the ${costsOf}, or the calibration, says: no round had ended before the event.`
      : `Engines are ${fixed(fit.factor, 2)} x as slow as the ${costsOf}, and ${seconds(fit.betweenSeconds)} s pass between rounds, as in the ${fit.rounds === 1 ? 'round' : `${fit.rounds} rounds`} before the event.`,
    `${engines} engines, as at the event; prompts come in the order of the log; nothing fails. A request in flight had come as far as the share of its time says.`,
    ...(at.roundId === null ? [besideSimulate(untrained)] : []),
  ];
}

/** What stands in the row `as logged` of the other command. */
const besideSimulate = (untrained: number): string =>
  untrained === 0
    ? 'From the beginning on, simulate --from-log says the same of "as logged", given as many steps and seeds.'
    : `simulate --from-log takes longer for "as logged": it also trains the ${untrained} prompts that this log leaves.`;

const intervalsAre = (rounds: number): string =>
  rounds === 0
    ? 'The intervals (95 %) are over these draws, and over what the simulation misses in the log as it was.'
    : `The intervals (95 %) are over these draws, and over what the simulation misses in the ${rounds === 1 ? 'round' : `last ${rounds} rounds`} before the event, and in the rest as it was.`;
