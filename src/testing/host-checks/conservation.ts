/** Checks with a model of a host that a policy loses nothing and hands nothing over twice. */
import type { AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { create } from '../../core/machine/start.ts';
import { isPolicyError } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/index.ts';
import { choicesFrom, newSubject, type Subject } from '../runs/run.ts';
import { messageOf, type SearchOptions, search, textOfRun } from '../runs/search.ts';
import { definitionOf, type Tested } from '../runs/tested.ts';
import { copy } from '../runs/values.ts';
import type { Places } from './held-book.ts';
import { ModelHost } from './model-host.ts';

/** Returns the ids that a policy holds, from its ledgers `prompts` and `responses`. */
export function placesOf(definition: AnyPolicyDefinition, saved: unknown): Places {
  const held = (name: string): readonly string[] => {
    const ledger = definition.ledgers.find((one) => one.name === name);
    if (ledger === undefined) throw new Error(`${definition.id} declares no ledger ${name}`);
    return ledger.held(saved);
  };
  return { prompts: held('prompts'), responses: held('responses') };
}

/**
 * Plays one run. The host first makes trouble, and then cooperates until the round has ended and drained.
 *
 * @param tape - numbers that steer the host; the same tape gives the same run
 * @param length - events of the part with trouble
 * @param log - receives the events that were sent, including refused ones
 * @throws Error naming the id that was lost or handed over twice, or the round that does not end
 */
export function playHost(
  definition: AnyPolicyDefinition,
  config: unknown,
  tape: readonly number[],
  length: number,
  log: AnyEvent[] = [],
): void {
  const host = new ModelHost(
    definition.config.parse(config) as never,
    definition.events.map(({ type }) => type),
  );
  const choices = choicesFrom(tape);
  let policy: Subject = newSubject(definition, config);
  let at = 0;
  const send = (event: AnyEvent): void => {
    log.push(event);
    at = Math.max(at, event.at);
    host.heard(event, policy.send(copy(event)) as VocabularyDecision[]);
  };
  for (let index = 0; index < length; index += 1) {
    try {
      send(host.trouble(choices, at + choices.below(10)));
    } catch (error) {
      // A host may report an impossible event; the policy must refuse it.
      if (!isPolicyError(error) || error.code === 'internal') throw error;
    }
    if (choices.below(10) === 0)
      policy = create(definition, { snapshot: copy(policy.snapshot()) }) as unknown as Subject;
    if (index % 4 === 3 || index === length - 1) host.books.compareWith(placesOf(definition, policy.snapshot().state));
  }
  // From any state after the trouble, a round takes far fewer steps than this.
  for (let step = 0; step < 3000; step += 1) {
    const event = host.cooperate(at);
    if (event === undefined) {
      host.books.compareWith(placesOf(definition, policy.snapshot().state));
      return;
    }
    send(event);
  }
  throw new Error(`invariant 6: the round does not end: ${host.books.describe()}`);
}

/**
 * Checks a policy with the messages of speculative-admission, or a recipe with those of tail-batching, against a model of a host.
 * The host loses engines, aborts late or never, reports twice, restarts, and cooperates in the end. The check tracks every prompt
 * and response, and so finds a policy that loses one, hands one over twice, misses R0 or P0, exceeds a limit, or does not end its
 * round. The policy needs ledgers `prompts` and `responses`.
 *
 * @example
 * ```ts
 * checkConservation(speculativeAdmission, { config: { promptsPerRound: 3, responsesPerPrompt: 2 } });
 * ```
 * @throws Error with the fault, the smallest run that shows the fault, and the seed to repeat the run
 */
export function checkConservation(tested: Tested, options: SearchOptions): void {
  const definition = definitionOf(tested);
  const takes = new Set<string>(definition.events.map(({ type }) => type));
  const opens = takes.has('round.opened') || takes.has('round.requested');
  if (!opens || !takes.has('prompts.supplied') || !takes.has('response.completed')) {
    throw new Error(
      `${definition.id} does not take round.opened or round.requested, prompts.supplied and response.completed: ` +
        'it admits no prompts; checkLaws takes every policy',
    );
  }
  placesOf(definition, definition.save(definition.init(definition.config.parse(options.config))));
  search(`${definition.id} breaks conservation (nothing lost, nothing twice)`, options, (tape, length) => {
    const log: AnyEvent[] = [];
    try {
      playHost(definition, options.config, tape, length, log);
    } catch (error) {
      throw new Error(`${messageOf(error)}${textOfRun(log)}`, { cause: error });
    }
  });
}
