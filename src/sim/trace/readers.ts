/** Readers for published traces: each turns a line into prompts of the project's format. */
import { z } from 'zod';
import { parse } from '../../core/validate.ts';
import { jsonLine, readTraceLine, type TracePrompt } from './format.ts';

/** Reads one format. */
export interface TraceReader {
  readonly id: string;
  readonly description: string;
  /** Whether a file with this first line is of the format. */
  detect(firstLine: string): boolean;
  /** The prompt in a line, or nothing (a header). `where` is `file:line`, for errors. */
  read(line: string, where: string): TracePrompt | undefined;
}

const lengths = z.array(z.int().nonnegative()).min(1);

/** A reader of JSON lines that is recognised by its keys. */
function jsonReader<T>(
  spec: { id: string; description: string; keys: readonly string[] },
  schema: z.ZodType<T>,
  toPrompt: (row: T, where: string) => TracePrompt,
): TraceReader {
  return Object.freeze({
    id: spec.id,
    description: spec.description,
    detect: (line: string) => {
      if (!line.startsWith('{')) return false;
      try {
        const keys = Object.keys(JSON.parse(line));
        return spec.keys.every((key) => keys.includes(key));
      } catch {
        return false;
      }
    },
    read: (line: string, where: string) =>
      toPrompt(parse(schema, jsonLine(line, where), 'invalid_input', where), where),
  });
}

const responses = (list: readonly number[], cap = Number.POSITIVE_INFINITY) =>
  list.filter((tokens) => tokens > 0).map((tokens) => (tokens > cap ? { tokens: cap, capped: true } : { tokens }));

const castilloCap = 15_000;

/** The formats that are known, the most particular first. */
export const traceReaders: readonly TraceReader[] = Object.freeze([
  jsonReader(
    {
      id: 'castillo',
      description: 'CASTILLO: 10 samples a prompt, exact tokens; 15,001 means capped',
      keys: ['dataset', 'gen_s'],
    },
    z.object({ prompt_id: z.string(), dataset: z.string(), prompt_tokens: z.int(), response_tokens: lengths }),
    (row) => ({
      prompt: row.prompt_id,
      promptTokens: row.prompt_tokens,
      task: row.dataset,
      responses: responses(row.response_tokens, castilloCap),
    }),
  ),
  jsonReader(
    {
      id: 'lrm-economy',
      description: 'LRM token economy: reasoning models, 5 samples a prompt',
      keys: ['model', 'max_tokens', 'score'],
    },
    z.object({
      model: z.string(),
      prompt_id: z.string(),
      category: z.string(),
      prompt_tokens_approx: z.int(),
      max_tokens: z.int().nullable(),
      response_tokens: lengths,
    }),
    (row) => ({
      prompt: `${row.model}/${row.prompt_id}`,
      promptTokens: row.prompt_tokens_approx,
      task: row.category,
      responses: responses(row.response_tokens, row.max_tokens ?? undefined),
    }),
  ),
  jsonReader(
    {
      id: 'skyt1',
      description: 'Sky-T1: one greedy answer from each of several checkpoints',
      keys: ['source', 'correct'],
    },
    z.object({
      prompt_id: z.string(),
      prompt_tokens_approx: z.int(),
      response_tokens: lengths,
      correct: z.array(z.boolean()),
    }),
    (row) => ({
      prompt: row.prompt_id,
      promptTokens: row.prompt_tokens_approx,
      task: 'math',
      responses: row.response_tokens.map((tokens, index) => ({ tokens, correct: row.correct[index] ?? false })),
    }),
  ),
  jsonReader(
    {
      id: 'tau-airline',
      description: 'tau-bench airline: multi-turn agent; a response is the sum of its turns',
      keys: ['task_id', 'turns'],
    },
    z.object({
      task_id: z.string(),
      trial: z.int(),
      system_tokens: z.int(),
      turns: z.array(z.object({ in: z.int(), gen: z.int() })),
    }),
    (row) => ({
      prompt: `${row.task_id}/${row.trial}`,
      promptTokens: row.system_tokens + row.turns.reduce((sum, turn) => sum + turn.in, 0),
      task: 'agent',
      responses: [
        {
          tokens: Math.max(
            1,
            row.turns.reduce((sum, turn) => sum + turn.gen, 0),
          ),
        },
      ],
    }),
  ),
  jsonReader(
    {
      id: 'misguided-attention',
      description: 'Misguided Attention: 3 samples a prompt',
      keys: ['model', 'response_tokens'],
    },
    z.object({ model: z.string(), prompt_id: z.string(), prompt_tokens_approx: z.int(), response_tokens: lengths }),
    (row) => ({
      prompt: `${row.model}/${row.prompt_id}`,
      promptTokens: row.prompt_tokens_approx,
      responses: responses(row.response_tokens),
    }),
  ),
  Object.freeze({
    id: 'requests-csv',
    description: 'Azure 2023 and Mooncake: id, t_ms, input_tokens, output_tokens; one response a request',
    detect: (line: string) => line.trim() === 'id,t_ms,input_tokens,output_tokens',
    read: (line: string, where: string) => {
      if (line.startsWith('id,')) return undefined;
      const [id, , input, output] = line.split(',');
      const row = { prompt: id, promptTokens: Number(input), responses: [{ tokens: Math.max(1, Number(output)) }] };
      return readTraceLine(JSON.stringify(row), where);
    },
  }),
  Object.freeze({
    id: 'rollflex',
    description: 'The format of rollflex: {"prompt", "promptTokens", "responses": [{"tokens"}]}',
    detect: (line: string) => line.startsWith('{') && line.includes('"responses"'),
    read: readTraceLine,
  }),
]);
