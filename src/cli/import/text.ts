/** The outcome of an import as lines of text, and the command to run next. */
import { oneLine } from '../../core/ids/printable.ts';
import type { DumpSummary } from '../../sim/trace/import/import.ts';
import { pileUpSentence } from '../../sim/trace/import/pile-up.ts';

/** Facts about an import that are not in the summary of the library. */
export interface ImportDone {
  readonly files: number;
  readonly bytes: number;
  readonly output?: string;
  readonly cap?: number;
}

const many = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;
const size = (bytes: number): string => (bytes === 0 ? '' : ` (${(bytes / 1e6).toFixed(1)} MB)`);

/** Returns the summary as lines, each with a heading word. */
export function importSummary(summary: DumpSummary, done: ImportDone): string {
  const rows: [string, string][] = [
    [
      'read',
      `${summary.readers.join(', ')}: ${many(done.files, 'file')}, ${many(summary.lines, 'line')}${size(done.bytes)}`,
    ],
    ...fields(summary),
    ['trace', traced(summary)],
    ['recorded', tokens(summary)],
    ...turns(summary),
    ...how(summary),
    ...capped(summary, done),
    ...leftOut(summary),
    ...cautions(summary).map((text): [string, string] => ['note', text]),
  ];
  const lines = rows.map(([word, text]) => oneLine(`${word.padEnd(8)} ${text}`));
  return [...lines, '', 'What would be saved on it:', `  ${oneLine(nextCommand(summary, done))}`].join('\n');
}

const mostSizes = 4;

/** Says how many responses prompts have: `4 each`, or `5 prompts with 4, 8 with 1`. */
export function groupSizes({ groupSizes: sizes, responsesPerPrompt: { least, most, usual } }: DumpSummary): string {
  if (least === most) return `${most} each`;
  if (sizes.length > mostSizes) return `${least} to ${most} each, most of them in groups of ${usual}`;
  const [first, ...others] = sizes.toSorted((a, b) => b.responses * b.prompts - a.responses * a.prompts);
  const each = others.map(({ responses, prompts }) => `, ${prompts} with ${responses}`).join('');
  return `${many(first!.prompts, 'prompt')} with ${first!.responses}${each}`;
}

function traced(summary: DumpSummary): string {
  const { prompts, steps, responses } = summary;
  const over = steps > 1 ? ` over ${steps} steps` : '';
  return `${many(prompts, 'prompt')}${over}, ${many(responses, 'response')} (${groupSizes(summary)})`;
}

/** Returns which field was taken for what; nothing for a trace. */
export const fieldsText = ({ fields: all }: DumpSummary): string =>
  Object.entries(all)
    .map(([role, path]) => (role === path ? path : `${role} ${path}`))
    .join(', ');

const fields = (summary: DumpSummary): [string, string][] => {
  const text = fieldsText(summary);
  return text === '' ? [] : [['fields', text]];
};

/** Returns what the lengths of a dump do not show, or show too short. */
export function cautions({ skipped, censored, filtered, dropped, prompts }: DumpSummary): string[] {
  const texts: string[] = [];
  if (censored > 0) texts.push(`${many(censored, 'response')} aborted: counted as at least so long (censored)`);
  if ((skipped.aborted ?? 0) > 0) {
    texts.push(
      `${many(skipped.aborted!, 'aborted response')} without a length: those are the long ones, so lengths are too short`,
    );
  }
  if (filtered) {
    texts.push(
      `each of ${prompts} groups has right and wrong responses: the others seem to be filtered out, so lengths are those of trained groups`,
    );
  }
  if (dropped > 0) texts.push(`${many(dropped, 'response')} of steps that came again left out (--repeated)`);
  return texts;
}

function tokens({ tokens: { p50, p75, p99, longest } }: DumpSummary): string {
  return `P50 ${p50}, P75 ${p75}, P99 ${p99}, longest ${longest} tokens`;
}

function turns({ turns: counts }: DumpSummary): [string, string][] {
  if (counts === null) return [];
  return [['turns', `P50 ${counts.p50}, P99 ${counts.p99}, most ${counts.most} a response`]];
}

function how({ fromText, responses, joined, textTokens, estimated }: DumpSummary): [string, string][] {
  const rows: [string, string][] = [];
  if (estimated) rows.push(['', `ESTIMATED from the text, ${textTokens}: not counted (the trace says so, too)`]);
  else if (fromText > 0)
    rows.push(['', `counted in the text by ${textTokens}; special tokens that the dump leaves out are missing`]);
  else rows.push(['', 'as the dump counts them']);
  if (joined > 0)
    rows.push(['', `${many(joined, 'row')} added to other rows of the same response, ${responses} are left`]);
  return rows;
}

function capped(summary: DumpSummary, { cap }: ImportDone): [string, string][] {
  const { cappedShare, fromText, pileUp, responses, marked, unknownMarks } = summary;
  if (pileUp !== null) return [['capped', pileUpSentence(pileUp, responses)]];
  if (cappedShare === 0 && cap === undefined && marked === 0) {
    const [unknown] = Object.entries(unknownMarks);
    if (unknown === undefined)
      return [['capped', 'nothing says which responses were cut: --cap TOKENS, if you know the limit']];
    return [
      [
        'capped',
        `${unknown[0]} has values that are not known: ${unknown[1].join(', ')} (--cap TOKENS, if you know the limit)`,
      ],
    ];
  }
  const about = fromText > 0 && cap !== undefined ? ' (from 99 % of the cap on, since text is not exact)' : '';
  const some = marked > 0 && marked < responses ? `, of ${marked} is it said` : '';
  const others = Object.entries(unknownMarks).map(
    ([path, values]) => `; ${path} has values that are not known: ${values.join(', ')}`,
  );
  return [
    [
      'capped',
      `${(100 * cappedShare).toFixed(1)}% of the responses ran into the limit${about}${some}${others.join('')}`,
    ],
  ];
}

function leftOut({ skipped, brokenLines, firstBroken }: DumpSummary): [string, string][] {
  const reasons = Object.entries(skipped).map(([reason, count]) => `${count} ${reason}`);
  const rows: [string, string][] = reasons.length === 0 ? [] : [['left out', `responses: ${reasons.join(', ')}`]];
  if (brokenLines > 0) rows.push(['broken', `${many(brokenLines, 'line')} skipped, such as ${firstBroken[0]}`]);
  return rows;
}

function nextCommand(summary: DumpSummary, { output, cap = summary.pileUp?.tokens }: ImportDone): string {
  const { prompts, steps, responsesPerPrompt } = summary;
  return [
    `rollflex simulate ${output ?? 'TRACE'}`,
    ...(steps > 0 ? [`--prompts-per-round ${Math.round(prompts / steps)}`] : []),
    `--responses-per-prompt ${responsesPerPrompt.usual}`,
    ...(cap === undefined ? [] : [`--cap ${cap}`]),
  ].join(' ');
}
