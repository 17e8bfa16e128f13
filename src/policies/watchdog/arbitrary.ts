/** Likely next events, for property tests: commands, most of their answers, checks, and now and then what ends many waits at once. */
import { type Choices, pick } from '../../core/generators/choices.ts';
import { eventWith } from '../../core/generators/sample-value.ts';
import type { OpenCommand } from '../../core/why/command-table.ts';
import { obligations } from '../../core/why/obligations.ts';
import type { WatchdogEvent } from '../../generated/settings/watchdog.ts';
import { timerSet } from '../../schemas/decisions/session.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';
import { decided, reported, timerFired } from './messages.ts';
import type { WatchdogState } from './state.ts';

const isAsking = ({ type }: EventMessage): boolean => obligations.has(type);
const isLoss = ({ type }: EventMessage): boolean => type.endsWith('.lost') && !type.startsWith('update');
const commands: readonly EventMessage[] = [...decided.filter(isAsking), timerSet];
const answers: readonly EventMessage[] = [...reported.filter((one) => !isLoss(one)), timerFired];
const others: readonly EventMessage[] = [
  ...decided.filter((one) => !isAsking(one)),
  ...reported.filter(isLoss),
  hostRestarted,
];
/** The most frequent commands, so that the policy learns their times. */
const usual = commands.filter(({ type }) => ['request.launch', 'reward.dispatch', 'response.accepted'].includes(type));

/** Draws a likely next event. */
export function arbitrary(state: WatchdogState, choices: Choices): WatchdogEvent {
  const { owed, armedAt } = state;
  const now = Math.max(owed.heardAt, ...[...owed.commands.open].slice(-4).map(({ since }) => since));
  const at = choices.below(6) === 0 ? choices.below(5000) : now + choices.below(4) / 4;
  const roll = choices.below(40);
  if (roll < 6 && armedAt !== null) {
    // Sometimes the event comes so late that everything owed is overdue.
    const late = choices.below(3) === 0 ? choices.below(4000) : 0;
    return { type: 'timer.fired', at: armedAt + late, timerId: 'watchdog/check' };
  }
  if (roll < 22) return made(pick(choices.below(3) > 0 ? usual : commands, choices)!, at, choices);
  if (roll < 37) {
    const open = pick([...owed.commands.open], choices);
    if (open !== undefined) return answerTo(open, at, choices);
    return made(pick(answers, choices)!, at, choices);
  }
  return made(pick(others, choices)!, at, choices);
}

function answerTo({ answer, ids }: OpenCommand, at: number, choices: Choices): WatchdogEvent {
  const message = answers.find(({ type }) => type === answer)!;
  return eventWith(message.schema, { type: answer, at, ...ids }, choices.below(2)) as unknown as WatchdogEvent;
}

/** An event with ids that occur again. */
function made({ type, schema }: EventMessage, at: number, choices: Choices): WatchdogEvent {
  const promptId = `p${choices.below(4)}`;
  const requestId = `${promptId}/${choices.below(8)}#0`;
  const ids: Readonly<Record<string, unknown>> = {
    promptId,
    requestId,
    roundId: `r${choices.below(4)}`,
    engineId: choices.below(4) === 0 ? undefined : `e${choices.below(3)}`,
    workerId: `w${choices.below(3)}`,
    slotId: `slot/${choices.below(4)}`,
    timerId: choices.below(8) === 0 ? 'watchdog/check' : `t${choices.below(3)}`,
    fireAtSeconds: at + choices.below(100),
    dropped: [{ requestId, tokens: 1, cause: 'filtered' }],
  };
  const { shape } = schema as unknown as { readonly shape: object };
  const given = Object.entries(ids).filter(([name, value]) => Object.hasOwn(shape, name) && value !== undefined);
  const event = { type, at, ...Object.fromEntries(given) };
  return eventWith(schema, event, choices.below(2)) as unknown as WatchdogEvent;
}
