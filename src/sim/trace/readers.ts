/** Readers for published traces: each turns a line into prompts in rollflex's own format. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';
import { hasKeys, jsonLine, type PassedOverKey, readTraceLine, type TracePrompt } from './format.ts';
import { correctBy } from './import/rows/value.ts';

/** A reader of one format of traces. */
export interface TraceReader {
  /** Name of the format. */
  readonly id: string;
  /** One sentence for listings. */
  readonly description: string;
  /** Whether a file with this first line (trimmed) has this format. */
  detect(firstLine: string): boolean;
  /**
   * Returns the prompt in a line (without white space around it), or nothing for a header. `where` is `file:line`, for errors;
   * `onOtherKey` receives keys of rollflex's own format that were passed over.
   */
  read(line: string, where: string, onOtherKey?: PassedOverKey): TracePrompt | undefined;
}

const count = z.int().nonnegative();
const lengths = z.array(count).min(1);

/** Returns a reader of JSON lines that is recognised by the keys of the first line. */
function jsonReader<T>(
  spec: { id: string; description: string; keys: readonly string[] },
  schema: z.ZodType<T>,
  toPrompt: (row: T, where: string) => TracePrompt,
): TraceReader {
  return Object.freeze({
    id: spec.id,
    description: spec.description,
    detect: (line: string) => hasKeys(line, spec.keys),
    read: (line: string, where: string) =>
      toPrompt(parse(schema, jsonLine(line, where), 'invalid_input', where), where),
  });
}

/** The rule for rewards beside lengths. */
const oneForEach = 'one for each of `response_tokens`';

/** Cuts responses at a cap. Responses of at least `cappedFrom` tokens (by default, the cap) count as capped. */
function responses(
  list: readonly number[],
  cap = Number.POSITIVE_INFINITY,
  cappedFrom = cap,
  correctAt: (index: number) => boolean | undefined = () => undefined,
): TracePrompt['responses'] {
  return list
    .map((tokens, at) => {
      const correct = correctAt(at);
      return {
        tokens: Math.min(tokens, cap),
        ...(tokens >= cappedFrom ? { capped: true } : {}),
        ...(correct === undefined ? {} : { correct }),
      };
    })
    .filter(({ tokens }) => tokens > 0);
}

const castilloCap = 15_000;
const requestColumns = 'id,t_ms,input_tokens,output_tokens';
const request = z.object({ id: z.string().min(1), input_tokens: count, output_tokens: count });
/** Reads a cell as a number; returns any other value unchanged, for the error message. */
const wholeNumber = (cell: string | undefined) => (cell !== undefined && /^\d+$/.test(cell) ? Number(cell) : cell);

/** The known formats, the most specific first. */
export const traceReaders: readonly TraceReader[] = Object.freeze([
  jsonReader(
    {
      id: 'castillo',
      description: 'CASTILLO: 10 samples a prompt, exact tokens; 15,001 means capped',
      keys: ['dataset', 'gen_s'],
    },
    z.object({ prompt_id: z.string().min(1), dataset: z.string(), prompt_tokens: count, response_tokens: lengths }),
    (row) => ({
      prompt: row.prompt_id,
      promptTokens: row.prompt_tokens,
      task: row.dataset,
      responses: responses(row.response_tokens, castilloCap, castilloCap + 1),
    }),
  ),
  jsonReader(
    {
      id: 'lrm-economy',
      description: 'LRM token economy: reasoning models, 5 samples a prompt',
      keys: ['model', 'max_tokens', 'score'],
    },
    z
      .object({
        model: z.string(),
        prompt_id: z.string(),
        category: z.string(),
        prompt_tokens_approx: count,
        max_tokens: z.int().positive().nullable(),
        response_tokens: lengths,
        score: z.array(z.number()),
      })
      .refine((row) => row.score.length === row.response_tokens.length, {
        path: ['score'],
        error: oneForEach,
      }),
    (row) => ({
      prompt: `${row.model}/${row.prompt_id}`,
      promptTokens: row.prompt_tokens_approx,
      task: row.category,
      responses: responses(row.response_tokens, row.max_tokens ?? undefined, undefined, (at) =>
        correctBy(row.score[at], undefined),
      ),
    }),
  ),
  jsonReader(
    {
      id: 'skyt1',
      description: 'Sky-T1: one greedy answer from each of several checkpoints',
      keys: ['source', 'correct'],
    },
    z
      .object({
        prompt_id: z.string().min(1),
        prompt_tokens_approx: count,
        response_tokens: lengths,
        correct: z.array(z.boolean()),
      })
      .refine((row) => row.correct.length === row.response_tokens.length, {
        path: ['correct'],
        error: oneForEach,
      }),
    (row) => ({
      prompt: row.prompt_id,
      promptTokens: row.prompt_tokens_approx,
      task: 'math',
      responses: responses(row.response_tokens, undefined, undefined, (at) => row.correct[at]),
    }),
  ),
  jsonReader(
    {
      id: 'misguided-attention',
      description: 'Misguided Attention: 3 samples a prompt',
      keys: ['model', 'response_tokens', 'prompt_tokens_approx'],
    },
    z.object({ model: z.string(), prompt_id: z.string(), prompt_tokens_approx: count, response_tokens: lengths }),
    (row) => ({
      prompt: `${row.model}/${row.prompt_id}`,
      promptTokens: row.prompt_tokens_approx,
      responses: responses(row.response_tokens),
    }),
  ),
  Object.freeze({
    id: 'requests-csv',
    description: 'Azure 2023 and Mooncake: id, t_ms, input_tokens, output_tokens; one response a request',
    detect: (line: string) => line === requestColumns,
    read: (line: string, where: string) => {
      if (line === requestColumns) return undefined;
      const [id, , input, output, ...more] = line.split(',').map((cell) => cell.trim());
      if (more.length > 0) {
        refuse('invalid_input', where, requestColumns, line);
      }
      const cells = { id, input_tokens: wholeNumber(input), output_tokens: wholeNumber(output) };
      const row = parse(request, cells, 'invalid_input', where);
      return {
        prompt: row.id,
        promptTokens: row.input_tokens,
        responses: [{ tokens: Math.max(1, row.output_tokens) }],
      };
    },
  }),
  Object.freeze({
    id: 'rollflex',
    description: 'The format of rollflex: {"prompt", "promptTokens", "responses": [{"tokens"}]}',
    detect: (line: string) => hasKeys(line, ['responses']),
    read: readTraceLine,
  }),
]);
