/** The trace format of rollflex: JSON lines, one prompt per line. Only `responses[].tokens` is required. */
import { z } from 'zod';
import { nearest } from '../../core/ids/nearest.ts';
import { keysAt } from '../../core/machine/schema-keys.ts';
import { parse, pathText } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';

const count = z.int().nonnegative();

const traceTurnSchema = z.strictObject({
  addedTokens: count
    .optional()
    .describe(
      'Tokens that came into the context before it: the answer of a tool or a user; of the first, after the prompt.',
    ),
  tokens: z.int().positive().describe('Tokens that it generated.'),
  tool: z.string().min(1).optional().describe('What it waited for afterwards: the name of a tool, or `user`.'),
  toolSeconds: z.number().nonnegative().optional().describe('Seconds that the answer took.'),
});

/** A turn of a response. */
export type TraceTurn = z.output<typeof traceTurnSchema>;

export const tracePromptSchema = z.strictObject({
  prompt: z.string().min(1).optional().describe('Id of the prompt; the line number if absent.'),
  row: z
    .string()
    .min(1)
    .optional()
    .describe('Id of the prompt in its data set, where `prompt` is new each time; else `prompt` without `@STEP`.'),
  promptTokens: z.int().nonnegative().optional().describe('Tokens of the prompt.'),
  sharedTokens: count.optional().describe('Those of them that all prompts of its environment begin with.'),
  environment: z
    .string()
    .min(1)
    .optional()
    .describe('What prompts with the same `sharedTokens` have in common: a name.'),
  task: z.string().optional().describe('`math`, `code`, `judge`, …'),
  estimated: z.string().min(1).optional().describe('How tokens were estimated; absent where they were counted.'),
  responses: z
    .array(
      z
        .strictObject({
          tokens: z.int().positive().describe('Tokens of the response, of all its turns.'),
          turns: z.array(traceTurnSchema).min(1).optional().describe('Its turns, where it has several.'),
          correct: z.boolean().optional().describe('Whether it was right.'),
          rewardSeconds: z.number().nonnegative().optional().describe('Seconds that its reward took.'),
          capped: z.boolean().optional().describe('It ran into the length limit: it would have been longer.'),
          censored: z.boolean().optional().describe('It was aborted after these tokens: it would have been longer.'),
        })
        .refine(({ tokens, turns }) => turns === undefined || generatedIn(turns) === tokens, {
          path: ['tokens'],
          error: 'the sum of the tokens of its turns',
        }),
    )
    .min(1)
    .describe('Its responses, in the order in which they were sampled.'),
});

/** Returns the tokens that turns have generated. */
export function generatedIn(turns: readonly TraceTurn[]): number {
  return turns.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Returns the tokens that tools and users have added in turns. */
export function addedIn(turns: readonly TraceTurn[]): number {
  return turns.reduce((sum, { addedTokens = 0 }) => sum + addedTokens, 0);
}

/** A prompt of a trace. */
export interface TracePrompt extends z.output<typeof tracePromptSchema> {
  /** Id of the prompt, unique in its trace. */
  readonly prompt: string;
}

/** Returns the id that a prompt has in all training steps. */
export const rowOf = ({ prompt, row }: Pick<TracePrompt, 'prompt' | 'row'>): string =>
  row ?? prompt.replace(/@\d+$/, '');

/** Returns the training step of a prompt that came in several; `undefined` for another one. */
export const stepOf = ({ prompt }: Pick<TracePrompt, 'prompt'>): string | undefined => /@(\d+)$/.exec(prompt)?.[1];

/** Returns the JSON object in a line of a file. Throws `invalid_input` with file and line number. */
export function jsonLine(line: string, where: string): Record<string, unknown> {
  try {
    // `trim` also removes a byte order mark, which JSON does not allow.
    const value: unknown = JSON.parse(line.trim());
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The error below gives the place.
  }
  refuse('invalid_input', where, 'a JSON object', line);
}

/** Whether a line is a JSON object with at least these keys. */
export function hasKeys(line: string, keys: readonly string[]): boolean {
  if (!line.startsWith('{')) return false;
  try {
    const found = Object.keys(JSON.parse(line) as object);
    return keys.every((key) => found.includes(key));
  } catch {
    return false;
  }
}

/**
 * Receives a key that the format does not have, and that is passed over.
 *
 * @param key - the key with its path, without the indices of lists: `responses[].length`
 * @param meant - the nearest key of the format, if one is near
 */
export type PassedOverKey = (key: string, meant: string | undefined) => void;

/** Removes the keys that the format does not have, except one that stands in the place of a missing key: that line is wrong. */
function withoutOtherKeys(line: Record<string, unknown>, onOtherKey: PassedOverKey): Record<string, unknown> {
  const issues = tracePromptSchema.safeParse(line).error?.issues ?? [];
  const wrong = new Set(issues.map(({ path }) => pathText(path)));
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    const parent = issue.path.reduce((at: unknown, step) => (at as Record<PropertyKey, unknown>)[step], line);
    for (const key of issue.keys) {
      const keys = keysAt(tracePromptSchema, issue.path);
      const meant = key === 'domain' ? 'task' : nearest(key, keys);
      if (meant !== undefined && wrong.has(pathText([...issue.path, meant]))) continue;
      delete (parent as Record<string, unknown>)[key];
      onOtherKey(pathText([...issue.path, key]).replace(/\[\d+\]/g, '[]'), meant);
    }
  }
  return line;
}

/**
 * Parses a line of rollflex's own format. Keys that the format does not have are passed over.
 *
 * @param where - `file:line`, for errors
 * @param onOtherKey - receives the keys that were passed over
 * @throws PolicyError `invalid_input`, with file, line number and field
 */
export function readTraceLine(line: string, where: string, onOtherKey: PassedOverKey = () => {}): TracePrompt {
  const value = parse(tracePromptSchema, withoutOtherKeys(jsonLine(line, where), onOtherKey), 'invalid_input', where);
  return { ...value, prompt: value.prompt ?? where };
}

/** Returns a trace as text. */
export function formatTrace(prompts: readonly TracePrompt[]): string {
  return prompts.map((prompt) => `${JSON.stringify(prompt)}\n`).join('');
}
