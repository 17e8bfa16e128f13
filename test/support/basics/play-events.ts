/** The loop of most properties of a policy: likely events, drawn from a shadow of its state, and a restore now and then. */
import type { Choices } from '../../../src/core/generators/choices.ts';
import type { AnyPolicyDefinition, DecisionOf, EventOf } from '../../../src/core/machine/definition.ts';
import { create } from '../../../src/core/machine/start.ts';
import { isPolicyError } from '../../../src/errors.ts';
import { choicesFrom } from '../../../src/testing/index.ts';

/** What a property sees of a policy. */
interface Played {
  readonly at: number;
  snapshot(): { readonly state: unknown };
}

/**
 * Plays so many events that a tape draws, and gives each that is not refused to `applied`. Returns a function that sends one more.
 *
 * @param refused - is given the code of each refusal, which is never `internal`
 */
export function playEvents<P extends AnyPolicyDefinition>(
  definition: P,
  arbitrary: (state: never, choices: Choices) => EventOf<P>,
  { config, tape, steps }: { readonly config: object; readonly tape: readonly number[]; readonly steps: number },
  applied: (event: EventOf<P>, decisions: DecisionOf<P>[], policy: Played) => void,
  refused: (code: string) => void = () => undefined,
): (event: EventOf<P>) => void {
  const tested: AnyPolicyDefinition = definition;
  const shadow = tested.init(tested.config.parse(config));
  const choices = choicesFrom(tape);
  let policy = create(tested, config);
  const send = (event: EventOf<P>): void => applied(event, policy.send(event), policy);
  for (let step = 0; step < steps; step += 1) {
    const event = arbitrary(shadow as never, choices);
    try {
      send(event);
    } catch (error) {
      if (!isPolicyError(error) || error.code === 'internal') throw error;
      refused(error.code);
      continue;
    }
    tested.apply(shadow, event, { at: policy.at, emit: () => undefined });
    if (choices.below(10) === 0) policy = create(tested, { snapshot: JSON.parse(JSON.stringify(policy.snapshot())) });
  }
  return send;
}
