/** Rounds, each with the events that are still missing before the round is over. */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';

const generated = ['round.completed', 'round.drained'];
const trained = ['round.trained'];

/** Events that must come after a command with a round, by type of command. */
const follows: Readonly<Record<string, readonly string[]>> = {
  'prompts.request': generated,
  'request.launch': generated,
  'train.fetch': trained,
  'train.finish': trained,
  'train.dispatch': trained,
  'optimizer.step': trained,
  'weights.publish': trained,
};

const begins = new Set(['round.requested', 'round.opened']);

/** Rounds that are not over. */
export class RoundBook {
  readonly #open = new Map<string, Set<string>>();
  readonly #over = new Set<string>();
  readonly #says: ReadonlySet<string>;

  constructor(definition: AnyPolicyDefinition) {
    this.#says = new Set(definition.decisions.map(({ type }) => type));
  }

  /** Rounds that are not over, each with its missing events. */
  get open(): readonly string[] {
    return [...this.#open].map(([id, rest]) => `${id} (no ${[...rest].join(', ')})`);
  }

  /** Records an accepted event. */
  sent(event: AnyEvent): void {
    const { type, roundId } = event as AnyEvent & { roundId?: string };
    if (roundId === undefined) return;
    if (begins.has(type)) this.#await(roundId, [...generated, 'round.rewarded', ...trained]);
    else if (type === 'round.failed') this.#open.delete(roundId);
  }

  told(decision: AnyDecision): void {
    const { type, reason, roundId } = decision as AnyDecision & { roundId?: string };
    if (roundId === undefined) return;
    if (type in follows) this.#await(roundId, follows[type]!);
    const rest = this.#open.get(roundId);
    rest?.delete(type);
    if (type === 'source.drained' || reason.code === 'round_failed' || rest?.size === 0) this.#open.delete(roundId);
    this.#over.add(`${roundId} ${type}`);
  }

  #await(roundId: string, types: readonly string[]): void {
    const rest = this.#open.get(roundId) ?? new Set();
    for (const type of types) if (this.#says.has(type) && !this.#over.has(`${roundId} ${type}`)) rest.add(type);
    if (rest.size > 0) this.#open.set(roundId, rest);
  }
}
