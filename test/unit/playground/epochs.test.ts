/** The synchronous job of the playground, where prompts come back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { registry } from 'rollflex';
import { expect, test } from 'vitest';
import { usual } from '../../../docs/playground/src/settings/fields.ts';
import { synchronousFields } from '../../../docs/playground/src/settings/synchronous.ts';
import { Keep } from '../../../docs/playground/src/worker/keep.ts';
import { Library } from '../../../docs/playground/src/worker/library.ts';
import { simulateSynchronous } from '../../../docs/playground/src/worker/synchronous.ts';
import { root } from '../../support/command-line/process.ts';

const library = new Library(async () =>
  readFileSync(join(root, 'examples/traces/sandbox-livecodebench.jsonl'), 'utf8'),
);

async function shownWith(ep: number) {
  await library.prepare(['sandboxes']);
  const small = { t: 'rollpacker', P: 4, R: 2, n: 6, s: 1, cap: 4096 } as const;
  const results = [...simulateSynchronous({ ...usual(synchronousFields), ...small, ep }, library, new Keep())];
  return results.find((one) => one !== undefined)!.shown;
}

test('the lossless tail stands beside the others, keeps every token, and has a configuration', async () => {
  const { rows, facts, configs } = await shownWith(3);
  expect(rows.map(({ id }) => id)).toEqual(['baseline', 'tail-batching', 'rollpacker', 'lossless-tail']);
  expect(rows[3]!.cells).toMatchObject({ kept: '1.00 ×' });
  expect(facts.join()).toContain('24 prompts are trained: a data set of 8, in 3 epochs');
  const { id, config } = configs.find((one) => one.id === 'lossless-tail')!;
  expect([id, registry.create('lossless-tail', config as never).id]).toEqual(['lossless-tail', 'lossless-tail']);
});

test('where prompts come once, nothing changes', async () => {
  const { rows, facts, configs } = await shownWith(1);
  expect([rows.length, configs.length, facts.join().includes('each once')]).toEqual([3, 2, true]);
});
