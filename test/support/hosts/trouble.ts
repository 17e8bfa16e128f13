/**
 * Trouble for the host of law 12: requests fail or miss their abort, prompts come in parts, the source ends by domains,
 * groups are refused, prompts that were handed back come again, and rounds begin before the
 * last has drained.
 */
import type { Prompt, VocabularyDecision } from '../../../src/schemas/index.ts';
import type { Desk, HostHints, Plan, Report } from '../../../src/testing/index.ts';

type Told<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;
type Rules = { [T in VocabularyDecision['type']]?: (decision: Told<T>, desk: Desk) => readonly Report[] };

/** Prompts that a policy without a queue has handed back, by the host that heard it. */
const back = new WeakMap<Desk, Prompt[]>();

function handBack({ prompt }: { prompt: Prompt }, desk: Desk): Report[] {
  if (!desk.takes.has('round.requested')) back.set(desk, [...(back.get(desk) ?? []), prompt]);
  return [];
}

function generate({ requestId }: { requestId: string }, { takes, choices }: Desk): Report[] {
  const turn = choices.below(20);
  if (turn === 0) return [{ type: 'response.failed', requestId, kind: 'infrastructure' }];
  if (turn === 1 && takes.has('tool.started')) return [{ type: 'response.failed', requestId, kind: 'environment' }];
  return [{ type: 'response.completed', requestId, tokens: 1 + choices.below(9) }];
}

function abort({ requestId }: { requestId: string }, { choices }: Desk): Report[] {
  if (choices.below(8) === 0) return [{ type: 'response.completed', requestId, tokens: 7 }];
  return [{ type: 'request.aborted', requestId, tokens: 6 }];
}

const reward = ({ requestId }: { requestId: string }, { choices }: Desk): Report[] => [
  { type: 'reward.ready', requestId, reward: choices.below(2) },
];

const judge = ({ promptId, roundId }: { promptId: string; roundId: string }, { config, choices }: Desk): Report[] =>
  config.filter === 'host' ? [{ type: 'prompt.judged', promptId, roundId, keep: choices.below(4) > 0 }] : [];

/** Prompts in one part or two, or the end of the source: of the domains that were asked for, or of all. */
function supply({ roundId, count, domains }: Told<'prompts.request'>, desk: Desk): Report[] {
  const { choices } = desk;
  const names = Object.keys(desk.config.quotas ?? {});
  const asked = Object.entries(domains ?? {}).flatMap(([domain, number]) => Array<string>(number).fill(domain));
  desk.supplies -= 1;
  if (desk.supplies < 0) {
    if (asked.length === 0 || choices.below(3) === 0) return [{ type: 'source.exhausted' }];
    return [...new Set(asked)].map((domain) => ({ type: 'source.exhausted', domain }));
  }
  const prompts = Array.from({ length: count }, (_, index): Prompt => {
    const domain = asked[index] ?? names[choices.below(names.length + 1)] ?? names[0];
    return domain === undefined ? { promptId: desk.mint('p') } : { promptId: desk.mint('p'), domain };
  });
  const first = 1 + choices.below(count);
  return [prompts.slice(0, first), prompts.slice(first)]
    .filter((part) => part.length > 0)
    .map((part) => ({ type: 'prompts.supplied', roundId, prompts: part }));
}

/** A round with all prompts that were handed back. */
function round(desk: Desk): Report {
  desk.weightVersion += desk.choices.below(2);
  const begun = { roundId: desk.mint('r'), weightVersion: desk.weightVersion };
  if (desk.takes.has('round.requested')) return { type: 'round.requested', ...begun };
  const prompts = back.get(desk) ?? [];
  back.delete(desk);
  return { type: 'round.opened', ...begun, kind: desk.choices.below(2) === 0 ? 'short' : 'long', prompts };
}

/** The next round at times begins before the aborts of the last one are answered. */
const overlap = (_: unknown, desk: Desk): Report[] =>
  desk.supplies > 0 && desk.choices.below(2) === 0 ? [round(desk)] : [];

const work = (desk: Desk): Plan => [[...(desk.supplies > 0 ? [{ type: 'source.reopened' }] : []), round(desk)]];

const rules: Rules = {
  // Where there is a frontier, it says when a request may begin.
  'request.launch': (one, desk) => (desk.config.frontier === true ? [] : generate(one, desk)),
  'request.admit': generate,
  'request.resume': generate,
  'request.abort': abort,
  'prompts.request': supply,
  'response.accepted': reward,
  'reward.request': reward,
  'prompt.collected': judge,
  'judgement.request': judge,
  'prompt.deferred': handBack,
  'prompt.returned': handBack,
  'round.completed': overlap,
};

/** Hints for policies and recipes that admit prompts. */
export const trouble: HostHints = { answers: rules as NonNullable<HostHints['answers']>, work };
