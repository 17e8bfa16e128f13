/** The licences of what the page contains, in the page: they ask for it. */
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8').trim();
const texts = [
  'NOTICE',
  'LICENSE',
  'node_modules/echarts/NOTICE',
  ...['vue', 'zrender', 'zod', 'eventemitter3', 'simple-statistics', 'pure-rand'].map(
    (name) => `node_modules/${name}/LICENSE`,
  ),
  'node_modules/tslib/LICENSE.txt',
];

/** The plugin. */
export function licences(): Plugin {
  return {
    name: 'rollflex:licences',
    transformIndexHtml: () => [
      {
        tag: 'script',
        attrs: { type: 'text/plain', id: 'licences' },
        children: texts
          .map((path) => `== ${path}\n\n${read(path)}\n`)
          .join('\n')
          .replaceAll('</', '<\\/'),
        injectTo: 'body',
      },
    ],
  };
}
