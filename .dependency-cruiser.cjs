// Layers point one way: errors <- schemas <- core <- policies, planners <- recipes <- registry, testing <- logs <- index, rpc <- embedded, sim <- mock-engine, pages <- cli.
const layer = (name, from, allowed) => ({
  name,
  comment: 'Layers point one way; see CONTRIBUTING.md.',
  severity: 'error',
  from: { path: from },
  to: { path: '^src/', pathNot: allowed },
});
// Three rings: what decides, what serves it, and the tools; each imports those within it.
const ring = (name, from, outside) => ({
  name: `ring-${name}`,
  comment: 'What decides <- what serves it <- tools; see CONTRIBUTING.md.',
  severity: 'error',
  from: { path: from },
  to: { path: `^src/(${outside})/` },
});
const words = 'generated/messages/';
const below = `errors\\.ts$|schemas/|core/|${words}`;
const parts = '(policies|planners|recipes)/[^/]+/index\\.ts$';
// Settings of parts: recipes and the simulator build theirs of them. A host has them as `definition.config`.
const settings = '(policies|planners)/[^/]+/schema\\.ts$';
// Likely events for the property kit: no definition imports them.
const arbitraries = '(policies|recipes)/[^/]+/arbitrary\\.ts$';

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Of types neither.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ring(
      'sdk',
      '^src/(errors|registry)\\.ts$|^src/(schemas|core|policies|planners|recipes|testing|generated)/',
      'logs|rpc|embedded|sim|pages|mock-engine|cli',
    ),
    ring('serve', '^src/(logs|rpc|embedded)/', 'sim|pages|mock-engine|cli'),
    layer('errors-alone', '^src/errors\\.ts$', '^$'),
    layer('schemas', '^src/schemas/', `^src/(errors\\.ts$|schemas/|${words})`),
    // Types alone: of the words, and of the settings of definitions.
    layer('generated', '^src/generated/(messages|settings)/', `^src/(schemas/|${words}|generated/settings/)`),
    layer('core', '^src/core/', `^src/(${below})`),
    {
      name: 'policies-never-import-each-other',
      severity: 'error',
      from: { path: '^src/(policies|planners)/([^/]+)/' },
      to: { path: '^src/', pathNot: `^src/(${below}|$1/$2/|generated/settings/$2\\.ts$)` },
    },
    layer(
      'recipes',
      '^src/recipes/([^/]+)/',
      `^src/(${below}|(policies|planners)/[^/]+/index\\.ts$|${settings}|policies/[^/]+/arbitrary\\.ts$|recipes/|generated/settings/)`,
    ),
    {
      name: 'likely-events-do-not-ship',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/|/arbitrary\\.ts$' },
      to: { path: '/arbitrary\\.ts$' },
    },
    layer('registry', '^src/registry\\.ts$', `^src/(${below}|${parts})`),
    // A policy and its event log are of one entry.
    layer('index', '^src/index\\.ts$', `^src/(${below}|registry\\.ts$|${parts}|logs/format/event-log\\.ts$)`),
    layer('testing', '^src/testing/', `^src/(${below}|${parts}|${arbitraries}|testing/|registry\\.ts$)`),
    // A server has a watchdog for each session, and its log has what that says.
    layer('logs', '^src/logs/', `^src/(${below}|registry\\.ts$|policies/watchdog/index\\.ts$|logs/)`),
    layer('rpc', '^src/rpc/', `^src/(${below}|registry\\.ts$|policies/watchdog/(index|state)\\.ts$|logs/|rpc/)`),
    layer('embedded', '^src/embedded/', `^src/(${below}|logs/|rpc/|embedded/)`),
    layer('sim', '^src/sim/', `^src/(${below}|${parts}|${settings}|registry\\.ts$|logs/|sim/)`),
    // What runs in a browser, with types and pure functions of what it shows. Pages share the kit, and nothing else.
    layer('pages', '^src/pages/kit/', `^src/(${below}|logs/|sim/|pages/kit/)`),
    layer('pages', '^src/pages/(report|debug|dashboard)/', `^src/(${below}|logs/|sim/|pages/(kit|$1)/)`),
    {
      name: 'of-pages-only-what-they-are-served-as',
      comment: 'A script of a page is found by its name.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/pages/' },
      to: { path: '^src/pages/', pathNot: '^src/pages/(debug|dashboard)/page\\.ts$' },
    },
    layer('mock-engine', '^src/mock-engine/', `^src/(${below}|sim/|mock-engine/)`),
    {
      name: 'node-only-where-files-are-read-and-written',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot:
          '^src/(cli/|mock-engine/|rpc/transports/|rpc/journal/|logs/index/|logs/write/(file-log|files)\\.ts$|sim/report/(write|page-script)\\.ts$)',
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'root-stays-light',
      severity: 'error',
      from: { path: '^src/(errors|index|registry)\\.ts$|^src/(schemas|core|policies|planners|recipes)/' },
      to: { path: 'node_modules', pathNot: 'node_modules/(zod|eventemitter3)/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
};
