/** Golden traces: a recorded log gives the same decisions, to the byte. `make.ts` writes them. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { registry, replayEvents } from '../../src/index.ts';
import { isChosen, traceTitle } from '../support/basics/only.ts';

const traces = readdirSync(new URL('.', import.meta.url))
  .filter((name) => name.endsWith('.jsonl'))
  .filter((name) => isChosen(name.replace('.jsonl', '')))
  .sort();

test('every policy and recipe has a trace (npx tsx test/golden/make.ts <id>)', () => {
  const ids = registry.policies.map(({ id }) => id).filter((id) => isChosen(id));
  expect(traces).toEqual(ids.map((id) => `${id}.jsonl`).sort());
});

test.each(traces)(`%s: ${traceTitle}`, (name) => {
  const lines = readFileSync(new URL(name, import.meta.url), 'utf8').split('\n');
  const replay = replayEvents(lines, registry.restore);
  expect(replay.difference).toBeUndefined();
  expect(replay.events, 'events in the trace').toBeGreaterThan(200);
});
