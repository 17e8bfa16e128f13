/**
 * The state does not grow with the names of what is gone: rounds, requests, prompts, steps and batches that are over, and
 * engines, nodes, reward workers and replicas that are lost for good, none of whose names comes a second time.
 */
import { describe, expect, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/definition.ts';
import { registry, startPolicy } from '../../src/index.ts';
import { ObedientHost } from '../../src/testing/obedient-host.ts';
import { choicesOf, play } from '../../src/testing/play-to-end.ts';
import { answer, type Subject } from '../../src/testing/run.ts';
import { exampleConfigs } from '../support/example-configs.ts';
import { isChosen } from '../support/only.ts';
import { times } from '../support/runs.ts';

/** By then policies remember as much as they ever do: 64 of what is over, and some hundred measurements. */
const full = 300;
const lives = full + times(300);

/** Machines come and are lost, under names of their own. */
function machinesOf(life: number): object[] {
  const at = life;
  const gpus = { serverId: `s${life}`, gpuIds: [`g${life}`], kvCapacityTokens: 1e6 };
  return [
    { type: 'engine.added', at, engineId: `engine${life}`, ...gpus },
    { type: 'engine.added', at, engineId: `engine${life}` },
    { type: 'engine.lost', at, engineId: `engine${life}` },
    { type: 'node.added', at, nodeId: `node${life}`, hostMemoryBytes: 100, ranks: [10 + life] },
    { type: 'node.lost', at, nodeId: `node${life}` },
    { type: 'reward-worker.added', at, workerId: `worker${life}`, kind: 'sandbox', slots: 1 },
    { type: 'reward-worker.lost', at, workerId: `worker${life}` },
    { type: 'replica.lost', at, replica: `replica${life}` },
  ];
}

/** The length of the state after each life: a host that begins, does its work under new names, and is gone. */
function lengthsOf(definition: AnyPolicyDefinition, config: unknown): number[] {
  const policy = startPolicy(definition, config) as unknown as Subject & { readonly at: number };
  const parsed = definition.config.parse(config);
  return Array.from({ length: lives }, (_, life) => {
    const prefix = `life${1000 + life}-`;
    // Refused by those who know no such machine, or take no such event.
    for (const event of machinesOf(life)) answer(policy, event as never);
    const host = new ObedientHost(definition, parsed, { prefix, choices: choicesOf(life), weightVersion: life + 1 });
    const restarted = { type: 'host.restarted', at: life, idPrefix: prefix };
    const given = answer(policy, restarted as never);
    if ('decisions' in given) host.heard(restarted as never, given.decisions);
    host.begin();
    play(policy, host);
    return JSON.stringify(policy.snapshot().state).length;
  });
}

// sandbox-timeout remembers tens of thousands of runs that have ended: its own tests hold its state after a million.
const chosen = registry.policies.filter(
  ({ id, events }) =>
    isChosen(id) &&
    id !== 'sandbox-timeout' &&
    (events as readonly { type: string }[]).some(({ type }) => type === 'host.restarted'),
);

describe.each(chosen.map((definition) => [definition.id, definition] as const))('%s', (id, definition) => {
  test('is as large after many names as after a few', () => {
    const lengths = lengthsOf(definition as never, exampleConfigs[id]![0]);
    const most = (from: number, to: number): number => Math.max(...lengths.slice(from, to));
    // Numbers get a digit more now and then.
    expect(most(lives - 40, lives)).toBeLessThan(1.03 * most(full - 40, full) + 100);
  });
});
