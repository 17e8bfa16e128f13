/**
 * The playground as one file: scripts, styles, worker and traces are inside, so that it opens from a folder without a
 * server, and under any path of a site.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { licences } from './licences-plugin.ts';
import { gzipped } from './traces-plugin.ts';

const src = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  resolve: {
    // By its public names, as a user's bundler resolves them for a browser.
    alias: [
      { find: /^rollflex$/, replacement: src('index.ts') },
      { find: /^rollflex\/sim$/, replacement: src('sim/index.ts') },
    ],
  },
  define: {
    __VUE_OPTIONS_API__: 'false',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
  },
  plugins: [gzipped(), viteSingleFile(), licences()],
  worker: { plugins: () => [gzipped()] },
  build: { target: 'es2022', outDir: 'dist', emptyOutDir: true, chunkSizeWarningLimit: 4000 },
});
