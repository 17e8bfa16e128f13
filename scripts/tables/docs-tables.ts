/**
 * The generated parts of the documentation. In a Markdown file they stand between
 * `<!-- generated: KIND ID -->` and `<!-- /generated -->`.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type AnyDefinition,
  type AnyPlannerDefinition,
  type AnyPolicyDefinition,
  policyErrorCodes,
  registry,
} from '../../src/index.ts';
import { mockEngineOptionsSchema } from '../../src/mock-engine/index.ts';
import { decisionLogSchema, limitsSchema, methods, notifications, type RpcMethod } from '../../src/rpc/index.ts';
import { type DecisionMessage, decisions, type EventMessage, events } from '../../src/schemas/index.ts';
import { trainers } from '../../src/sim/advise/trainers.ts';
import { agenticPreset, agenticPresetIds } from '../../src/sim/agentic/presets.ts';
import type { Spread } from '../../src/sim/agentic/shape.ts';
import { dear, kindOf, kinds } from '../../test/budgets.ts';
import type { Difference } from '../../test/support/mock-engine/recorded/compare.ts';
import {
  type MissingRoutes,
  missingRoutes,
  sglangDifferences,
  vllmDifferences,
} from '../../test/support/mock-engine/recorded/differences.ts';
import { type Recording, readRecording } from '../../test/support/mock-engine/recorded/recording.ts';
import { exampleList } from './example-list.ts';
import { licenceTable } from './licences.ts';
import { gpuTable, modelList } from './model-tables.ts';
import { realRunsTables } from './real-runs-table.ts';
import { rowsOf, shapeOf, sharedObjects, table } from './schema-table.ts';
import { scorecardPart } from './scorecard-tables.ts';
import { siliconPart } from './silicon-tables.ts';

const folders = { policy: 'policies', planner: 'planners', recipe: 'recipes' } as const;

/** The README of a definition, from the root of the repository. */
function readmeOf({ kind, id }: Pick<AnyDefinition, 'kind' | 'id'>): string {
  return `src/${folders[kind]}/${id}/README.md`;
}

/** Files with generated parts, from the root of the repository. */
export const generatedFiles: readonly string[] = [
  'docs/index.md',
  'docs/your-job.md',
  'docs/agentic.md',
  'examples/README.md',
  'docs/vocabulary.md',
  'docs/writing-a-policy.md',
  'docs/errors.md',
  'docs/server.md',
  'docs/decision-log.md',
  'docs/mock-engine.md',
  'docs/package.md',
  'docs/reproduction.md',
  'docs/silicon.md',
  'docs/tested.md',
  'CONTRIBUTING.md',
  ...registry.definitions.map(readmeOf),
];

const code = (text: string): string => `\`${text}\``;

function policy(id: string): AnyPolicyDefinition {
  const found = registry.get(id);
  if (found.kind === 'planner') throw new Error(`${id} is a planner: it has no events`);
  return found;
}

function planner(id: string): AnyPlannerDefinition {
  const found = registry.get(id);
  if (found.kind !== 'planner') throw new Error(`${id} is a ${found.kind}: it has no input and no plan`);
  return found;
}

function policyTable(): string {
  return table(
    ['Id', 'Kind', 'What it does', 'From'],
    registry.definitions.map((one) => [`[${code(one.id)}](../${readmeOf(one)})`, one.kind, one.summary, one.source]),
  );
}

function budgetTable(): string {
  const own = (name: string): string => {
    const files = Object.entries(dear).filter(([file]) => kindOf(file).name === name);
    return files.map(([file, percent]) => `${code(file.replace('.test.ts', ''))} ${percent} %`).join(', ');
  };
  return table(
    ['Kind', 'Files of `test`', 'Each', 'In all', 'More for'],
    kinds.map(({ name, where, percentEach, percentInAll }) => [
      name,
      where,
      `${percentEach} %`,
      `${percentInAll} %`,
      own(name),
    ]),
  );
}

function trainerTable(): string {
  const can = (yes: boolean): string => (yes ? 'yes' : '');
  return table(
    [
      '`--trainer`',
      'Adapter',
      'More prompts',
      'More responses',
      'Aborts',
      'Partial rollout',
      'Rewards, GPUs to training, TP',
      'Older weights',
    ],
    trainers.map(({ id, adapter, page, levers: { responses, aborts, resumes, ...others }, staleness }) => [
      `[${id}](${page.replace('docs/', '')})`,
      adapter === null ? 'none: a host of your own' : code(adapter),
      'yes',
      can(responses),
      can(aborts),
      can(resumes),
      can(Object.values(others).every((one) => one)),
      staleness,
    ]),
  );
}

/** A region of the example of a policy, as a snippet; each goes on from the one before. */
function ownPolicyPart(id: string): string {
  const regions = ['longest-first.ts', 'likely.ts'].flatMap((name) => {
    const path = fileURLToPath(new URL(`../../examples/16-own-policy/${name}`, import.meta.url));
    return readFileSync(path, 'utf8')
      .split(/^\/\/ #region /m)
      .slice(1);
  });
  const found = regions.find((one) => one.startsWith(`${id}\n`));
  if (found === undefined) throw new Error(`the example has no region ${id}`);
  const text = found.slice(id.length + 1, found.indexOf('\n// #endregion'));
  // On the page, what another file of the example exports stands above.
  const code = text.replace(/^import [^\n]* from '\.\/[^\n]*\n/gm, '');
  return `\`\`\`ts${found === regions[0] ? '' : ' continued'}\n${code}\n\`\`\``;
}

function exampleTable(): string {
  return table(
    ['Variant', 'What it adds', 'Lines', 'How to run it'],
    exampleList().map((one) => [
      `[${one.name}](${one.name}/README.md)`,
      one.adds,
      String(one.lines),
      code(one.command),
    ]),
  );
}

function eventTable(messages: readonly EventMessage[]): string {
  return table(
    ['Event', 'Meaning'],
    messages.map((message) => [code(message.type), message.description]),
  );
}

function decisionTable(messages: readonly DecisionMessage[]): string {
  return table(
    ['Decision', 'Kind', 'Meaning', 'Reason codes'],
    messages.map((message) => [
      code(message.type),
      message.kind,
      message.description,
      message.reasons.map(code).join(', '),
    ]),
  );
}

/** What a caller writes: each field with its type, and whether it may be left out. */
const writtenTable = (first: string, rows: ReturnType<typeof rowsOf>): string =>
  table(
    [first, 'Type', 'Default', 'Meaning'],
    rows.map((row) => [
      code(row.name),
      row.type,
      row.required ? 'required' : row.default === '' ? '' : code(row.default),
      row.description,
    ]),
  );

const configTable = (id: string): string => writtenTable('Setting', rowsOf(shapeOf(policy(id).config)));

const inputTable = (id: string): string => writtenTable('Field', rowsOf(shapeOf(planner(id).input), '', true));

function planTable(id: string): string {
  return table(
    ['Field', 'Type', 'Meaning'],
    rowsOf(shapeOf(planner(id).plan), '', true).map((row) => [
      code(row.name) + (row.required ? '' : ', optional'),
      row.type,
      row.description,
    ]),
  );
}

function fieldTable(schema: EventMessage['schema'], leaveOut: readonly string[]): string {
  const rows = rowsOf(shapeOf(schema)).filter((row) => !leaveOut.includes(row.name) && !row.name.startsWith('reason.'));
  if (rows.length === 0) return 'No further fields.';
  return table(
    ['Field', 'Type', 'Meaning'],
    rows.map((row) => [code(row.name) + (row.required ? '' : ', optional'), row.type, row.description]),
  );
}

const everyMessage = ['type', 'at', 'reason'];

function eventReference(): string {
  return events
    .map(
      (message: EventMessage) =>
        `### ${code(message.type)}\n\n${message.description}\n\n${fieldTable(message.schema, everyMessage)}`,
    )
    .join('\n\n');
}

function reasonTable(message: DecisionMessage): string {
  const reason = shapeOf(message.schema).properties?.reason;
  const shapes = reason?.oneOf ?? reason?.anyOf ?? (reason === undefined ? [] : [reason]);
  return table(
    ['Reason', 'Numbers'],
    shapes.map((shape) => [
      code(String(shape.properties?.code?.const)),
      rowsOf(shape)
        .filter((row) => row.name !== 'code')
        .map((row) => code(row.name))
        .join(', ') || 'none',
    ]),
  );
}

function decisionReference(): string {
  return decisions
    .map(
      (message: DecisionMessage) =>
        `### ${code(message.type)}\n\nA ${message.kind}. ${message.description}\n\n${fieldTable(message.schema, everyMessage)}\n\n${reasonTable(message)}`,
    )
    .join('\n\n');
}

function objectReference(): string {
  return Object.entries(sharedObjects)
    .map(([name, schema]) => `### ${code(name)}\n\n${fieldTable(schema, [])}`)
    .join('\n\n');
}

function codeList(): string {
  return policyErrorCodes.map(code).join(', ');
}

function methodTable(messages: readonly RpcMethod[]): string {
  const fields = (schema: RpcMethod['params']): string =>
    rowsOf(shapeOf(schema))
      .filter((row) => !row.name.includes('.'))
      .map((row) => code(row.name + (row.required ? '' : '?')))
      .join(', ') || 'none';
  return table(
    ['Method', 'Meaning', 'Parameters', 'Result'],
    messages.map((message) => [code(message.name), message.summary, fields(message.params), fields(message.result)]),
  );
}

function methodReference(): string {
  return methods
    .filter((message) => Object.keys(message.params.shape).length > 0)
    .map((message: RpcMethod) => {
      const rows = rowsOf(shapeOf(message.params)).map((row) => [
        code(row.name) + (row.required ? '' : ', optional'),
        row.type,
        row.description,
      ]);
      return `#### ${code(message.name)}\n\n${table(['Parameter', 'Type', 'Meaning'], rows)}`;
    })
    .join('\n\n');
}

/** `maxDepth` as `--max-depth`. */
const optionOf = (name: string): string => code(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);

function logTable(): string {
  return table(
    ['Option', 'Default', 'Meaning'],
    rowsOf(shapeOf(decisionLogSchema)).map(({ name, default: usual, description }) => [
      optionOf(name),
      usual,
      description,
    ]),
  );
}

function limitTable(): string {
  return table(
    ['Limit', 'Option', 'Default', 'Meaning'],
    rowsOf(shapeOf(limitsSchema)).map(({ name, default: usual, description }) => [
      code(name),
      optionOf(name),
      usual,
      description,
    ]),
  );
}

function mockEngineTable(): string {
  return table(
    ['Option', 'Type', 'Default', 'Meaning'],
    rowsOf(shapeOf(mockEngineOptionsSchema)).map(({ name, type, default: usual, description }) => [
      code(name),
      name === 'faults' ? 'list of [faults](#faults)' : type,
      usual === '' ? '' : code(usual),
      description,
    ]),
  );
}

function differenceTable(
  differences: readonly Difference[],
  missing: readonly MissingRoutes[],
  { version, recorded, how, answers, routes: all }: Recording,
): string {
  const rows = differences.map(({ what, why }) => [what, why]);
  const left = new Set(all);
  for (const { routes, why } of missing) {
    const named = [...left].filter((one) => routes.test(one));
    for (const one of named) left.delete(one);
    const paths = new Set(named.map((one) => code(one.split(' ')[1]!)));
    rows.push([`no ${[...paths].join(', ')}`, why]);
  }
  const head = `Version ${version}, ${recorded}: ${Object.keys(answers).length} answers, ${all.length} routes. ${how}.`;
  return `${head}\n\n${table(['What is different', 'Why'], rows)}`;
}

/** Median and spread of a distribution. */
const spread = ({ median, sigma }: Spread): string => `${median} ± ${sigma}`;

function agenticTable(): string {
  const rows = agenticPresetIds.flatMap((id) => {
    const { label, source, shapes, job } = agenticPreset(id);
    return shapes.map((shape, index) => [
      index === 0 ? `${code(id)}: ${label}` : '',
      `${shape.prompts} × ${shape.samples}`,
      `${shape.sharedTokens} + ${spread(shape.promptTokens)}`,
      spread(shape.turns),
      spread(shape.generatedTokens),
      shape.tools.map(({ tool, seconds, tokens }) => `${tool}: ${spread(seconds)} s, ${spread(tokens)}`).join('; '),
      index === 0 ? `${job.engines} × ${Math.round(job.cost.kvCapacityTokens / 1000)}k` : '',
      index === 0 ? source : '',
    ]);
  });
  const head = [
    'Workload',
    'Programs',
    'Prompt',
    'Turns',
    'Generated a turn',
    'Tools: seconds, tokens',
    'KV cache',
    'Measured',
  ];
  return table(head, rows);
}

function render(kind: string, id: string): string {
  if (kind === 'own-policy') return ownPolicyPart(id);
  switch (`${kind} ${id}`) {
    case 'policies all':
      return policyTable();
    case 'examples all':
      return exampleTable();
    case 'trainers all':
      return trainerTable();
    case 'cluster models':
      return modelList();
    case 'cluster gpus':
      return gpuTable();
    case 'agentic workloads':
      return agenticTable();
    case 'licences all':
      return licenceTable();
    case 'real-runs all':
      return realRunsTables();
    case 'tests budgets':
      return budgetTable();
    case 'codes all':
      return codeList();
    case 'rpc methods':
      return methodTable(methods);
    case 'rpc notifications':
      return methodTable(notifications);
    case 'rpc parameters':
      return methodReference();
    case 'mock-engine options':
      return mockEngineTable();
    case 'mock-engine vllm':
      return differenceTable(vllmDifferences, missingRoutes.vllm, readRecording('vllm'));
    case 'mock-engine sglang':
      return differenceTable(sglangDifferences, missingRoutes.sglang, readRecording('sglang'));
    case 'rpc limits':
      return limitTable();
    case 'rpc log':
      return logTable();
    case 'vocabulary events':
      return eventReference();
    case 'vocabulary decisions':
      return decisionReference();
    case 'vocabulary objects':
      return objectReference();
  }
  switch (kind) {
    case 'events':
      return eventTable(policy(id).events);
    case 'decisions':
      return decisionTable(policy(id).decisions);
    case 'config':
      return configTable(id);
    case 'input':
      return inputTable(id);
    case 'plan':
      return planTable(id);
    case 'scorecard':
      return scorecardPart(id);
    case 'silicon':
      return siliconPart(id);
    default:
      throw new Error(`no generated part is called ${kind} ${id}`);
  }
}

const marked = /<!-- generated: (\S+) (\S+) -->\n[\s\S]*?<!-- \/generated -->/g;

/** The text of a Markdown file with its generated parts made anew. */
export function regenerate(text: string): string {
  return text.replace(
    marked,
    (_, kind: string, id: string) => `<!-- generated: ${kind} ${id} -->\n\n${render(kind, id)}\n\n<!-- /generated -->`,
  );
}

/** How many generated parts a text has. */
export function countParts(text: string): number {
  return text.match(marked)?.length ?? 0;
}
