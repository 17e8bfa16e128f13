/**
 * Who owes what: each message after which an answer is awaited, with the events that answer it. The hosts of tests keep a table of
 * their own (`src/testing/hosts/contract.ts`), and a test compares the two.
 */
import type { Messages as Words } from '../../generated/messages/index.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';

type EventType = VocabularyEvent['type'];
type Id = `${string}Id`;
/** Fields with ids, in all of these messages. */
type IdOf<T extends keyof Words> = Extract<keyof Words[T], Id>;

/** What is owed after a message. */
interface Owed<Answer extends EventType, Id extends string> {
  /** The events that answer, the usual one first; none if no answer is needed. */
  readonly answers: readonly Answer[];
  /** Fields of the message and of its answer that tell one answer from another. */
  readonly ids: readonly Id[];
  /** Whether the message is a report of the host: the wait goes on with another event, without a decision in between. */
  readonly isReport?: true;
  /** Whether some hosts never send the answer: it is owed once one of its kind has come. */
  readonly isUnasked?: true;
  /** Whether the answer is due at `fireAtSeconds`, and not at once. */
  readonly isTimer?: true;
  /**
   * Fields of an answer that may come in portions: the number or list of all in the message, and the list of those that an answer
   * brings. The rest is still owed.
   */
  readonly portions?: readonly [all: string, brought: string];
  /**
   * Path of a list in the message, `field` or `field.field`, if an answer is due for each item; ids are those of the item and of
   * what it is part of. A field such as `requestIds` is a list of ids.
   */
  readonly each?: string;
  /** The try that an answer without the number of one belongs to; absent: it belongs to any. */
  readonly unnumbered?: number;
}
/** What is owed after a message of the vocabulary. */
export interface Obligation extends Owed<EventType, string> {
  /** What is owed besides, with a list. */
  readonly also?: Owed<EventType, string>;
}
type Answered<A extends EventType, Ids extends string> = Owed<EventType, Ids & IdOf<A>> & {
  readonly answers: readonly [A, ...EventType[]];
};
/** A row of a message with a list, for each item of which an answer is due. */
type EachAnswered<T extends keyof Words, A extends EventType> = {
  readonly [Field in keyof Words[T]]: Words[T][Field] extends readonly (infer Item)[]
    ? Answered<A, Extract<keyof Item, Id>> & { readonly each: Field }
    : never;
}[keyof Words[T]];
/** What a row must be, so that its fields exist: of its message, and of its usual answer. */
type Checked<T, Row> = T extends keyof Words
  ? Row extends { readonly answers: readonly [infer A extends EventType, ...EventType[]] }
    ? Row extends { readonly each: string }
      ? EachAnswered<T, A>
      : Answered<A, IdOf<T>> & { readonly also?: Owed<EventType, Id> }
    : typeof nothing
  : never;

const nothing: { readonly answers: readonly []; readonly ids: readonly []; readonly also?: undefined } = {
  answers: [],
  ids: [],
};
const generated = { answers: ['response.completed', 'response.failed'], ids: ['requestId'] } as const;
const preprocessed = {
  answers: ['sample.preprocessed', 'preprocess.failed'],
  ids: ['preprocessId', 'nodeId'],
} as const;
const moved = {
  answers: ['request.migrated', 'migration.failed'],
  ids: ['releaseId', 'requestId'],
  unnumbered: 1,
} as const;
const published = { answers: ['weights.published'], ids: ['roundId', 'publicationId'] } as const;
const scored = { answers: ['reward.finished'], ids: ['dispatchId'] } as const;
const judged = { answers: ['prompt.judged'], ids: ['promptId', 'roundId'] } as const;
const rewarded = { answers: ['reward.ready'], ids: ['requestId'] } as const;
const programEnds = ['response.completed', 'response.failed', 'request.aborted', 'program.closed'] as const;
const ofProgram = <const A extends readonly [EventType, ...EventType[]]>(...answers: A) =>
  ({ answers: [...answers, ...programEnds] as const, ids: ['requestId'] }) as const;

const rows = {
  'batch.run': nothing,
  'chunk.continue': {
    answers: ['response.completed', 'chunk.finished', 'response.failed', 'request.aborted'],
    ids: ['requestId'],
  },
  'gpus.reclaim': { answers: ['gpus.returned'], ids: ['releaseId'] },
  'gpus.release': {
    answers: ['gpus.released', 'gpus.release.failed'],
    ids: ['releaseId', 'roundId'],
    also: { ...moved, each: 'migrations.requestIds' },
  },
  'gradient.scale': nothing,
  'gradients.discard': nothing,
  'gradients.offload': nothing,
  'gradients.reload': nothing,
  'group.drop': nothing,
  'group.launch': { answers: ['group.completed', 'group.rejected'], ids: ['roundId', 'groupId', 'launchId'] },
  'judge.place': nothing,
  'judgement.request': judged,
  'kind-tp.set': nothing,
  'kv.retain': nothing,
  'migration.cancel': nothing,
  'optimizer.step': { answers: ['optimizer.stepped'], ids: ['roundId', 'updateId'] },
  'profile.measure': { answers: ['profile.measured'], ids: [] },
  'program.pause': nothing,
  'program.resume': nothing,
  'progress.query': { answers: ['progress.reported'], ids: ['queryId'] },
  'prompts.request': {
    answers: ['prompts.supplied', 'source.exhausted'],
    ids: ['roundId'],
    portions: ['count', 'prompts'],
  },
  'reference.compute': nothing,
  'request.abort': { answers: ['request.aborted', 'response.completed', 'response.failed'], ids: ['requestId'] },
  'request.admit': generated,
  'request.launch': generated,
  'request.migrate': moved,
  'request.resume': generated,
  'reward.cancel': scored,
  'reward.dispatch': scored,
  'reward.request': rewarded,
  'round-tp.set': nothing,
  'sample.evict': nothing,
  'sample.materialize': { answers: ['slice.materialized', 'slice.failed'], ids: ['sliceId'] },
  'sample.placeholder': nothing,
  'sample.prefetch': preprocessed,
  'sample.preprocess': preprocessed,
  'sandbox.run': { answers: ['sandbox.finished'], ids: ['runId'] },
  'slot.assign': { answers: programEnds, ids: ['requestId'] },
  'slot.prewarm': { answers: ['slot.ready', 'slot.failed'], ids: ['slotId'] },
  'slot.reclaim': { answers: ['slot.released', 'slot.ready', 'slot.failed'], ids: ['slotId'] },
  'timer.set': { answers: ['timer.fired'], ids: ['timerId'], isTimer: true },
  'train.batch': published,
  'train.dispatch': {
    answers: ['update.consumed', 'update.lost'],
    ids: ['updateId'],
    portions: ['groups', 'groups'],
  },
  'train.fetch': { answers: ['train.consumed'], ids: ['fetchId'] },
  'train.finish': { answers: ['train.finished'], ids: ['fetchId'], each: 'shares' },
  'turn.route': ofProgram('turn.finished'),
  'update.cancel': nothing,
  'weights.publish': published,
  'weights.swap': nothing,

  // Notices, after which some hosts send an event.
  'prompt.collected': { ...judged, isUnasked: true },
  'response.accepted': { ...rewarded, isUnasked: true },
  // A new round has a new id.
  'round.drained': { answers: ['round.requested'], ids: [], isUnasked: true },

  // Reports of the host. Only hosts that ask for turns say which turn is next.
  'tool.finished': { ...ofProgram('turn.requested'), isReport: true, isUnasked: true },
  'tool.started': { ...ofProgram('tool.finished', 'turn.requested'), isReport: true },
  'turn.finished': { ...ofProgram('turn.requested', 'tool.started'), isReport: true, isUnasked: true },
} as const;
type Rows = typeof rows;

/** What is owed, by the type of the message after which it is. Every command of the vocabulary has a row. */
export const obligations: ReadonlyMap<string, Obligation> = new Map(
  Object.entries<Obligation>(rows satisfies { readonly [T in keyof Rows]: Checked<T, Rows[T]> }),
);

/** Whether hosts send the answer to a message of their own accord, if at all. */
export const isUnasked = (type: string): boolean => obligations.get(type)?.isUnasked === true;

/** The messages that a policy, or a part of a recipe, takes and makes. */
export interface Messages {
  readonly events: readonly EventMessage[];
  readonly decisions: readonly EventMessage[];
}

/** What is owed to a policy after a message, in the events that it takes. */
export interface AnswerRule extends Owed<EventType, string> {
  /** Type of the message. */
  readonly type: string;
  /** Type of the usual answer. */
  readonly answer: EventType;
  /** Answers that are the usual ones to another message, whose wait ends where this message comes. */
  readonly replaces: readonly EventType[];
}

function made({ events, decisions }: Messages, table: typeof obligations): AnswerRule[] {
  const heard: ReadonlySet<string> = new Set(events.map(({ type }) => type));
  const rules = [...decisions, ...events].flatMap(({ type }) => {
    const { also, ...row } = table.get(type) ?? nothing;
    return [row, ...(also === undefined ? [] : [also])].flatMap((one: Owed<EventType, string>) => {
      const answers = one.answers.filter((event) => heard.has(event));
      const [answer] = answers;
      // A policy that does not route turns hears of turns, but not which turn is asked for next. Nobody owes the end of a source.
      if (answer === undefined || answer === 'source.exhausted') return [];
      return one.isUnasked && answer !== one.answers[0] ? [] : [{ ...one, type, answer, answers }];
    });
  });
  const usual = new Set<EventType>(rules.map(({ answer }) => answer));
  return rules.map((rule) => ({ ...rule, replaces: rule.answers.slice(1).filter((one) => usual.has(one)) }));
}

const known = new WeakMap<Messages, readonly AnswerRule[]>();

/** Returns what is owed to a policy. Only tests give another table. */
export function rulesOf(messages: Messages, table = obligations): readonly AnswerRule[] {
  if (table !== obligations) return made(messages, table);
  let rules = known.get(messages);
  if (rules === undefined) known.set(messages, (rules = made(messages, table)));
  return rules;
}

/** Returns the items of a list in a message, each with the fields of what it is part of. */
export const itemsOf = (
  message: Readonly<Record<string, unknown>>,
  path: string,
): Readonly<Record<string, unknown>>[] =>
  path.split('.').reduce(
    (all, field) =>
      all.flatMap((one) =>
        (one[field] as readonly unknown[]).map((item) => ({
          ...one,
          ...(typeof item === 'string' ? { [field.slice(0, -1)]: item } : (item as object)),
        })),
      ),
    [message],
  );
