/** Writes the golden traces: `npx tsx test/golden/make.ts`. A change of them is a change of behaviour. */
import { writeFileSync } from 'node:fs';
import type { AnyPolicyDefinition } from '../../src/core/definition.ts';
import { isPolicyError, recordEvents, registry, startPolicy } from '../../src/index.ts';
import { likelyEvents } from '../../src/testing/index.ts';
import { exampleConfigs } from '../support/example-configs.ts';

for (const id of ['speculative-admission', 'stream-training', 'tail-batching']) {
  const definition = registry.get(id) as AnyPolicyDefinition;
  const config = exampleConfigs[id]![1];
  const policy = startPolicy(definition, config);
  const lines: string[] = [];
  recordEvents(policy as never, (line) => lines.push(line));
  const tape = Array.from({ length: 397 }, (_, index) => (index * 7919 + 104_729) % 999_983);
  for (const event of likelyEvents(definition, config, tape, 800)) {
    try {
      (policy as unknown as { send(event: unknown): unknown }).send(event);
    } catch (error) {
      if (!isPolicyError(error)) throw error;
    }
  }
  writeFileSync(new URL(`./${id}.jsonl`, import.meta.url), `${lines.join('\n')}\n`);
}
