/** A policy of your own in the simulator: its scheduler, and what it asks for and does not get there. */
import type { z } from 'zod';
import type { AnyDecision, AnyPolicyDefinition, ConfigOf } from '../../core/machine/definition.ts';
import { opensRounds, type SimulatorFit, simulatorFit } from '../../core/machine/simulator-fit.ts';
import { create } from '../../core/machine/start.ts';
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';
import { groupRewarded } from '../../schemas/decisions/groups.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';
import type { Unmet } from '../comparison/result.ts';
import type { NextRound, OpeningEvent, Scheduler } from './scheduler.ts';

/** Options of {@link policyScheduler}. */
export interface PolicySchedulerOptions {
  /** Id in results; that of the definition if absent. */
  readonly id?: string;
  /** For people: tables and charts; the id if absent. */
  readonly label?: string;
  /** Kind of the rounds, for a policy that takes `round.opened` (default `short`: over-provisioning is allowed). */
  readonly kind?: 'short' | 'long';
  /**
   * Whether the policy keeps the prompts that it defers or returns. If absent: a policy that takes `round.requested` plans its rounds
   * and keeps them; to one that takes `round.opened` only, the data source supplies them again.
   */
  readonly holdsDeferred?: boolean;
  /** Whether deferred prompts keep the tokens of their responses and continue from them (default false). */
  readonly keepsTokens?: boolean;
}

/**
 * Returns the scheduler of any policy or recipe, such as your own, for `simulate`, `compare` and `whatIf`.
 *
 * @param config - the configuration of the policy, the same in every run
 * @throws PolicyError `infeasible` for a policy that lacks what the simulator needs, `invalid_config` for a configuration that does
 * not fit
 */
export function policyScheduler<P extends AnyPolicyDefinition>(
  definition: P,
  config: ConfigOf<P>,
  options: PolicySchedulerOptions = {},
): Scheduler {
  checkFit(definition, simulatorFit(definition));
  create(definition, config);
  const { id = definition.id, label = id, kind = 'short', keepsTokens = false } = options;
  const opening = opensRounds.find((type) => definition.events.some((event) => event.type === type))!;
  return {
    id,
    label,
    holdsDeferred: options.holdsDeferred ?? opening === 'round.requested',
    keepsTokens,
    hearsRewards: definition.events.some(({ type }) => type === groupRewarded.type),
    create: (given) => {
      const policy = create(definition, config, given);
      // Those that rollflex ships keep law 7.
      if (definition.id.includes('/')) policy.observe(decisionCheck(definition));
      return policy;
    },
    openRound: (round: NextRound): OpeningEvent =>
      opening === 'round.requested' ? { type: opening, ...round } : { type: opening, ...round, kind, prompts: [] },
  };
}

/** Decisions of one type and reason that are checked in a run: what is wrong is wrong in the first ones, and a check takes time. */
const checkedOfEach = 3;

/** Returns what throws `invalid_config` for a decision that does not fit its schema, as law 7 has it. */
function decisionCheck({ id, decisions }: AnyPolicyDefinition) {
  const schemas = new Map<string, z.ZodType>(decisions.map(({ type, schema }) => [type, schema]));
  const counts = new Map<string, number>();
  return (_event: unknown, made: readonly AnyDecision[]): void => {
    for (const decision of made) {
      const key = `${decision.type} ${decision.reason?.code}`;
      const count = counts.get(key) ?? 0;
      if (count >= checkedOfEach) continue;
      counts.set(key, count + 1);
      const schema = schemas.get(decision.type);
      if (schema === undefined)
        refuse('invalid_config', `${id}.decisions`, `${decision.type} among its decisions`, key);
      parse(schema, decision, 'invalid_config', `${id}: ${decision.type}`);
    }
  };
}

function checkFit({ id, events, decisions }: AnyPolicyDefinition, { lacks }: SimulatorFit): void {
  if (lacks.length === 0) return;
  const types = [...events, ...decisions].map(({ type }) => type).join(', ');
  refuse('infeasible', id, `for the simulator a policy that ${lacks.join(', and ')}`, types);
}

/** Finds out what a policy asks for in vain. Those that rollflex ships are known to fit, and are not asked. */
export class UnmetAsks {
  readonly #counts = new Map<string, number>();
  readonly #neverSent: readonly string[];
  /** Whether the policy is none that rollflex ships: ids of others have a namespace. */
  readonly isOwn: boolean;

  /** Throws `infeasible` for a policy that lacks what the simulator needs. */
  constructor({ definition }: Pick<DrivenPolicy, 'definition'>) {
    const fit = definition === undefined ? undefined : simulatorFit(definition);
    if (fit !== undefined) checkFit(definition!, fit);
    this.isOwn = definition?.id.includes('/') ?? false;
    this.#neverSent = this.isOwn ? fit!.neverSent : [];
    for (const type of this.isOwn ? fit!.notCarriedOut : []) this.#counts.set(type, 0);
  }

  /** Takes a decision. */
  note({ type }: Pick<AnyDecision, 'type'>): void {
    const count = this.#counts.get(type);
    if (count !== undefined) this.#counts.set(type, count + 1);
  }

  /** Returns what the policy has asked for until now. */
  found(): Unmet[] {
    const commands = [...this.#counts].filter(([, count]) => count > 0);
    return [
      ...commands.map(([name, count]): Unmet => ({ what: 'command', name, count })),
      ...this.#neverSent.map((name): Unmet => ({ what: 'event', name })),
    ];
  }
}

/** Returns a sentence for each group of policies that ask for the same in vain. */
export function unmetSentences(
  results: readonly { readonly label: string; readonly unmet: readonly Unmet[] }[],
): string[] {
  const labels = new Map<string, string[]>();
  for (const { label, unmet } of results) {
    if (unmet.length === 0) continue;
    const says = unmetSentence(unmet);
    labels.set(says, [...(labels.get(says) ?? []), label]);
  }
  return [...labels].map(([says, [first, ...others]]) => {
    const more = others.length > 1 ? ` and ${others.length} others` : others.map((one) => ` and ${one}`).join('');
    return `${first}${more}: ${says}.`;
  });
}

/** Returns what a policy asks for in vain as the end of a sentence. */
function unmetSentence(unmet: readonly Unmet[]): string {
  const of = (what: Unmet['what']): readonly Unmet[] => unmet.filter((one) => one.what === what);
  const names = (what: Unmet['what']): string =>
    of(what)
      .map(({ name, count }) => (count === undefined ? name : `${name} (${count} times)`))
      .join(', ');
  return [
    of('command').length > 0 && `asks for ${names('command')}, which the simulator does not carry out`,
    of('event').length > 0 && `takes ${names('event')}, which the simulator never sends`,
    of('prediction').length > 0 &&
      `decides by ${names('prediction')} of prompts, and gets none: compare it with predicted lengths (\`predict\`, --predict)`,
  ]
    .filter((one) => one !== false)
    .join('; ');
}
