/**
 * The names of fields, by what they mean, and who writes them. Case and separators do not matter; earlier names win. Everything
 * that reads a dump takes names from here.
 */

import { didYouMean, oneOf } from '../../../../core/ids/nearest.ts';
import { refuse } from '../../../../errors.ts';
import type { MarkKind } from './marks.ts';
import { isEmpty, isRow, type Row } from './value.ts';

/** What a field means. */
export type Role =
  | 'tokens'
  | 'length'
  | 'ids'
  | 'mask'
  | 'total'
  | 'each'
  | 'response'
  | 'calls'
  | 'prompt'
  | 'promptTokens'
  | 'promptIds'
  | 'group'
  | 'step'
  | 'correct'
  | 'score'
  | 'mark'
  | 'task'
  | 'part'
  | 'turn'
  | 'sample'
  | 'error';

/** Names of each role, with who writes them; a name without a writer is usual in tables. */
const written: Readonly<Record<Role, string>> = {
  // Tokens of a response, and of nothing else.
  tokens:
    'response_tokens (CASTILLO, BurstGPT); output_tokens (Anthropic, OpenAI responses, NeMo-Gym, verifiers); ' +
    'completion_tokens (OpenAI, vLLM, SGLang); generated_tokens (Azure, TGI); response_length (verl, slime); ' +
    'completion_length; output_length (Mooncake); response_len; completion_len; ' +
    'output_len (SGLang bench_serving, vLLM bench serve); generation_length; generation_tokens; ' +
    'generated_token_count; candidates_token_count (Gemini); num_response_tokens; ' +
    'num_output_tokens; num_completion_tokens; num_generated_tokens; ' +
    'num_generation_tokens; output_token_count; response_token_count; completion_token_count; ' +
    'n_response_tokens; n_output_tokens; n_completion_tokens; gen_tokens; gen_len; ' +
    'action_tokens; eval_count (Ollama)',
  // The same in words that may mean something else: others come first.
  length: 'tokens; num_tokens; n_tokens; token_count; length; len',
  ids:
    'response_ids (SkyRL); response_token_ids; output_ids (SGLang); output_token_ids (vLLM); ' +
    'completion_ids (TRL, verifiers, prime-rl); completion_token_ids; generation_ids; ' +
    'generated_ids; generation_token_ids (NeMo-Gym); generated_token_ids (Transformers); ' +
    'token_ids (vLLM); responses_ids; action_ids',
  mask:
    'response_mask (verl); new_response_mask (ROLL); completion_mask (TRL, verifiers); action_mask (OpenRLHF); ' +
    'loss_mask (slime, AReaL); assistant_mask (Transformers); assistant_masks (Transformers); ' +
    'token_loss_mask (NeMo-RL); generation_mask',
  // Tokens of prompt and response.
  total:
    'seqlen (AReaL); seq_len (AReaL); seq_length; sequence_length; total_tokens (OpenAI, vLLM, SGLang); ' +
    'total_token_count (Gemini); total_length; total_len; num_total_tokens',
  // Lists with one item for each token of the response.
  each:
    'output_token_logprobs (SGLang); completion_logprobs (verifiers); rollout_log_probs (slime); ' +
    "response_logprobs; token_logprobs (OpenAI's completions)",
  response:
    'response; completion (TRL, verifiers, ms-swift); output (verl, NeMo-Gym); generated_text (vLLM, TGI); ' +
    'text (SGLang); output_response (SkyRL); output_text (OpenAI responses); response_text; completion_text; ' +
    'generation (OpenR1); generations (OpenR1); response_str; model_output; model_response; sample; samples; ' +
    'candidates (Gemini); choices (OpenAI, vLLM, SGLang); resps (lm-evaluation-harness); rollouts; ' +
    'message (OpenAI); content (OpenAI)',
  // Calls of a trajectory.
  calls: 'trajectory (verifiers, prime-rl); turns; steps; calls; llm_calls; interactions',
  prompt:
    'prompt (TRL, verifiers, ms-swift); problem (OpenR1); question; input (verl); input_prompt (SkyRL); prompt_text; ' +
    'input_text; instruction; query; prompt_str; responses_create_params.input (NeMo-Gym); ' +
    'body.messages (OpenAI batch); messages (chats)',
  promptTokens:
    'prompt_tokens (OpenAI, vLLM, SGLang); input_tokens (Anthropic, OpenAI responses, NeMo-Gym, verifiers); ' +
    'context_tokens (Azure); request_tokens (BurstGPT); prompt_length (verl); input_length (Mooncake); ' +
    'prompt_len (AReaL); input_len (SGLang bench_serving, vLLM bench serve); num_prompt_tokens (vLLM); ' +
    'num_input_tokens (vLLM); n_prompt_tokens; n_input_tokens; prompt_token_count (Gemini); ' +
    'input_token_count; context_length',
  promptIds: 'prompt_ids (TRL, verifiers); prompt_token_ids (vLLM, SkyRL); input_ids (SGLang); input_token_ids',
  group:
    'prompt_id (CASTILLO); group_id; group_index (slime); group_idx; prompt_index; prompt_idx; problem_id; ' +
    'question_id; ng_task_index (NeMo-Gym); example_id (verifiers, prime-rl); task_id (AReaL); ' +
    'instance_id (SWE-bench); doc_id (lm-evaluation-harness); qid; group; uid (verl); uuid (OpenR1); ' +
    'custom_id (OpenAI batch)',
  step:
    'step (verl, TRL, ms-swift); global_step (ROLL); training_step; iteration; train_step; trainer_step; ' +
    'global_steps',
  correct: 'correct; is_correct; acc (verl); accuracy; correctness; correctness_math_verify (OpenR1)',
  score:
    'score (verl, SkyRL); reward (slime, AReaL, verifiers); total_reward; outcome_reward; math_accuracy (ms-swift); ' +
    'accuracy_reward (TRL)',
  mark:
    'finish_reason (OpenAI, vLLM, SGLang); stop_reason (Anthropic, SkyRL); termination_reason; ' +
    'is_truncated (verifiers, prime-rl); truncated; capped; clipped; is_clipped; is_capped; length_truncated; ' +
    'response_clipped; overlong; max_tokens_reached; hit_max_tokens; aborted; is_aborted; abort; interrupted; ' +
    'is_reasoning_complete (OpenR1); has_eos; ended_with_eos; incomplete_details (OpenAI responses); ' +
    'exit_status (SWE-agent); status (slime, OpenAI responses); state',
  task: 'task (verifiers); domain (ROLL); data_source (verl); env_class (SkyRL)',
  // Rows with the same part are of one response.
  part: 'trajectory_id; traj_id (SWE-smith); rollout_id (slime); episode_id; response_id',
  turn: 'turn; turn_index; turn_idx; turn_id; call_index',
  sample:
    'sample_idx (AReaL); sample_index; response_idx; response_index; completion_idx; completion_index; ' +
    'ng_rollout_index (NeMo-Gym)',
  error: 'error (OpenAI batch); exception',
};

const roles = Object.keys(written) as Role[];

/** The names of the fields of each role, the best first, and who writes them: empty for what is usual in tables. */
export const fieldNames: ReadonlyMap<Role, ReadonlyMap<string, string>> = new Map(
  roles.map((role) => {
    const names = written[role].split('; ').map((one) => /^(\S+)(?: \((.*)\))?$/.exec(one)!);
    return [role, new Map(names.map(([, name, writer = '']) => [name!, writer]))];
  }),
);

/** Ids that a response may have of its own, or a kind of prompts: the text of the prompt comes before them. */
const weakIds = new Set(['group', 'uid', 'uuid', 'customid']);

/** Whether an id of a prompt comes before its text. */
export const isStrongId = (path: string): boolean => !weakIds.has(plain(path));

const markKinds: Readonly<Record<string, MarkKind>> = {
  finishreason: 'words',
  stopreason: 'words',
  terminationreason: 'words',
  incompletedetails: 'words',
  aborted: 'aborted',
  isaborted: 'aborted',
  abort: 'aborted',
  interrupted: 'aborted',
  isreasoningcomplete: 'whole',
  haseos: 'whole',
  endedwitheos: 'whole',
  exitstatus: 'soft',
  status: 'soft',
  state: 'soft',
};

/** Roles that are also looked for inside of objects. */
const nested = new Set<Role>(['tokens', 'ids', 'mask', 'total', 'each', 'promptTokens', 'promptIds', 'mark']);
/** Names that are read inside of objects in spite of that, or of any other rule. */
const nestedNames = new Set(['choices', 'message', 'content', 'output', 'outputtext', 'trajectory']);
const soft = new Set(['status', 'state', 'error']);
const mostDepth = 6;
/** Objects that say what was asked for, or what failed, and not what came. */
const asked = /prompt|request$|params|config|settings|args|detail|error|exception/i;

const plainOf = new Map<string, string>();
/** Returns a name without case and separators. */
export function plain(name: string): string {
  const known = plainOf.get(name);
  if (known !== undefined) return known;
  const found = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (plainOf.size < 10_000) plainOf.set(name, found);
  return found;
}

interface Meaning {
  readonly role: Role;
  readonly rank: number;
}

const meanings = new Map<string, Meaning>();
for (const [role, names] of fieldNames) {
  for (const [rank, name] of [...names.keys()].entries()) {
    const key = name.split('.').map(plain).join('.');
    if (!meanings.has(key)) meanings.set(key, { role, rank });
  }
}

/** Returns the meaning of a name, or of its singular: `finish_reasons`, `output_lens`. */
function meaningOf(name: string): Meaning | undefined {
  const key = plain(name);
  return meanings.get(key) ?? (key.endsWith('s') ? meanings.get(key.slice(0, -1)) : undefined);
}

/** Whether a field with this name means anything. */
export const isKnownField = (name: string): boolean => meaningOf(name.split(/[./]/).at(-1)!) !== undefined;

/** Returns what a field means; undefined if nothing. */
export const roleOf = (name: string): Role | undefined => meaningOf(name)?.role;

/** A field that may have a role. */
export interface Found {
  /** Where it is: `response.body.usage.completion_tokens`. */
  readonly path: string;
  readonly value: unknown;
  readonly rank: number;
  readonly depth: number;
}

/** The fields of a row, by role, the best first; those without a value come last. */
export type Fields = ReadonlyMap<Role, readonly Found[]>;

/** Paths that the user gave, by role; `none` says that there is none. */
export type FieldChoices = Readonly<Partial<Record<Role, string>>>;

/** Returns the value at a path of a row: of a field with this name, or inside of objects. */
export function valueAt(row: Row, path: string): unknown {
  if (path in row) return row[path];
  const dot = path.indexOf('.');
  const inner = dot < 0 ? undefined : row[path.slice(0, dot)];
  return isRow(inner) ? valueAt(inner, path.slice(dot + 1)) : undefined;
}

/** Returns the fields of a row by what they mean. */
export function fieldsOf(row: Row, choices: FieldChoices = {}, prefix = ''): Fields {
  const fields = new Map<Role, Found[]>();
  const add = (role: Role, found: Found): void => {
    const list = fields.get(role);
    if (list === undefined) fields.set(role, [found]);
    else list.push(found);
  };
  const walk = (object: Row, path: string, parent: string, depth: number): void => {
    for (const key in object) {
      const value = object[key];
      const segments = /[./]/.test(key) ? key.split(/[./]/) : [key];
      const own = segments.at(-1)!;
      const above = segments.length > 1 ? segments.at(-2)! : parent;
      const at = path === '' ? key : `${path}.${key}`;
      const level = depth + segments.length - 1;
      const meaning = (above === '' ? undefined : meanings.get(`${plain(above)}.${plain(own)}`)) ?? meaningOf(own);
      const isNested = level > 0;
      const isKept =
        meaning !== undefined &&
        (!isNested ||
          (nested.has(meaning.role) && !soft.has(plain(own))) ||
          nestedNames.has(plain(own)) ||
          meanings.has(`${plain(above)}.${plain(own)}`));
      if (isKept) add(meaning.role, { path: at, value, rank: meaning.rank, depth: level });
      if (isRow(value) && depth < mostDepth && !asked.test(key)) walk(value, at, own, level + 1);
      else if (isRow(value) && meanings.has(`${plain(key)}.input`) && 'input' in value) {
        add('prompt', { path: `${at}.input`, value: value.input, rank: meanings.size, depth: level + 1 });
      }
    }
  };
  walk(row, prefix, '', 0);
  for (const [role, list] of fields) {
    list.sort((a, b) => Number(isEmpty(a.value)) - Number(isEmpty(b.value)) || a.rank - b.rank || a.depth - b.depth);
    fields.set(role, list);
  }
  for (const [role, path] of Object.entries(choices) as [Role, string][]) {
    if (path === 'none') fields.delete(role);
    else if (role !== 'group' || path !== 'line') {
      const value = valueAt(row, path);
      if (value === undefined && !(path in row)) fields.delete(role);
      else fields.set(role, [{ path, value, rank: -1, depth: 0 }]);
      // A chosen count beats whatever else says how long a response is.
      if (lengthRoles.includes(role))
        for (const other of lengthRoles) if (other !== role && value !== undefined) fields.delete(other);
    }
  }
  return fields;
}

const lengthRoles: readonly Role[] = ['tokens', 'length', 'ids', 'mask', 'total', 'each', 'calls'];

/** How a field that tells the end of a response does so. */
export const markKindOf = (path: string): MarkKind => {
  const name = plain(path.split(/[./]/).at(-1)!);
  return markKinds[name] ?? markKinds[name.replace(/s$/, '')] ?? 'cut';
};

/** Names of roles on the command line: `prompt-tokens`. */
const roleNames: readonly (readonly [name: string, role: Role])[] = roles
  .filter((role) => role !== 'error' && role !== 'length')
  .map((role) => [role === 'ids' ? 'token-ids' : role.replace('T', '-t').replace('I', '-i'), role]);

/** Returns the name of a role on the command line. */
export const roleName = (role: Role): string => roleNames.find(([, one]) => one === role)?.[0] ?? 'tokens';

/** Reads choices such as `tokens=usage.completion_tokens`. Throws `invalid_input` for another form, and `unknown_id` for no role. */
export function fieldChoices(given: readonly string[]): FieldChoices {
  const choices: Partial<Record<Role, string>> = {};
  for (const one of given) {
    const at = one.indexOf('=');
    if (at < 1 || at === one.length - 1)
      refuse('invalid_input', 'field', 'ROLE=PATH, such as tokens=usage.completion_tokens', one);
    const name = one.slice(0, at);
    const role = roleNames.find(([known]) => known === name)?.[1];
    if (role === undefined)
      refuse(
        'unknown_id',
        'field',
        oneOf(
          roleNames.map(([known]) => known),
          name,
        ),
        name,
      );
    choices[role] = one.slice(at + 1);
  }
  return choices;
}

/** Names that are offered where a row has none: those of counts and of texts. */
const offered = (['tokens', 'response', 'ids'] as const).flatMap((role) => [...fieldNames.get(role)!.keys()]);

/** Says what a row lacks, with the nearest known name. */
export function expectedField(names: readonly string[]): string {
  const near = names.map((name) => didYouMean(name, offered)).find((text) => text !== '') ?? '';
  return `a field with the tokens of a response (completion_tokens, …) or with its text (response, …)${near}: --field tokens=NAME or --field response=NAME names another`;
}
