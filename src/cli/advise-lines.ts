/** Lines of the answer: words that wrap behind the head of a paragraph, and numbers. */
import { oneLine } from '../core/printable.ts';
import type { Interval } from '../sim/result.ts';

const width = 80;
/** Characters for the head of a paragraph. */
export const wordWidth = 9;

/** Formats a share in percent. */
export const percent = (share: number, digits = 0): string => `${(100 * share).toFixed(digits)}%`;

/** Formats an interval of shares in percent. */
export const between = ({ low, high }: Interval): string => `${(100 * low).toFixed(1)} to ${percent(high, 1)}`;

/** Formats a factor without zeros at its end. */
export const factor = (value: number): string => `${Number(value.toFixed(4))}`;

/** Wraps words into lines behind the head of a paragraph. */
export function wrapped(head: string, text: string): string[] {
  const lines: string[] = [];
  for (const word of oneLine(text).split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && wordWidth + line.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else lines.push(word);
  }
  return lines.map((line, index) => `${(index === 0 ? head : '').padEnd(wordWidth)}${line}`);
}

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
