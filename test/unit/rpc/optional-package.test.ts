/** A package that is not installed is asked for by the command that installs it. */
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { optionalPackage } from '../../../src/rpc/optional-package.ts';

const absent = 'no-such-package-of-rollflex';
const name = absent as string;

test.each([
  ['import', () => import(/* @vite-ignore */ `${name}`)],
  ['require', async () => createRequire(import.meta.url)(absent)],
])('where %s does not find it', async (_, load) => {
  await expect(optionalPackage(absent, 'stateDir', load)).rejects.toMatchObject({
    code: 'invalid_input',
    path: 'stateDir',
    message: `stateDir: expected the package ${absent} beside the npm package rollflex (npm install ${absent}), got nothing`,
  });
});

test('where it is there and does not load, the error says why', async () => {
  const load = () => Promise.reject(new Error('No native build was found'));
  await expect(optionalPackage(absent, 'stateDir', load)).rejects.toMatchObject({
    got: 'Error: No native build was found',
  });
});

test('one that is there is given as it is', async () => {
  expect(await optionalPackage('zod', 'metrics', async () => 7)).toBe(7);
});
