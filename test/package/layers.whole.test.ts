/** The project keeps its layers (`npm run layers`): every file is parsed for it. */
import { expect, test } from 'vitest';
import { broken } from '../support/basics/layers.ts';
import { root } from '../support/command-line/process.ts';

test('the project keeps its layers', async () => {
  expect(await broken(root)).toEqual([]);
});
