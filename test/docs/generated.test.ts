/** The generated parts of the documentation are up to date, and links inside it lead somewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { countParts, generatedFiles, regenerate } from '../../scripts/docs-tables.ts';
import { registry } from '../../src/registry.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const plannerReadmes = generatedFiles.filter((file) => file.startsWith('src/planners/'));
const policyReadmes = generatedFiles.filter((file) => /^src\/(policies|recipes)\//.test(file));

test.each(generatedFiles)('%s is up to date (npm run docs:generate)', (file) => {
  expect(countParts(read(file))).toBeGreaterThan(0);
  expect(regenerate(read(file))).toBe(read(file));
});

test('a part that is stale is noticed', () => {
  const stale = read('docs/errors.md').replace('`invalid_config`, `invalid_event`', '`invalid_config`');
  expect(regenerate(stale)).not.toBe(stale);
});

test('a part that does not exist is refused', () => {
  expect(() => regenerate('<!-- generated: config nobody -->\n<!-- /generated -->')).toThrow(/nobody/);
  expect(() => regenerate('<!-- generated: nothing tail-batching -->\n<!-- /generated -->')).toThrow(/nothing/);
  expect(() => regenerate('<!-- generated: config judge-offload -->\n<!-- /generated -->')).toThrow(/a planner/);
  expect(() => regenerate('<!-- generated: input tail-batching -->\n<!-- /generated -->')).toThrow(/a recipe/);
});

describe('READMEs of policies', () => {
  const headings = [
    'What it does',
    'Events',
    'Decisions and reasons',
    'Configuration',
    'Invariants',
    'Trade-offs',
    'Sources',
  ];

  test('every policy has one, with generated tables', () => {
    const ids = policyReadmes.map((file) => file.split('/')[2]);
    expect(ids.sort()).toEqual(registry.policies.map((one) => one.id).sort());
  });

  test.each(policyReadmes)('%s has the headings, in order', (file) => {
    const found = [...read(file).matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(found).toEqual(headings);
    expect(countParts(read(file))).toBe(3);
  });
});

describe('READMEs of planners', () => {
  const headings = ['What it does', 'Input', 'Plan', 'Errors', 'Invariants', 'Trade-offs', 'Sources'];

  test('every planner has one', () => {
    const ids = plannerReadmes.map((file) => file.split('/')[2]);
    expect(ids.sort()).toEqual(registry.planners.map((one) => one.id).sort());
  });

  test.each(plannerReadmes)('%s has the headings, in order, and generated tables', (file) => {
    const found = [...read(file).matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(found).toEqual(headings);
    expect(countParts(read(file))).toBe(2);
  });
});

describe('links', () => {
  const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  const examples = readdirSync(join(root, 'examples'), { withFileTypes: true })
    .filter((one) => one.isDirectory() && one.name !== 'traces')
    .map((one) => `examples/${one.name}/README.md`);
  const top = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'examples/README.md'];
  const files = [...top, ...guides.map((name) => `docs/${name}`), ...examples, ...plannerReadmes, ...policyReadmes];

  test.each(files)('%s', (file) => {
    for (const [, target] of read(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?:|#)/.test(target!)) continue;
      const [path] = target!.split('#');
      expect(existsSync(join(root, dirname(file), path!)), `${file} → ${target}`).toBe(true);
    }
  });
});
