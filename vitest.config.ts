import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const src = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests and documentation snippets import the package by its public names.
    alias: [
      { find: /^rollflex$/, replacement: src('index.ts') },
      { find: /^rollflex\/(schemas|sim|testing)$/, replacement: src('$1/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    setupFiles: ['test/setup.ts'],
  },
});
