/** The sidebar: pages by what a reader wants to do. Policies, planners, recipes and examples come from what there is. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { registry } from '../../src/registry.ts';
import { pageOf, root } from './pages.ts';

export interface Section {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: readonly Entry[];
}
/** A page, or a part of the site that is not made of Markdown. */
export interface Entry {
  readonly text: string;
  readonly link: string;
}
interface Part {
  readonly text: string;
  readonly collapsed?: boolean;
  /** File from the root of the repository, or a link, and what it is called. A file that is not there is left out. */
  readonly pages: readonly (readonly [file: string, text: string])[];
}

const folders = { policy: 'policies', planner: 'planners', recipe: 'recipes' } as const;
const ofKind = (kind: keyof typeof folders): [string, string][] =>
  registry.definitions
    .filter((one) => one.kind === kind)
    .map((one) => [`src/${folders[kind]}/${one.id}/README.md`, one.id]);

/** The examples, by their numbers, called by their first heading. */
function examples(): [string, string][] {
  const folders = readdirSync(`${root}examples`).filter((name) => /^\d\d-/.test(name));
  return folders.sort().map((name) => {
    const file = `examples/${name}/README.md`;
    const [, title] = /^# (.+)$/m.exec(readFileSync(root + file, 'utf8'))!;
    return [file, `${name.slice(0, 2)} ${title}`];
  });
}

const parts = (): Part[] => [
  {
    text: 'Start',
    pages: [
      ['docs/index.md', 'What it would do for your job'],
      ['/playground/', 'Playground'],
      ['docs/playground.md', 'What the playground shows'],
    ],
  },
  {
    text: 'Simulate your job',
    pages: [
      ['docs/your-job.md', 'From a dump to settings'],
      ['docs/simulator.md', 'The simulator'],
      ['docs/which-tail-policy.md', 'Which tail policy'],
      ['docs/prompt-selection.md', 'Prompts worth their tokens'],
      ['docs/traces.md', 'Traces'],
      ['docs/agentic.md', 'Agentic rollouts'],
    ],
  },
  {
    text: 'Embed it',
    pages: [
      ['docs/embedding.md', 'In TypeScript'],
      ['docs/python.md', 'In Python'],
      ['docs/ray.md', 'On Ray'],
      ['docs/adapters/sglang-vllm.md', 'Over SGLang or vLLM'],
    ],
  },
  {
    text: 'Beside your trainer',
    pages: [
      ['docs/adapters/index.md', 'All, side by side'],
      ['docs/adapters/verl.md', 'verl'],
      ['docs/adapters/slime.md', 'slime'],
      ['docs/adapters/roll.md', 'ROLL'],
      ['docs/adapters/nemo-rl.md', 'NeMo-RL'],
      ['docs/adapters/trl.md', 'TRL'],
    ],
  },
  {
    text: 'Operate the server',
    pages: [
      ['docs/operating.md', 'From start to a bad day'],
      ['docs/server.md', 'The server'],
      ['docs/explain.md', 'Why is it stuck'],
      ['docs/decision-log.md', 'Decision log, shadow mode'],
    ],
  },
  {
    text: 'Write a policy',
    pages: [
      ['docs/writing-a-policy.md', 'Policies, planners, recipes'],
      ['docs/testing-policies.md', 'Testing policies'],
      ['docs/tested.md', 'How it is tested'],
      ['docs/mock-engine.md', 'Mock engine'],
      ['src/mock-engine/README.md', 'Mock engine, inside'],
      ['CONTRIBUTING.md', 'Contributing'],
    ],
  },
  {
    text: 'Reproduce the papers',
    pages: [
      ['docs/reproduction.md', 'What matches, what does not'],
      ['docs/calibration.md', 'Calibration'],
      ['docs/silicon.md', 'Against measured silicon'],
    ],
  },
  { text: 'Recipes', collapsed: true, pages: ofKind('recipe') },
  { text: 'Policies', collapsed: true, pages: ofKind('policy') },
  { text: 'Planners', collapsed: true, pages: ofKind('planner') },
  { text: 'Examples', collapsed: true, pages: [['examples/README.md', 'All of them'], ...examples()] },
  {
    text: 'Reference',
    pages: [
      ['docs/cli.md', 'Command line'],
      ['docs/vocabulary.md', 'Events and decisions'],
      ['docs/metrics.md', 'Symbols and metrics'],
      ['docs/errors.md', 'Errors'],
      ['docs/package.md', 'Size and licences'],
      ['/api/', 'API'],
      ['python/README.md', 'Python package'],
      ['test/wire/README.md', 'Wire cases for other clients'],
      ['examples/traces/PROVENANCE.md', 'Where the traces come from'],
      ['CHANGELOG.md', 'Changelog'],
      ['SECURITY.md', 'Security'],
    ],
  },
];

/** The address of a page inside the site, without its base. */
export const linkOf = (file: string): string =>
  file.startsWith('/')
    ? file
    : `/${pageOf(file)
        .replace(/(^|\/)index\.md$/, '$1')
        .replace(/\.md$/, '.html')}`;

/** `apart` says which links outside Markdown are there: `/api/`, `/playground/`. */
export function sidebar(apart: readonly string[]): Section[] {
  const isThere = (file: string): boolean => (file.startsWith('/') ? apart.includes(file) : existsSync(root + file));
  return parts().map(({ text, collapsed, pages }) => ({
    text,
    ...(collapsed === undefined ? {} : { collapsed }),
    items: pages.filter(([file]) => isThere(file)).map(([file, name]) => ({ text: name, link: linkOf(file) })),
  }));
}
