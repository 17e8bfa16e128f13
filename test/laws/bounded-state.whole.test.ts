/** The state does not grow with the names of what is gone; what is watched, and how, is in bench/long-run/names.ts. */
import { expect, test } from 'vitest';
import { livesUntilFull, watchable, watchNames } from '../../bench/long-run/names.ts';
import { type AnyPolicyDefinition, sealDefinition } from '../../src/core/machine/definition.ts';
import { registry } from '../../src/index.ts';
import { isChosen } from '../support/basics/only.ts';
import { times } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

const policies = registry.policies as readonly AnyPolicyDefinition[];

const watched = policies
  .filter(({ id }) => isChosen(id))
  .flatMap((one) =>
    watchable(one, exampleConfigs[one.id]!)
      .slice(0, 1)
      .map((config) => [one.id, one, config] as const),
  );

test.each(watched)('%s is as large after many names as after a few', (_, definition, config) => {
  const { late } = watchNames(definition, config, livesUntilFull + times(300));
  expect(late).toBeGreaterThan(0);
});

test('a policy that keeps the names of lost machines is found', () => {
  const definition = policies.find(({ id }) => id === 'shadow-loader')!;
  const hoarder = sealDefinition<AnyPolicyDefinition>({
    ...definition,
    apply: (state: Record<string, unknown>, event: { type: string; nodeId?: string }, context: unknown) => {
      if (event.type === 'node.lost') kept.push(event.nodeId!);
      definition.apply(state as never, event as never, context as never);
    },
    save: (state: never) => ({ ...(definition.save(state) as object), kept: [...kept] }),
  });
  const kept: string[] = [];
  const watch = (): unknown => watchNames(hoarder, exampleConfigs['shadow-loader']![0], livesUntilFull + 200);
  expect(watch).toThrow(/shadow-loader: its state has \d+ characters after 800 lives, \d+ after 1000/);
});
