/**
 * Trajectories of agents as lists of messages, one per line: SWE-bench/SWE-smith-trajectories and mini-SWE-agent (`messages`),
 * nebius/SWE-agent-trajectories and nebius/SWE-rebench-openhands-trajectories (`trajectory`). Every message of the model is a
 * turn; messages before the first turn are the prompt.
 */
import { z } from 'zod';
import { didYouMean } from '../../../core/ids/nearest.ts';
import { parse } from '../../../core/machine/validate.ts';
import { refuse } from '../../../errors.ts';
import { generatedIn, type TraceTurn } from '../format.ts';
import { type DumpContext, type DumpReader, tokensOfText } from './dump.ts';
import { fieldsOf } from './rows/fields.ts';
import { correctBy, isConversation, isEmpty } from './rows/value.ts';

const parts = z.array(z.union([z.string(), z.looseObject({ text: z.string().nullish() })]));
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), parts]).nullish(),
  text: z.string().nullish(),
  system_prompt: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  tool_calls: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }).optional() })).nullish(),
  name: z.string().nullish(),
});
const messages = z.array(message).min(1);
const lists = { messages: z.object({ messages }), trajectory: z.object({ trajectory: messages }) };
const row = z.looseObject({
  instance_id: z.string().min(1).nullish(),
  resolved: z.unknown().optional(),
  target: z.unknown().optional(),
  reward: z.unknown().optional(),
  exit_status: z.string().nullish(),
});

type Message = z.output<typeof message>;

const model = ['assistant', 'ai'];
const systems = ['system', 'developer'];
const others = [...systems, 'user', 'human', 'tool', 'function', 'environment', 'observation'];
const fields = ['messages', 'trajectory'] as const;

/** Returns the messages of a row, which may be JSON inside a text; `undefined` for a row without messages. */
function listIn(
  value: Readonly<Record<string, unknown>>,
): { readonly field: (typeof fields)[number]; readonly list: unknown } | undefined {
  for (const field of fields) {
    const given = value[field];
    if (Array.isArray(given)) return { field, list: given };
    if (typeof given !== 'string' || !given.trimStart().startsWith('[')) continue;
    try {
      return { field, list: JSON.parse(given) as unknown };
    } catch {
      return { field, list: given };
    }
  }
  return undefined;
}

/** Returns the messages in a value, which may be JSON inside a text; `undefined` for anything else. */
export function conversationIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return isConversation(value) ? value : undefined;
  if (typeof value !== 'string' || !/^\s*\[\s*\{/.test(value) || !value.includes('"role"')) return undefined;
  try {
    const list: unknown = JSON.parse(value);
    return isConversation(list) ? (list as unknown[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether anything beside its messages says how long a response is, or is the response. */
function hasLength(value: Readonly<Record<string, unknown>>): boolean {
  const fields = fieldsOf(value);
  return (['tokens', 'ids', 'mask', 'response'] as const).some((role) =>
    fields
      .get(role)
      ?.some((one) => !isEmpty(one.value) && !one.path.startsWith('messages') && !one.path.startsWith('trajectory')),
  );
}

/** Returns everything that a message adds to the context, with tool calls in JSON form. */
function textOf({ content, text, system_prompt, reasoning_content, tool_calls }: Message): string {
  const said =
    typeof content === 'string' ? [content] : (content ?? []).map((one) => (typeof one === 'string' ? one : one.text));
  const calls = (tool_calls ?? []).map((one) => JSON.stringify(one.function ?? one));
  return [system_prompt, reasoning_content, text, ...said, ...calls]
    .filter((one) => one != null && one !== '')
    .join('\n');
}

/** Reader of trajectories. */
export const trajectoryDump: DumpReader = Object.freeze({
  id: 'trajectory',
  description: 'trajectories of agents: messages with roles (SWE-smith, SWE-agent, OpenHands, mini-SWE-agent); text',
  needs: ['messages'],
  marks: ['traj_id', 'trajectory_id', 'trajectory', 'exit_status', 'model_patch', 'generated_patch'],
  detect: (first: Readonly<Record<string, unknown>>) => {
    const list = listIn(first)?.list;
    if (!Array.isArray(list) || list.length === 0) return false;
    const isOwn = list.every((one) => typeof one === 'object' && one !== null && 'role' in one);
    return isOwn && !hasLength(first);
  },
  read(value, context) {
    const found = listIn(value);
    const { where } = context;
    if (found === undefined) refuse('invalid_input', where, 'a list `messages` or `trajectory`', Object.keys(value));
    const { field } = found;
    const schema: z.ZodType<Readonly<Record<string, readonly Message[]>>> = lists[field];
    const list = parse(schema, { [field]: found.list }, 'invalid_input', where)[field]!;
    const { instance_id, resolved, target, reward, exit_status } = parse(row, value, 'invalid_input', where);
    const { prompt, system, turns } = turnsOf(list, field, context);
    if (turns.length === 0) return ['empty'];
    const correct = correctBy(resolved ?? target ?? reward, context.correctFrom);
    const isShared = system.text !== '';
    return [
      {
        group: instance_id ?? context.fingerprint(prompt.text),
        ...(context.step === undefined ? undefined : { step: context.step }),
        tokens: generatedIn(turns),
        turns,
        promptTokens: () => prompt.tokens,
        ...(isShared
          ? { shared: { environment: context.fingerprint(system.text), tokens: system.tokens } }
          : undefined),
        task: 'agent',
        ...(exit_status == null ? undefined : { truncated: /context|cost|limit|max/i.test(exit_status) }),
        ...(correct === undefined ? undefined : { correct }),
        fromText: true,
      },
    ];
  },
} satisfies DumpReader);

interface Read {
  text: string;
  tokens: number;
}

/**
 * Divides messages into the prompt, its system messages, and turns. Messages after the model's last one are left out, because the
 * model never read them.
 */
export function turnsOf(
  given: readonly unknown[],
  name: string,
  context: DumpContext,
): { readonly prompt: Read; readonly system: Read; readonly turns: TraceTurn[] } {
  const list = parse(messages, given, 'invalid_input', `${context.where}.${name}`);
  const [prompt, system]: [Read, Read] = [
    { text: '', tokens: 0 },
    { text: '', tokens: 0 },
  ];
  const turns: TraceTurn[] = [];
  let addedTokens = 0;
  for (const [index, one] of list.entries()) {
    const role = one.role.toLowerCase();
    const [text, field] = [textOf(one), `${name}[${index}]`];
    if (model.includes(role)) {
      turns.push({ addedTokens, tokens: tokensOfText(text, context, field) });
      addedTokens = 0;
      continue;
    }
    if (!others.includes(role)) {
      const known = [...model, ...others];
      const expected = `one of ${known.join(', ')}${didYouMean(one.role, known)}`;
      refuse('invalid_input', `${context.where}.${field}.role`, expected, one.role);
    }
    const tokens = text === '' ? 0 : tokensOfText(text, context, field);
    const last = turns.at(-1);
    if (last !== undefined) {
      addedTokens += tokens;
      // The tool that the model called; a trajectory whose tools answer as `user` does not name it.
      const called = list[index - 1]?.tool_calls?.at(0)?.function?.name;
      last.tool ??= one.name ?? called ?? (role === 'human' || role === 'user' ? 'user' : 'tool');
      continue;
    }
    // Only messages at the very beginning form a prefix that other trajectories may share.
    for (const prefix of systems.includes(role) && prompt.text === system.text ? [prompt, system] : [prompt]) {
      prefix.text += text;
      prefix.tokens += tokens;
    }
  }
  const end = turns.at(-1);
  if (end !== undefined) delete end.tool;
  return { prompt, system, turns };
}
