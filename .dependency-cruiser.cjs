// Layers point one way: errors <- schemas <- core <- policies, planners <- recipes <- registry, index <- sim, testing <- cli.
const layer = (name, from, allowed) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { path: '^src/', pathNot: allowed },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles-between-folders', severity: 'error', from: { path: '^src/([^/]+)/' }, to: { circular: true, path: '^src/', pathNot: '^src/$1/' } },
    layer('errors-alone', '^src/errors\\.ts$', '^$'),
    layer('schemas', '^src/schemas/', '^src/(errors\\.ts|schemas/)'),
    layer('core', '^src/core/', '^src/(errors\\.ts|schemas/|core/)'),
    {
      name: 'policies-never-import-each-other',
      severity: 'error',
      from: { path: '^src/(policies|planners)/([^/]+)/' },
      to: { path: '^src/', pathNot: '^src/(errors\\.ts|schemas/|core/|(policies|planners)/$2/)' },
    },
    layer('recipes', '^src/recipes/', '^src/(errors\\.ts|schemas/|core/|(policies|planners)/[^/]+/index\\.ts$|recipes/)'),
    layer('registry', '^src/registry\\.ts$', '^src/(errors\\.ts|schemas/|core/|(policies|planners|recipes)/[^/]+/index\\.ts$)'),
    layer('testing', '^src/testing/', '^src/(errors\\.ts|schemas/|core/|testing/|registry\\.ts)'),
    layer('sim', '^src/sim/', '^src/(errors\\.ts|schemas/|core/|(policies|planners|recipes)/[^/]+/index\\.ts$|registry\\.ts|sim/)'),
    {
      name: 'node-only-in-transports-and-reports',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli/|rpc/transports/|sim/report/(write|bundle)\\.ts)' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'root-stays-light',
      severity: 'error',
      from: { path: '^src/(errors|index|registry)\\.ts|^src/(schemas|core|policies|planners|recipes)/' },
      to: { path: 'node_modules', pathNot: 'node_modules/(zod|eventemitter3)/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
};
