/** The loader of the copy's tests, which keeps what it has translated. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve, load as translate } from '../test/typescript-loader.mjs';

export { resolve };

const folder = new URL('../.cache/translated/', import.meta.url);

export async function load(url, context, next) {
  const [address] = url.split('?');
  // Test files of pairs change.
  if (!address.endsWith('.ts') || address.includes('/planted/stubs')) return translate(url, context, next);
  const kept = new URL(createHash('sha256').update(address).digest('hex'), folder);
  if (existsSync(kept)) return { format: 'module', source: readFileSync(kept, 'utf8'), shortCircuit: true };
  const result = await translate(url, context, next);
  const own = new URL(`${kept.href}.${process.pid}`);
  writeFileSync(own, result.source);
  renameSync(own, kept);
  return result;
}
