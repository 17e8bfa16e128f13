/** For a build: files that code opens beside itself at run time. They must be in the product, where no import asks for them. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Metafile, Plugin } from 'esbuild';
import ts from 'typescript';
import { charts, type PageName, pageSource } from '../../src/sim/report/page-script.ts';
import { builtIn } from './notices.ts';

/**
 * What opens a file beside the code, each a function of `src`: `startThread('./source.ts', import.meta.url, …)` by the path of its
 * source, `pageScript('report', import.meta.url)` by the name of the page.
 */
const openers = { startThread: './source.ts', pageScript: 'page' } as const;
/** It looks for the data of the package, `examples/traces`, which every product has. */
const findsData = 'src/logs/index/package.ts';

/** A file that code opens beside itself. */
export interface Opening {
  readonly by: keyof typeof openers;
  /** Of a thread the path of its source, from that of the code: `./plan-worker.ts`. Of a script the name of its page. */
  readonly what: string;
}

/**
 * Finds in a source what it opens beside itself.
 *
 * @throws Error if it uses `import.meta.url` in another way: nobody could tell what it opens
 */
export function openingsIn(path: string, text: string): Opening[] {
  // Most sources need not be parsed.
  if (!text.includes('import.meta.url')) return [];
  const found: Opening[] = [];
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && ts.isMetaProperty(node.expression) && node.name.text === 'url') {
      const call = node.parent;
      const name = ts.isCallExpression(call) ? call.expression.getText() : '';
      const by = Object.hasOwn(openers, name) ? (name as keyof typeof openers) : undefined;
      const [what, caller] = ts.isCallExpression(call) ? call.arguments : [];
      if (by === undefined || caller !== node || what === undefined || !ts.isStringLiteral(what)) {
        const line = file.getLineAndCharacterOfPosition(node.pos).line + 1;
        const ways = Object.entries(openers).map(([opener, opened]) => `${opener}('${opened}', import.meta.url)`);
        throw new Error(`${path}:${line}: expected ${ways.join(' or ')}`);
      }
      found.push({ by, what: what.text });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Sources of what stands beside the library, by the names of their files without extension. */
export interface Bundles {
  /** The command line, and the threads of all that Node runs. */
  readonly commands: Readonly<Record<string, string>>;
  /** Scripts of pages. */
  readonly pages: Readonly<Record<string, string>>;
}

/**
 * Finds what the code of a build opens beside itself, and a product does not have.
 *
 * @param extension - that of threads; scripts of pages have `.js` beside code of every format
 */
export const missingBeside = (metafile: Metafile, { commands, pages }: Bundles, extension: '.js' | '.cjs'): string[] =>
  [...new Set(builtIn(metafile))]
    .filter((path) => path.startsWith('src/') && path !== findsData)
    .flatMap((path) =>
      openingsIn(path, readFileSync(path, 'utf8')).flatMap(({ by, what }) => {
        const isPage = by === 'pageScript';
        const own = isPage ? pageSource(what as PageName) : join(dirname(path), what);
        const opened: [name: string, source: string][] = [[basename(own, '.ts'), own]];
        if (isPage) opened.push([charts.name, charts.source]);
        return opened
          .filter(([name, source]) => (isPage ? pages : commands)[name] !== source)
          .map(
            ([name]) =>
              `${path} opens ${name}${isPage ? '.js' : extension}, which scripts/build/bundles.ts does not build`,
          );
      }),
    );

/** Fails a build whose code opens a file beside itself that the product does not have. */
export const opensOnly = (bundles: Bundles, extension: '.js' | '.cjs'): Plugin => ({
  name: 'beside',
  setup: ({ initialOptions, onEnd }) => {
    initialOptions.metafile = true;
    onEnd(({ metafile }) => ({
      errors: metafile === undefined ? [] : missingBeside(metafile, bundles, extension).map((text) => ({ text })),
    }));
  },
});
