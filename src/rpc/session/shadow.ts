/** Shadow mode: a policy runs beside a host that makes the decisions itself, and the host's decisions are logged. */
import { z } from 'zod';
import { oneOf } from '../../core/ids/nearest.ts';
import type { AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';
import { hostDecided } from '../../schemas/events/index.ts';
import type { Of } from '../../schemas/vocabulary.ts';

/** Built-in policies whose input does not depend on their own decisions. */
const shadowed: readonly string[] = ['adaptive-tp', 'gpu-scale-down', 'sandbox-timeout'];

/**
 * Refuses a policy that cannot run in shadow mode, because its next events depend on its own decisions, which nobody carries out.
 * Policies of users are always accepted.
 *
 * @throws PolicyError `invalid_input`
 */
export function checkShadow({ id }: AnyPolicyDefinition): void {
  if (shadowed.includes(id) || id.includes('/')) return;
  const expected = `${oneOf(shadowed, id)}: what others would save, rollflex simulate --from-log estimates`;
  refuse('invalid_input', 'shadow', expected, id);
}

/** Reads the decisions that a host has made itself. */
export class HostDecisions {
  readonly #schemas: ReadonlyMap<string, z.ZodType>;

  constructor({ decisions }: AnyPolicyDefinition) {
    this.#schemas = new Map(decisions.map(({ type, schema }) => [type, partialOf(schema)]));
  }

  /** Returns the decision in the event; `undefined` for another event. Throws `invalid_event`. */
  read(event: AnyEvent): Of<typeof hostDecided> | undefined {
    if ((event as AnyEvent | null | undefined)?.type !== hostDecided.type) return undefined;
    const decided = parse(hostDecided.schema, event, 'invalid_event');
    const { decision } = decided;
    const schema = this.#schemas.get(decision.type);
    if (schema === undefined) {
      refuse('invalid_event', 'decision.type', oneOf([...this.#schemas.keys()], decision.type), decision.type);
    }
    parse(schema, decision, 'invalid_event', 'decision');
    return decided;
  }
}

/** Makes all fields of a schema optional; if a user's message is no plain object schema, returns a schema for any object. */
function partialOf(schema: z.ZodType): z.ZodType {
  const isPlain = schema instanceof z.ZodObject && (schema._zod.def.checks?.length ?? 0) === 0;
  return isPlain ? schema.partial() : z.looseObject({});
}
