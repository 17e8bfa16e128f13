/** What trainers write: the few things in which their dumps differ from the table of names. */
import { refuse } from '../../../errors.ts';
import type { DumpContext, DumpedResponse, DumpReader, SkipReason } from './dump.ts';
import { type FieldChoices, fieldsOf } from './rows/fields.ts';
import { namesResponse, unitsOf } from './rows/layout.ts';
import { responseOf } from './rows/response.ts';
import { countIn, isEmpty, listOf, maskOf, type Row } from './rows/value.ts';

/** A dump of a trainer. */
interface Dialect extends Pick<DumpReader, 'id' | 'description' | 'needs' | 'marks' | 'detect'> {
  /** Fields whose meaning is known. */
  readonly fields: FieldChoices;
  /** Checks a record, and gives its fields the names of the table. */
  readonly prepare?: (record: Row, where: string) => Row;
  /** The prompt of a row, where it is not the value of a field. */
  readonly prompt?: (row: Row, index: number) => unknown;
  /** Adds what only this trainer writes. */
  readonly extra?: (response: DumpedResponse, record: Row, context: DumpContext) => DumpedResponse;
}

/** Returns the responses of a record. */
function read(record: Row, context: DumpContext, choices: FieldChoices = {}): (DumpedResponse | SkipReason)[] {
  const fields = { ...choices, ...context.fields };
  return unitsOf(record, fields, context.where).map((unit) => responseOf(unit, context));
}

function readerOf(dialect: Dialect): DumpReader {
  const { id, description, needs, marks, detect, fields, prepare, prompt, extra } = dialect;
  return Object.freeze({
    id,
    description,
    needs,
    marks,
    detect,
    read(given: Row, context: DumpContext) {
      const record = prepare === undefined ? given : prepare(given, context.where);
      return read(record, context, fields).map((one, index) => {
        if (typeof one === 'string') return one;
        const group = prompt === undefined ? one.group : context.fingerprint(textOf(prompt(record, index)));
        const response = context.fields?.group === undefined ? { ...one, group } : one;
        return extra === undefined ? response : extra(response, record, context);
      });
    },
  } satisfies DumpReader);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));

/** verl's v1 trainer: a row's prompt, session (one response), and number of the output in the session. */
const verlKey = /^(.+)_(\d+)_(\d+)$/;
/** More outputs than any session has. */
const mostOutputs = 2 ** 20;

/** `_write_generations` in `verl/trainer/ppo/ray_trainer.py` and `verl/trainer/ppo/v1/trainer_base.py`; a response a line. */
const verl: Dialect = {
  id: 'verl',
  description: 'verl: trainer.rollout_data_dir and trainer.validation_data_dir; text',
  needs: ['input', 'output'],
  marks: ['input', 'output', 'gts', 'score'],
  detect: (row) => typeof row.output === 'string' && 'input' in row,
  fields: { response: 'output', prompt: 'input', group: 'input', correct: 'acc', score: 'score', task: 'none' },
  prompt: ({ input }) => input,
  extra: (response, { uid }) => {
    if (typeof uid !== 'string' || uid === '') return response;
    const [, prompt = uid, session, output] = verlKey.exec(uid) ?? [];
    const part = session === undefined ? undefined : Number(session);
    return {
      ...response,
      // The trainer makes a new key each time a prompt comes.
      prompt: response.group,
      group: prompt,
      ...(part === undefined ? undefined : { part, row: part * mostOutputs + Number(output) }),
    };
  },
};

const slimeFields = ['group_index', 'rollout_id', 'index', 'tokens'];
/** Whether others than slime have written a row with a length and a status. */
const hasPrompt = (row: Row): boolean => {
  const fields = fieldsOf(row);
  return fields.has('prompt') || fields.has('group');
};
const slimeEnds = ['pending', 'completed', 'truncated', 'aborted', 'failed'];

/** `Sample.to_dict` in `slime/utils/types.py`. The `.pt` files are pickles, of which `python -m rollflex.importing` makes lines. */
const slime: Dialect = {
  id: 'slime',
  description:
    'slime: --save-debug-rollout-data, by python -m rollflex.importing; exact tokens, and what was truncated',
  needs: ['response_length', 'status'],
  marks: ['group_index', 'rollout_id', 'response_length', 'status', 'loss_mask', 'remove_sample', 'rollout_log_probs'],
  detect: (row) =>
    'response_length' in row &&
    typeof row.status === 'string' &&
    (slimeFields.some((name) => name in row) || !hasPrompt(row)),
  fields: {
    group: 'group_index',
    part: 'rollout_id',
    mark: 'finish_reason',
    score: 'reward',
    sample: 'none',
    task: 'none',
  },
  prepare(record, where) {
    const { status, response_length: length, tokens, prompt_tokens: prompt } = record;
    const end = String(status).replace(/^.*\./, '').toLowerCase();
    if (isEmpty(length)) refuse('invalid_input', `${where}.response_length`, 'a whole number >= 0', length);
    if (!slimeEnds.includes(end)) refuse('invalid_input', `${where}.status`, `one of ${slimeEnds.join(', ')}`, status);
    const all = listOf(tokens)?.length;
    const before = all === undefined ? undefined : all - (countIn(length) ?? 0);
    const { tokens: _, ...others } = record;
    return {
      ...others,
      finish_reason: end,
      prompt_tokens: prompt ?? (before !== undefined && before >= 0 ? before : undefined),
    };
  },
  extra: (response, { group_index: group, prompt, index }, { fingerprint }) => {
    const own = fingerprint(textOf(prompt));
    const row = countIn(index);
    return {
      ...response,
      group: isEmpty(group) ? own : response.group,
      // The data source counts on, also when a prompt comes again.
      ...(isEmpty(group) || prompt === undefined ? undefined : { prompt: own }),
      ...(row === undefined ? undefined : { row }),
    };
  },
};

/** `roll/pipeline/rlvr/utils.py`: a line a step, with a list for each column. */
const roll: Dialect = {
  id: 'roll',
  description: 'ROLL: rollout_dump_dir of RLVR pipelines; text',
  needs: ['responses', 'global_step'],
  marks: ['responses', 'scores', 'messages'],
  detect: (row) => Array.isArray(row.responses) && 'global_step' in row,
  fields: {
    response: 'responses',
    prompt: 'prompt',
    group: 'none',
    score: 'scores',
    step: 'global_step',
    task: 'domain',
  },
  prepare(record, where) {
    const { responses, scores, global_step, id, prompt, messages, domain } = record;
    const columns = { responses, scores, global_step, id, prompt, messages, domain };
    const count = (responses as unknown[]).length;
    for (const [name, list] of Object.entries(columns)) {
      if (list === undefined || (Array.isArray(list) && list.length === count)) continue;
      refuse(
        'invalid_input',
        `${where}.${name}`,
        `${count} values, as of responses`,
        Array.isArray(list) ? list.length : list,
      );
    }
    if (id === undefined && prompt === undefined && messages === undefined) {
      const expected = 'a column id, prompt or messages: without one, nobody knows which responses are of one prompt';
      refuse('invalid_input', where, expected, Object.keys(record));
    }
    return Object.fromEntries(Object.entries(columns).filter(([, list]) => list !== undefined));
  },
  // Ids of data sets may be missing, and two data sets may use the same.
  prompt: (record, index) =>
    JSON.stringify(['domain', 'id', 'prompt', 'messages'].map((name) => listOf(record[name])?.[index] ?? null)),
};

/** `save_metrics` in `roll/pipeline/rlvr/rlvr_pipeline.py`: a response a line. The prompt is padded on its left. */
const rollBoard: Dialect = {
  id: 'roll-board',
  description: 'ROLL: save_logging_board_dir; exact tokens',
  needs: ['new_response_mask', 'prompt'],
  marks: ['new_response_mask', 'log_probs2', 'response_tokens'],
  detect: (row) => 'new_response_mask' in row,
  fields: { mask: 'new_response_mask', response: 'none', promptTokens: 'none', task: 'none', score: 'reward' },
  prepare(record, where) {
    const { prompt, new_response_mask: mask } = record;
    if (maskOf(mask) === undefined) refuse('invalid_input', `${where}.new_response_mask`, 'a list of 0 and 1', mask);
    if (typeof prompt !== 'string') refuse('invalid_input', `${where}.prompt`, 'a string', prompt);
    return record;
  },
  prompt: ({ prompt }) => prompt,
  extra: (response) => ({ ...response, promptTokens: () => undefined }),
};

/** `log_batched_dict_as_jsonl` in `nemo_rl/utils/logger.py`: a response a line, each value in a list with one item. */
const nemoRl: Dialect = {
  id: 'nemo-rl',
  description: 'NeMo-RL: train_data_step{step}.jsonl; exact tokens',
  needs: ['token_ids', 'token_loss_mask', 'idx'],
  marks: [
    'token_ids',
    'token_loss_mask',
    'sample_loss_mask',
    'generation_logprobs',
    'prev_logprobs',
    'input_lengths',
    'idx',
  ],
  detect: (row) => 'token_loss_mask' in row && 'idx' in row,
  fields: { mask: 'token_loss_mask', response: 'none', promptTokens: 'none', score: 'rewards', task: 'none' },
  prepare(record, where) {
    const one = (name: string): readonly unknown[] => {
      const list = listOf(record[name]);
      return list?.length === 1 && listOf(list[0]) !== undefined
        ? listOf(list[0])!
        : refuse('invalid_input', `${where}.${name}`, 'a list with one list', record[name]);
    };
    const { rewards } = record;
    return { token_ids: one('token_ids'), token_loss_mask: one('token_loss_mask'), rewards: listOf(rewards)?.[0] };
  },
  // Prompts have no id: the tokens before the first generated one are the prompt.
  prompt: ({ token_ids: ids, token_loss_mask: mask }) =>
    (ids as unknown[]).slice(0, maskOf(mask)?.indexOf(true)).join(','),
};

/** Readers of the dumps of trainers. */
export const trainerDumps: readonly DumpReader[] = [nemoRl, rollBoard, slime, roll, verl].map(readerOf);

/** Whether the fields of a record tell the lengths of responses. */
const tells = (record: Row): boolean => {
  if (namesResponse(Object.keys(record))) return true;
  try {
    return unitsOf(record, {}, '').some(({ fields }) =>
      (['tokens', 'ids', 'response', 'mask', 'calls', 'length', 'total'] as const).some((role) => fields.has(role)),
    );
  } catch {
    return true;
  }
};

/** The reader of everything that the table of names tells. */
export const tableDump: DumpReader = Object.freeze({
  id: 'table',
  description: 'CSV with a header, JSON in any layout, or a column of numbers: fields are known by their names',
  needs: [],
  marks: [],
  detect: tells,
  read: (record: Row, context: DumpContext) => read(record, context),
} satisfies DumpReader);
