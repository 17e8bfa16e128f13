/** The answer in at most 20 lines of 80 columns beside what was assumed of a cluster, and as many if prompts come several times. */
import type { Answer, Paid } from '../../sim/advise/answer.ts';
import { leastWorth } from '../../sim/advise/returning.ts';
import { basisLine } from '../../sim/colocated/basis.ts';
import { isTie } from '../../sim/comparison/tie.ts';
import { equalText, factorText, fasterText, plainSigns, speedupOf } from '../../sim/report/faster.ts';
import type { SynchronousSettings } from '../../sim/sweep/settings/settings.ts';
import { pileUpSentence } from '../../sim/trace/import/pile-up.ts';
import { cautions, fieldsText, groupSizes } from '../import/text.ts';
import { saysCluster } from '../job/cluster.ts';
import { fixed } from '../terminal/plain-table.ts';
import { type Advised, between, configuration, factor, percent, whole, wrapped } from './lines.ts';
import { againLines, hintLines, selectingLines } from './returning-text.ts';

const longestName = 24;
/** Shortens a name to leave room for the rest of its line. */
const short = (name: string): string => (name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name);

/** Returns the answer, in lines. */
export function adviceLines(advised: Advised): string[] {
  const { answer } = advised;
  return [
    ...whole(basisLine(answer.sweep.basis!)),
    ...wrapped('read', read(advised)),
    ...understood(advised),
    ...piledUp(advised),
    ...wrapped('as', simulated(advised)),
    ...wrapped('waits', waits(answer)),
    ...hintLines(advised),
    ...(answer.returning?.verdict === 'best' ? [] : alone(answer)),
    ...againLines(advised),
    ...selectingLines(advised),
    ...askedLines(advised),
  ];
}

/** Asks for the trainer, if neither an option nor the dump names it. */
const askedLines = ({ isTrainerKnown }: Advised): string[] =>
  isTrainerKnown ? [] : wrapped('trainer', 'which one? --trainer verl, slime, roll, …; this is for your own host');

/** Returns the answer for prompts that come once. */
const alone = (answer: Answer): string[] =>
  answer.settings === null ? nothing(answer) : something(answer, answer.settings);

function read({ name, summary, answer }: Advised): string {
  if (summary === undefined) return `${short(name)}: ${answer.sweep.workload.source}, no single responses`;
  const { readers, prompts, steps, responses, responsesPerPrompt, tokens, estimated } = summary;
  const each = responsesPerPrompt.least === responsesPerPrompt.most ? '' : ` (${groupSizes(summary)})`;
  const over = steps > 0 ? `${steps} step${steps === 1 ? '' : 's'}, ` : '';
  const lengths = `P50 ${tokens.p50}, P99 ${tokens.p99}, longest ${tokens.longest}`;
  const how = estimated ? ' tokens, ESTIMATED' : '';
  // Which field was taken for what, where names told it.
  const fields = readers.includes('table') ? `: ${fieldsText(summary)}` : '';
  return `${short(name)} (${readers.join(', ')}${fields}): ${over}${prompts} prompts, ${responses} recorded responses${each} ${lengths}${how}`;
}

/** Returns what the lengths do not show. */
function understood({ summary }: Advised): string[] {
  if (summary === undefined) return [];
  return cautions(summary).flatMap((text) => wrapped('note', text));
}

function piledUp({ summary }: Advised): string[] {
  if (summary?.pileUp == null) return [];
  return wrapped('cap', pileUpSentence(summary.pileUp, summary.responses));
}

function simulated({ answer, job }: Advised): string {
  const { job: label, promptsPerRound, responsesPerPrompt, engines } = answer.sweep.simulated;
  const shape = `${promptsPerRound} x ${responsesPerPrompt} responses, ${engines} engines, cap ${answer.sweep.workload.capTokens}`;
  const seconds =
    job.calibrate !== undefined
      ? 'calibrated'
      : saysCluster(job)
        ? 'modelled: --calibrate'
        : "the preset's: --calibrate";
  return `${label}: ${shape}; ${fixed(answer.stepSeconds.value)} s a step (${seconds})`;
}

function waits({ waits: { all, engines, rewards, sync } }: Answer): string {
  return `${percent(all)} of GPU time: long responses ${percent(engines)}, rewards ${percent(rewards)}, new weights ${percent(sync)}`;
}

function nothing(answer: Answer): string[] {
  const { trainer, paid, own } = answer;
  return [
    ...wrapped(
      'answer',
      `nothing that ${whoOf(trainer)} can carry out would save ${percent(leastWorth)} of the time for sure (${between(paid.gain)}${isTie(paid.gain) ? ', a tie' : ''}): leave it as it is${moreText(answer)}`,
    ),
    ...ownLines(own, paid),
  ];
}

const whoOf = ({ id, label, adapter }: Answer['trainer']): string => {
  if (id === 'own') return label;
  return adapter === null ? `a host of your own for ${label}` : `the adapter for ${label}`;
};

/** By kind of lengths: the data that, in addition to new seeds, only the confirmation simulates. */
const unseen = { halves: ' and prompts', generated: ' and prompts', same: '' };

function switches(settings: SynchronousSettings): string {
  const { promptSpeculation, responseSpeculation, threshold, tp, rewards, maxStaleness } = settings;
  const etas: string[] = [];
  if (promptSpeculation > 1) etas.push(`${factor(promptSpeculation)} x prompts`);
  if (responseSpeculation > 1 && maxStaleness === undefined) etas.push(`${factor(responseSpeculation)} x responses`);
  const batches =
    maxStaleness === undefined
      ? `tail batching (${etas.join(', ')})`
      : `partial rollout (${factor(promptSpeculation)} x prompts, in the order of the data)`;
  const parts = etas.length > 0 ? [batches] : [];
  if (rewards === undefined) parts.push('rewards beside the rollout');
  if (threshold !== 'off') {
    const at = typeof threshold === 'number' ? ` at ${percent(threshold)} of the responses` : '';
    parts.push(`GPUs to training${at}`);
  }
  if (tp === 'adaptive') parts.push('adaptive TP');
  return parts.join(', ');
}

/** Returns what is said of older weights: of the settings, where they use them, or of the trainer. */
function staleOf({ trainer, sweep: { recommended } }: Answer): string {
  const { staleShare, maxLag } = recommended;
  if (maxLag === 0) return trainer.staleness;
  return `${percent(staleShare)} of the tokens, by up to ${maxLag} version${maxLag === 1 ? '' : 's'}`;
}

function something(answer: Answer, settings: SynchronousSettings): string[] {
  const { trainer, paid, longestTrainedRatio, own, paste, sweep } = answer;
  const { gain, keptTokenRatio, equalTokenSpeedup } = paid;
  const { confirmationSeeds: seeds, confirmationSteps, prompts } = sweep.search;
  const by = trainer.adapter ?? (trainer.id === 'own' ? `policy ${sweep.policy}` : 'no adapter');
  const tokens = `keeps ${keptTokenRatio.toFixed(2)} of the tokens`;
  const longest = `as long as the longest 1%: ${percent(longestTrainedRatio)} as many`;
  return [
    ...wrapped('switch', `on ${switches(settings)}: ${by}, ${trainer.page}`),
    ...wrapped('faster', `${fasterText(speedupOf(gain), plainSigns)}, ${equalText(equalTokenSpeedup, plainSigns)}`),
    ...wrapped('costs', `${tokens}; ${longest}; older weights: ${staleOf(answer)}`),
    ...wrapped(
      'sure',
      `${percent(gain.confidence)}, ${enginesText(answer)}; by runs alone ${factorText(speedupOf(answer.sampling), plainSigns)}: ${seeds.length} of ${confirmationSteps} steps, on new seeds${unseen[prompts.kind]}${tieText(answer)}${moreText(answer)}`,
    ),
    ...ownLines(own, paid),
    `paste${trainer.id === 'own' ? '    (all of the configuration: --json)' : ''}`,
    ...(paste.length > 0 ? paste : configuration(sweep.config)),
  ];
}

/** Returns what is known of the engines, which the interval is over. */
const enginesText = ({ measuredPoints: points }: Answer): string =>
  points === 0 ? 'engines not measured (--calibrate)' : `engines as ${points} point${points === 1 ? '' : 's'} measured`;

/** Says where the settings are not told from the papers'. */
const tieText = ({ sweep: { verdict, gainOverPublished } }: Answer): string =>
  verdict === 'tuned' && isTie(gainOverPublished) ? "; a tie with the papers' settings" : '';

/** Returns how much more a thorough search would look at; nothing if this one was as thorough. */
function moreText({ sweep }: Answer): string {
  const { responses, thoroughResponses } = sweep.search;
  const times = thoroughResponses / responses;
  if (times < 1.5) return '';
  return `; --thorough looks at ${times.toFixed(times < 10 ? 1 : 0)} x as much`;
}

function ownLines(own: Paid | undefined, paid: Paid): string[] {
  if (own === undefined) return [];
  const what = "all of RollPacker at the papers' settings, in a host of your own";
  if (own.gain.value < paid.gain.value + leastWorth) return wrapped('own', `${what}, would add nothing`);
  const { gain, keptTokenRatio, equalTokenSpeedup } = own;
  const speed = `${fasterText(speedupOf(gain).value, plainSigns)}, ${equalText(equalTokenSpeedup, plainSigns)}`;
  return wrapped('own', `${what}: ${speed}, keeping ${keptTokenRatio.toFixed(2)} of the tokens`);
}
