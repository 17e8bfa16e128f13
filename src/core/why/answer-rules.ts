/** Which events answer which decisions of a policy, and which ids link them. */
import { answers, isUnasked, sequels, unaskedAnswers } from '../../schemas/answers.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';

/** The messages that a policy, or a part of a recipe, takes and makes. */
export interface Messages {
  readonly events: readonly EventMessage[];
  readonly decisions: readonly EventMessage[];
}

export type Json = Readonly<Record<string, unknown>>;

/** Rule for the answer to a decision, or to an event that begins a wait. */
export interface AnswerRule {
  /** Type of the decision or event. */
  readonly type: string;
  /** Type of the usual answer. */
  readonly answer: string;
  /** Types of other possible answers. */
  readonly others: readonly string[];
  /** Other answers that are the usual answer of another command. */
  readonly replaces: readonly string[];
  /** Fields whose ids the answer shares with the decision. */
  readonly fields: readonly string[];
  /** Whether some hosts send the answer without being asked. */
  readonly isUnasked: boolean;
}

const fieldsOf = (messages: readonly EventMessage[], type: string): readonly string[] =>
  Object.keys((messages.find((one) => one.type === type)?.schema as { shape?: object } | undefined)?.shape ?? {});

function made({ events, decisions }: Messages): AnswerRule[] {
  const all: Readonly<Record<string, readonly string[]>> = { ...answers, ...unaskedAnswers, ...sequels };
  const rules = [...decisions, ...events].flatMap(({ type }) => {
    const heard = (all[type] ?? []).filter((answer) => events.some((one) => one.type === answer));
    const [answer, ...others] = heard;
    // A policy that does not route turns hears of turns, but not which turn is asked for next.
    if (answer === undefined || (isUnasked(type) && answer !== all[type]![0])) return [];
    // A new round has a new id.
    const shared = answer === 'round.requested' ? [] : fieldsOf(events, answer);
    const fields = fieldsOf([...decisions, ...events], type).filter(
      (name) => name.endsWith('Id') && shared.includes(name),
    );
    return [{ type, answer, others, fields, isUnasked: isUnasked(type) }];
  });
  const usual = new Set(rules.map(({ answer }) => answer));
  return rules.map((rule) => ({ ...rule, replaces: rule.others.filter((one) => usual.has(one)) }));
}

const known = new WeakMap<Messages, readonly AnswerRule[]>();

/** Returns the rules of the messages. */
export function rulesOf(messages: Messages): readonly AnswerRule[] {
  let rules = known.get(messages);
  if (rules === undefined) known.set(messages, (rules = made(messages)));
  return rules;
}

/**
 * Returns the key that tells a command from others with the same answer. The key is nearly always a single id, unchanged, because
 * joining texts would cost more than everything else here.
 */
export function keyOf(fields: readonly string[], message: Json): string {
  if (fields.length === 1) return String(message[fields[0]!]);
  let key = '';
  for (const name of fields) key += `\n${String(message[name])}`;
  return key;
}
