/** Messages after which an answer is not owed any more, although it has not come. */
import type { Message } from '../../schemas/messages.ts';
import { senderOf } from '../../schemas/senders.ts';
import type { OpenCommand } from './command-table.ts';

/** An event, with the fields that identify it. */
type Identified = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Ends waits. */
export interface Releasing {
  /** The commands without an answer, oldest first. */
  readonly open: readonly OpenCommand[];
  /** Ends each wait that the event would end. */
  forget(event: Identified): void;
  /** Ends all waits for a usual answer. */
  forgetAll(answer: string): void;
  /** Ends the waits of a request for these usual answers. */
  forgetAwaited(requestId: string, ...answers: readonly string[]): void;
  /** A request runs on an engine, which owes the end of its response from now on. */
  placed(request: { readonly requestId: string; readonly engineId: string }): void;
}

type Rules = { readonly [T in Message['type']]?: (message: Message<T>, waits: Releasing) => void };

const turns = ['tool.finished', 'turn.finished', 'turn.requested'] as const;

/** Nothing is owed to a program that is over, except the end of one that is being aborted. */
const programOver = ({ requestId }: { readonly requestId?: string }, waits: Releasing): void => {
  if (requestId !== undefined) waits.forgetAwaited(requestId, 'response.completed', ...turns);
};

const unrewarded = ({ requestId }: { readonly requestId: string }, waits: Releasing): void =>
  waits.forget({ type: 'reward.ready', requestId });

interface PromptGone {
  readonly roundId?: string;
  readonly promptId?: string;
  readonly prompt?: { readonly promptId: string };
  readonly dropped?: readonly { readonly requestId: string }[];
}

/** Neither its judgement is owed, nor rewards of its dropped responses. */
function promptGone(
  { roundId, prompt, promptId = prompt?.promptId, dropped = [] }: PromptGone,
  waits: Releasing,
): void {
  waits.forget({ type: 'prompt.judged', promptId, roundId });
  for (const one of dropped) unrewarded(one, waits);
}

const roundOver = ({ roundId }: { readonly roundId: string }, waits: Releasing): void =>
  waits.forget({ type: 'prompts.supplied', roundId });

/** Others are asked for what an engine, a worker, a node or a replica has not done. */
const lost = (sender: string, id: string, waits: Releasing): void => {
  for (const { answer, ids, by } of waits.open)
    if (by === id && senderOf(answer) === sender) waits.forget({ type: answer, ...ids });
};

const rules: Rules = {
  'engine.lost': ({ engineId }, waits) => lost('engine', engineId, waits),
  'group.drop': ({ roundId, groupId, launchId }, waits) =>
    waits.forget({ type: 'group.completed', roundId, groupId, launchId }),
  // All is asked for anew. What has no id, such as the next round, is still owed.
  'host.restarted': (_, waits) => {
    for (const { answer, ids } of waits.open) if (Object.keys(ids).length > 0) waits.forget({ type: answer, ...ids });
  },
  'migration.cancel': ({ releaseId, requestId }, waits) =>
    waits.forget({ type: 'request.migrated', releaseId, requestId }),
  // Ranks answer for their slices all the same.
  'node.lost': ({ nodeId }, waits) => lost('loader', nodeId, waits),
  'program.ended': programOver,
  'program.late': (message, waits) =>
    message.reason.code === 'already_ended'
      ? programOver(message, waits)
      : waits.forgetAwaited(message.requestId, 'turn.requested'),
  'program.pause': ({ requestId }, waits) => waits.forgetAwaited(requestId, 'turn.requested'),
  'prompt.counted': promptGone,
  'prompt.deferred': promptGone,
  'prompt.failed': promptGone,
  'prompt.filtered': promptGone,
  // The prompt of the two that stays is still judged.
  'prompt.merged': ({ dropped }, waits) => {
    for (const one of dropped) unrewarded(one, waits);
  },
  'prompt.returned': promptGone,
  'request.expired': ({ requestId }, waits) => waits.forget({ type: 'request.aborted', requestId }),
  'replica.lost': ({ replica }, waits) => lost('trainer', replica, waits),
  'request.started': (message, waits) => waits.placed(message),
  'response.dropped': unrewarded,
  'reward-worker.lost': ({ workerId }, waits) => lost('reward worker', workerId, waits),
  'reward.failed': unrewarded,
  'round.completed': roundOver,
  'round.failed': roundOver,
  'slot.denied': programOver,
  'slot.expired': ({ slotId }, waits) => waits.forget({ type: 'slot.released', slotId }),
  // A program is over when its environment ends.
  'slot.reclaim': programOver,
  // It says of no round that it has nothing for it: it has nothing for any.
  'source.exhausted': (_, waits) => waits.forgetAll('prompts.supplied'),
  // The policy holds the turn back until it routes the turn.
  'turn.requested': ({ requestId }, waits) => waits.forgetAwaited(requestId, 'response.completed'),
};

/** What a message releases, by its type. */
export const releases: ReadonlyMap<string, (message: never, waits: Releasing) => void> = new Map(Object.entries(rules));
