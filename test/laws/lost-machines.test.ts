/**
 * What is lost stays lost, whatever else happens, `host.restarted` included: nothing is given to an engine, a worker, a
 * node or a replica between the report of its loss and that of its return.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { registry } from '../../src/registry.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { arbitraryOf } from '../../src/testing/runs/tested.ts';
import { isChosen } from '../support/basics/only.ts';
import { met, runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

/** The field that names a machine, by the first word of the events about it. */
const fieldOf: Readonly<Record<string, string>> = {
  engine: 'engineId',
  'reward-worker': 'workerId',
  node: 'nodeId',
  replica: 'replica',
};
/** Commands that take something away from a machine, or ask for it back. */
const takesAway: ReadonlySet<string> = new Set(['gpus.reclaim', 'migration.cancel', 'reward.cancel', 'request.abort']);

const typesOf = (definition: AnyPolicyDefinition) => definition.events.map((message) => message.type);
const lossesOf = (definition: AnyPolicyDefinition): string[] =>
  typesOf(definition).filter((type) => type.slice(0, -'.lost'.length) in fieldOf && type.endsWith('.lost'));

/** Machines that commands give something to, as `field id`. */
function* givenTo(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const one of value) yield* givenTo(one);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      if (key === 'reason') continue;
      if (typeof one === 'string' && Object.values(fieldOf).includes(key)) yield `${key} ${one}`;
      else if (typeof one === 'string' && key === 'to') yield `engineId ${one}`;
      else if (key === 'keep') for (const id of one as string[]) yield `engineId ${id}`;
      else if (key === 'replicas' && Array.isArray(one)) for (const id of one) yield `replica ${String(id)}`;
      else yield* givenTo(one);
    }
  }
}

/** Machines that are lost, from what was reported. */
class Lost {
  readonly ids = new Set<string>();

  enter(event: AnyEvent): void {
    // Engines that come with their GPUs, or that are placed anew, are all there.
    if (['engines.placed', 'engines.changed', 'gpus.returned'].includes(event.type)) return this.#forget('engineId');
    const [, machine = '', happening] = /^(.*)\.(lost|added)$/.exec(event.type) ?? [];
    const field = fieldOf[machine];
    if (field === undefined) return;
    const id = `${field} ${String((event as unknown as Record<string, unknown>)[field])}`;
    if (happening === 'lost') this.ids.add(id);
    else this.ids.delete(id);
  }

  told({ type }: AnyDecision): void {
    if (type === 'kind-tp.set' || type === 'round-tp.set') this.#forget('engineId');
  }

  #forget(field: string): void {
    for (const id of this.ids) if (id.startsWith(`${field} `)) this.ids.delete(id);
  }
}

function play(definition: AnyPolicyDefinition, config: unknown, tape: readonly number[], tally: { restarts: number }) {
  const policy = create(definition, config);
  const state = definition.init(policy.config);
  const choices = choicesFrom(tape);
  const lost = new Lost();
  const commands = new Set(definition.decisions.filter((one) => one.kind === 'command').map((one) => one.type));
  for (let index = 0; index < 80; index += 1) {
    const restarts = choices.below(12) === 0;
    const event: AnyEvent = restarts
      ? ({ type: 'host.restarted', at: index, idPrefix: `restart-${index}-` } as AnyEvent)
      : arbitraryOf(definition)(state, choices);
    let decisions: AnyDecision[];
    try {
      decisions = policy.send(structuredClone(event) as never) as AnyDecision[];
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      continue;
    }
    definition.apply(state, event, { at: policy.at, emit: () => undefined });
    if (restarts && lost.ids.size > 0) tally.restarts += 1;
    lost.enter(event);
    for (const decision of decisions) {
      lost.told(decision);
      if (!commands.has(decision.type) || takesAway.has(decision.type)) continue;
      for (const machine of givenTo(decision))
        expect(lost.ids, `${decision.type} after ${event.type}`).not.toContain(machine);
    }
  }
}

// flexrl gives its machines what shadow-loader does, and plans every batch at length.
const chosen = registry.policies.filter(
  (one) =>
    one.id !== 'flexrl' && isChosen(one.id) && typesOf(one).includes('host.restarted') && lossesOf(one).length > 0,
);

describe.each(chosen.map((definition) => [definition.id, definition] as const))('%s', (id, definition) => {
  test('gives nothing to what is lost, before and after a restart of the host', () => {
    const tally = { restarts: 0 };
    for (const config of exampleConfigs[id]!) {
      fc.assert(
        fc.property(tapes(), (tape) => play(definition, config, tape, tally)),
        runs(15),
      );
    }
    expect(tally.restarts).toBeGreaterThanOrEqual(met(5));
  });
});
