/**
 * How a word of the vocabulary is made: one name, one schema.
 *
 * Policies select words from `src/schemas`; a host's own policy makes its own words under a namespace
 * (`acme/queue.grown`).
 */
import { z } from 'zod';
import { checkSchemas } from './own-schemas.ts';
import type { Messages } from './types/index.ts';
import { seconds } from './units.ts';

/** Fields of a word, beside those that every word has. */
export type Fields = Readonly<Record<string, z.ZodType>>;

/** What can happen: an event that a policy understands. */
export interface EventWord<T extends string = string, S extends z.ZodType = z.ZodType> {
  /** Its name, such as `response.completed`. */
  readonly type: T;
  /** One sentence for the tables and for the JSON Schema. */
  readonly description: string;
  /** Schema of the whole event or decision. */
  readonly schema: S;
}

/** What a policy can answer: a command for the host to carry out, or a notice that others read. */
export interface DecisionWord<
  T extends string = string,
  S extends z.ZodType = z.ZodType,
  K extends 'command' | 'notice' = 'command' | 'notice',
> extends EventWord<T, S> {
  /** `command`: the host carries it out. `notice`: recipes route on it, operators read it. */
  readonly kind: K;
  /** The closed set of reason codes. */
  readonly reasons: readonly string[];
}

/** The event or decision that a word describes, as a TypeScript type. */
export type Of<W> = W extends { readonly type: infer T extends keyof Messages }
  ? Messages[T]
  : W extends { readonly schema: infer S extends z.ZodType }
    ? z.output<S>
    : never;

type EventShape<T extends string, F extends Fields> = F & {
  /** Name of the word. */
  type: z.ZodLiteral<T>;
  /** Time on the clock of the session, in seconds, ≥ 0; an earlier one is read as the latest. */
  at: z.ZodNumber;
};
type ReasonShapes = Readonly<Record<string, Fields>>;
type ReasonOf<R extends ReasonShapes> = {
  [C in keyof R & string]: z.output<
    z.ZodObject<
      R[C] & {
        /** Which reason, one of a closed set. */
        code: z.ZodLiteral<C>;
      }
    >
  >;
}[keyof R & string];
type DecisionShape<T extends string, F extends Fields, R extends ReasonShapes> = EventShape<T, F> & {
  /** Why, with the numbers that led to it. */
  reason: z.ZodType<ReasonOf<R>>;
};

const at = seconds.describe('Time on the clock of the session, in seconds; an earlier one is read as the latest.');

/**
 * Makes the word for an event: `type`, `at`, and the fields given; unknown keys are refused.
 *
 * @throws PolicyError `invalid_config` when a field is no schema of zod 4
 */
export function defineEvent<const T extends string, F extends Fields>(
  type: T,
  description: string,
  fields: F,
): EventWord<T, z.ZodObject<EventShape<T, F>, z.core.$strict>> {
  checkSchemas(fields, type);
  const schema = z.strictObject({ type: z.literal(type), at, ...fields }).meta({ id: `event.${type}`, description });
  return Object.freeze({ type, description, schema: schema as never });
}

/**
 * Makes the word for a decision: `type`, `at`, the fields given, and `reason`, one of a closed set of codes, each with
 * the numbers that led to it.
 *
 * @throws PolicyError `invalid_config` when a field is no schema of zod 4
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
): DecisionWord<T, z.ZodObject<DecisionShape<T, F, R>, z.core.$strict>, K> {
  checkSchemas(fields, type);
  for (const [code, shape] of Object.entries(reasons)) checkSchemas(shape, `${type}.reason.${code}`);
  const shapes = Object.entries(reasons).map(([code, shape]) => z.strictObject({ code: z.literal(code), ...shape }));
  const reason = shapes.length === 1 ? shapes[0]! : z.discriminatedUnion('code', shapes as never);
  const schema = z
    .strictObject({ type: z.literal(type), at, ...fields, reason: reason.describe('Why, with the numbers.') })
    .meta({ id: `${kind}.${type}`, description });
  return Object.freeze({ type, kind, description, reasons: Object.keys(reasons), schema: schema as never });
}

/** Words in the order of their names: the order of a module's exports is not the same in every bundle. */
export function byName<W extends EventWord>(words: readonly W[]): readonly W[] {
  return Object.freeze([...words].sort((a, b) => (a.type < b.type ? -1 : 1)));
}
