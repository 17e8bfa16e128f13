/** What `rollflex advise` has found, and lines of its answer: words that wrap behind the head of a paragraph, and numbers. */
import { oneLine } from '../../core/ids/printable.ts';
import type { Answer } from '../../sim/advise/answer.ts';
import type { Interval } from '../../sim/comparison/result.ts';
import type { DumpSummary } from '../../sim/trace/import/import.ts';
import type { FileNotes } from '../files/input/notes.ts';
import type { JobOptions } from '../job/job.ts';

/** The input of the command, the simulated job, and the answer. */
export interface Advised {
  readonly name: string;
  readonly summary: DumpSummary | undefined;
  /** What of the files was not read. */
  readonly notes: FileNotes;
  readonly answer: Answer;
  /** Those parts of the job that the user did not give: they come from the dump or from the preset. */
  readonly job: JobOptions;
  /** Times that each prompt comes. */
  readonly epochs: Epochs;
  /** Whether an option or the dump says which trainer it is. */
  readonly isTrainerKnown: boolean;
}

/** Times that each prompt comes: 1 if that is not asked. */
export interface Epochs {
  readonly count: number;
  /** `given`: by the user; `seen`: in the dump, where most prompts came in several steps. */
  readonly from: 'given' | 'seen';
}

const width = 80;
/** Characters for the head of a paragraph. */
export const wordWidth = 9;

/** Formats a share in percent. */
export const percent = (share: number, digits = 0): string => `${(100 * share).toFixed(digits)}%`;

/** Formats an interval of shares in percent. */
export const between = ({ low, high }: Interval): string => `${(100 * low).toFixed(1)} to ${percent(high, 1)}`;

/** Formats a factor without zeros at its end. */
export const factor = (value: number): string => `${Number(value.toFixed(4))}`;

/** Wraps words into lines. */
export function whole(text: string, room = width): string[] {
  const lines: string[] = [];
  for (const word of oneLine(text).split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= room) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Wraps words into lines behind the head of a paragraph. */
export const wrapped = (head: string, text: string): string[] =>
  whole(text, width - wordWidth).map((line, index) => `${(index === 0 ? head : '').padEnd(wordWidth)}${line}`);

/** Settings that the search chooses; the job gives all other settings of a configuration. */
const tuned = [
  'tailBatching',
  'composition',
  'windowRounds',
  'promptSpeculation',
  'responseSpeculation',
  'asyncReward',
  'adaptiveTimeout',
  'adaptiveTp',
  'startTp',
  'streamTraining',
  'scaleDownTrigger',
] as const;

/** Returns only the settings that the search chose; servers, GPUs and the profile are those of the simulated job. */
export function configuration(config: object): string[] {
  const all: Readonly<Record<string, unknown>> = { ...config };
  const entries = tuned
    .filter((name) => all[name] !== undefined)
    .map((name) => `"${name}":${JSON.stringify(all[name])}`);
  return wrapped('', `{${entries.join(', ')}}`).map((line) => line.trim());
}
