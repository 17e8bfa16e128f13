/** Scripts of pages without the chart library: it is a script of its own, which is read before any of them. */
import type { Plugin } from 'esbuild';

/** Where the library leaves its functions for the script that follows. */
export const chartsGlobal = 'rollflexCharts';

/** Takes the functions of the library from there, in place of the library. */
export const chartsApart: Plugin = {
  name: 'charts-apart',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /\/echarts\.ts$/ }, () => ({ path: 'charts', namespace: 'charts-apart' }));
    onLoad({ filter: /^/, namespace: 'charts-apart' }, () => ({ contents: `module.exports = ${chartsGlobal};` }));
  },
};
