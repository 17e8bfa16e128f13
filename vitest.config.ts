import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const src = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests and documentation snippets import the package by its public names.
    alias: [
      { find: /^rollflex$/, replacement: src('index.ts') },
      { find: /^rollflex\/(mock-engine|rpc|schemas|sim|testing)$/, replacement: src('$1/index.ts') },
      { find: /^(@tensorflow\/tfjs-[a-z-]+)$/, replacement: '$1/dist/index.js' },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    globalSetup: ['test/build-command-line.ts'],
    hookTimeout: 60_000,
    setupFiles: ['test/setup.ts'],
    // Its gradients are modules beside the bundle that Node would load: all of it comes from the modules.
    server: { deps: { inline: [/@tensorflow\/tfjs/] } },
  },
});
