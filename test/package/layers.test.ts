/** The layer check catches an import that points the wrong way; `layers.whole.test.ts` has that of the project. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { broken } from '../support/basics/layers.ts';

describe('wrong imports', () => {
  let folder = '';
  afterEach(() => rmSync(folder, { recursive: true }));

  function project(files: Record<string, string>): string {
    folder = mkdtempSync(join(tmpdir(), 'rollflex-layers-'));
    for (const [path, text] of Object.entries({ 'src/errors.ts': 'export const e = 1;\n', ...files })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  }

  const policy = 'export const a = 1;\nexport type A = number;\n';
  test.each<[string, string, Record<string, string>]>([
    [
      'schemas',
      'the schemas use core',
      {
        'src/schemas/a.ts': `import { c } from '../core/c.ts';\nexport const a = c;\n`,
        'src/core/c.ts': 'export const c = 1;\n',
      },
    ],
    [
      'policies-never-import-each-other',
      'a policy uses another, if only its types',
      {
        'src/policies/a/index.ts': policy,
        'src/policies/b/index.ts': `import type { A } from '../a/index.ts';\nexport const b: A = 1;\n`,
      },
    ],
    [
      'recipes',
      'a recipe reaches inside a policy',
      {
        'src/policies/a/a.ts': policy,
        'src/recipes/r/index.ts': `import { a } from '../../policies/a/a.ts';\nexport const r = a;\n`,
      },
    ],
    [
      'core',
      'the core knows the registry',
      {
        'src/registry.ts': 'export const registry = 1;\n',
        'src/core/c.ts': `import { registry } from '../registry.ts';\nexport const c = registry;\n`,
      },
    ],
    [
      'testing',
      'the property kit uses the simulator',
      {
        'src/sim/s.ts': 'export const s = 1;\n',
        'src/testing/t.ts': `import { s } from '../sim/s.ts';\nexport const t = s;\n`,
      },
    ],
    [
      'sim',
      'the simulator uses the command line',
      {
        'src/cli/c.ts': 'export const c = 1;\n',
        'src/sim/s.ts': `import { c } from '../cli/c.ts';\nexport const s = c;\n`,
      },
    ],
    [
      'ring-sdk',
      'a policy reads logs',
      {
        'src/logs/l.ts': 'export const l = 1;\n',
        'src/policies/a/index.ts': `import { l } from '../../logs/l.ts';\nexport const a = l;\n`,
      },
    ],
    [
      'ring-serve',
      'the server uses the simulator',
      {
        'src/sim/s.ts': 'export const s = 1;\n',
        'src/rpc/r.ts': `import { s } from '../sim/s.ts';\nexport const r = s;\n`,
      },
    ],
    [
      'mock-engine',
      'the mock engine uses the server',
      {
        'src/rpc/r.ts': 'export const r = 1;\n',
        'src/mock-engine/m.ts': `import { r } from '../rpc/r.ts';\nexport const m = r;\n`,
      },
    ],
    [
      'sim',
      'the simulator uses the mock engine',
      {
        'src/mock-engine/m.ts': 'export const m = 1;\n',
        'src/sim/s.ts': `import { m } from '../mock-engine/m.ts';\nexport const s = m;\n`,
      },
    ],
    [
      'node-only-where-files-are-read-and-written',
      'the simulator reads files',
      {
        'src/sim/s.ts': `import { readFileSync } from 'node:fs';\nexport const s = readFileSync;\n`,
      },
    ],
    [
      'sim',
      'the simulator uses a page',
      {
        'src/pages/report/p.ts': 'export const p = 1;\n',
        'src/sim/s.ts': `import { p } from '../pages/report/p.ts';\nexport const s = p;\n`,
      },
    ],
    [
      'pages',
      'a page uses the command line, if only its types',
      {
        'src/cli/c.ts': 'export type C = 1;\n',
        'src/pages/debug/p.ts': `import type { C } from '../../cli/c.ts';\nexport const p: C = 1;\n`,
      },
    ],
    [
      'pages',
      'a page uses another',
      {
        'src/pages/debug/p.ts': 'export const p = 1;\n',
        'src/pages/dashboard/p.ts': `import { p } from '../debug/p.ts';\nexport const q = p;\n`,
      },
    ],
    [
      'of-pages-only-what-they-are-served-as',
      'the command line uses what runs in a browser',
      {
        'src/pages/debug/p.ts': 'export const p = 1;\n',
        'src/cli/c.ts': `import { p } from '../pages/debug/p.ts';\nexport const c = p;\n`,
      },
    ],
    [
      'node-only-where-files-are-read-and-written',
      'a page reads files',
      {
        'src/pages/debug/p.ts': `import { readFileSync } from 'node:fs';\nexport const p = readFileSync;\n`,
      },
    ],
    [
      'no-cycles',
      'two files of the core need each other, if only for types',
      {
        'src/core/a.ts': `import type { B } from './b.ts';\nexport type A = B | 1;\n`,
        'src/core/b.ts': `import type { A } from './a.ts';\nexport type B = A | 2;\n`,
      },
    ],
  ])('%s: %s', async (rule, _, files) => {
    const found = await broken(project(files));
    expect(found.map((one) => one.split(':')[0])).toContain(rule);
  });
});
