/**
 * Makes the messages of the vocabulary: one name, one schema.
 *
 * Built-in policies select messages from `src/schemas`; a user's own policy defines its messages in a namespace
 * (`acme/queue.grown`).
 */
import { z } from 'zod';
import type { Messages } from '../generated/messages/index.ts';
import { checkSchemas } from './own-schemas.ts';
import { seconds } from './units.ts';

/** Fields of a message, in addition to the fields of every message. */
export type Fields = Readonly<Record<string, z.ZodType>>;

/** An event that a policy accepts. */
export interface EventMessage<T extends string = string, S extends z.ZodType = z.ZodType> {
  /** Name of the event, such as `response.completed`. */
  readonly type: T;
  /** One sentence for the tables and for the JSON Schema. */
  readonly description: string;
  /** Schema of the whole event or decision. */
  readonly schema: S;
  /** What enters a policy, and what leaves one, with the message. */
  readonly moves?: Moves | undefined;
}

/** Returns the ids of the things that a message names, by the kind of thing: `prompts`, `responses`. */
export type IdsOf<M = never> = Readonly<Record<string, (message: M) => readonly string[]>>;

/** What enters and leaves policies with a message; their ledgers follow from it. */
export interface Moves<M = never> {
  /** What a policy holds from now on that takes the message as an event. */
  readonly entered?: IdsOf<M> | undefined;
  /** What a policy no longer holds that makes the decision. */
  readonly left?: IdsOf<M> | undefined;
}

/** A decision of a policy: a command for the host to carry out, or a notice. */
export interface DecisionMessage<
  T extends string = string,
  S extends z.ZodType = z.ZodType,
  K extends 'command' | 'notice' = 'command' | 'notice',
> extends EventMessage<T, S> {
  /** `command`: the host must act. `notice`: recipes route it, and operators read it. */
  readonly kind: K;
  /** The reason codes that the decision may have. */
  readonly reasons: readonly string[];
}

/** The event or decision that a message describes, as a TypeScript type. */
export type Of<W> = W extends { readonly type: infer T extends keyof Messages }
  ? Messages[T]
  : W extends { readonly schema: infer S extends z.ZodType }
    ? z.output<S>
    : never;

type EventShape<T extends string, F extends Fields> = F & {
  /** Name of the message. */
  type: z.ZodLiteral<T>;
  /** Time in seconds, ≥ 0, on one clock that continues across restarts. A time before the latest one counts as the latest. */
  at: z.ZodNumber;
};
type ReasonShapes = Readonly<Record<string, Fields>>;
type ReasonOf<R extends ReasonShapes> = {
  [C in keyof R & string]: z.output<
    z.ZodObject<
      R[C] & {
        /** Code of the reason. */
        code: z.ZodLiteral<C>;
      }
    >
  >;
}[keyof R & string];
type DecisionShape<T extends string, F extends Fields, R extends ReasonShapes> = EventShape<T, F> & {
  /** Reason, with the numbers that led to it. */
  reason: z.ZodType<ReasonOf<R>>;
};

/** What a decision may say in addition: see {@link defineDecision}. */
export interface DecisionDetails<S extends z.core.$ZodShape, Reason> extends Moves<z.output<z.ZodObject<S>>> {
  /** The default reason of a notice that a host sends as an event. */
  readonly reported?: Reason;
}

const at = seconds.describe(
  'Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than the latest counts as the latest.',
);

/**
 * Makes the message for an event: `type`, `at`, and the given fields; unknown keys are refused.
 *
 * @param moves - what enters with the event, by the names of ledgers: `{ entered: { prompts: ({ promptId }) => [promptId] } }`
 * @throws PolicyError `invalid_config` if a field is no schema of zod 4
 */
export function defineEvent<const T extends string, F extends Fields>(
  type: T,
  description: string,
  fields: F,
  moves?: Moves<NoInfer<z.output<z.ZodObject<EventShape<T, F>>>>>,
): EventMessage<T, z.ZodObject<EventShape<T, F>, z.core.$strict>> {
  const fieldsOf = whenNeeded(fields, (own) => checkSchemas(own, type));
  const schema = () => z.strictObject({ type: z.literal(type), at, ...fieldsOf() });
  return message({ type, description, moves }, `event.${type}`, schema);
}

/**
 * Makes the message for a decision: `type`, `at`, the given fields, and `reason`. A reason is one of a fixed set of codes, each
 * with the numbers that led to it.
 *
 * @param more - `reported` is the default reason of a notice that a host sends as an event; `left` names what leaves the
 *   policy with the decision, and `entered` what enters a policy that takes it as an event
 * @throws PolicyError `invalid_config` if a field is no schema of zod 4
 */
export function defineDecision<
  const T extends string,
  const K extends 'command' | 'notice',
  F extends Fields,
  const R extends ReasonShapes,
>(
  type: T,
  kind: K,
  description: string,
  fields: F,
  reasons: R,
  more: DecisionDetails<NoInfer<DecisionShape<T, F, R>>, NoInfer<ReasonOf<R>>> = {},
): DecisionMessage<T, z.ZodObject<DecisionShape<T, F, R>, z.core.$strict>, K> {
  const fieldsOf = whenNeeded(fields, (own) => checkSchemas(own, type));
  const reasonsOf = whenNeeded(reasons, (own) => {
    for (const [code, shape] of Object.entries(own)) checkSchemas(shape, `${type}.reason.${code}`);
  });
  const { reported, ...moves } = more;
  const schema = () => {
    const shapes = Object.entries(reasonsOf()).map(([code, shape]) =>
      z.strictObject({ code: z.literal(code), ...shape }),
    );
    const reason = shapes.length === 1 ? shapes[0]! : z.discriminatedUnion('code', shapes as never);
    const given = reported === undefined ? reason : reason.prefault(reported as never);
    const described = given.describe('Why, with the numbers.');
    return z.strictObject({ type: z.literal(type), at, ...fieldsOf(), reason: described });
  };
  return message({ type, kind, description, moves }, `${kind}.${type}`, schema, () => Object.keys(reasonsOf()));
}

/**
 * Checks the fields of a user's message at once. For the messages of rollflex, the build replaces the fields by functions
 * (`withLaterFields` in `scripts/build/tree-shaking.ts`), so that their schemas are made only when they are first read.
 */
function whenNeeded<T extends object>(given: T | (() => T), check: (own: T) => void): () => T {
  if (typeof given === 'function') return given;
  check(given);
  return () => given;
}

/** Makes a message whose schema is made when it is first read, because a program contains all messages but uses only a few. */
function message<W extends EventMessage>(
  of: Omit<W, 'schema' | 'reasons'>,
  id: string,
  make: () => z.ZodType,
  reasonsOf?: () => readonly string[],
): W {
  let made: z.ZodType | undefined;
  let reasons: readonly string[] | undefined;
  const own = {
    ...of,
    get schema() {
      made ??= make().meta({ id, description: of.description });
      return made;
    },
  };
  if (reasonsOf === undefined) return Object.freeze(own) as never;
  const get = (): readonly string[] => {
    reasons ??= reasonsOf();
    return reasons;
  };
  return Object.freeze(Object.defineProperty(own, 'reasons', { get, enumerable: true })) as never;
}

/** Sorts messages by name, because the order of a module's exports differs between bundles. */
export function byName<W extends EventMessage>(messages: readonly W[]): readonly W[] {
  return Object.freeze([...messages].sort((a, b) => (a.type < b.type ? -1 : 1)));
}
