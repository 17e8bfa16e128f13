/** Types of each definition: its settings, and what it is told and answers, in a module of its own. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type {
  AnyDefinition,
  AnyPlannerDefinition,
  AnyPolicyDefinition,
  DecisionMessage,
  EventMessage,
} from '../../src/index.ts';
import * as rollflex from '../../src/index.ts';
import { isReported, type Side, shapeOf } from '../tables/schema-table.ts';
import { className } from '../text.ts';
import { comment } from './comment.ts';
import { importsOf, moduleText, unionOf } from './modules.ts';
import { namedTypes } from './named.ts';
import { folderOf, partsOf } from './parts.ts';
import type { Declared } from './sharing.ts';
import { fieldsKey, TypeWriter } from './type-writer.ts';

/** Its name in types: that of its constant, such as `TailBatching`. */
export function typeName(definition: AnyDefinition): string {
  const found = Object.entries(rollflex).find(([, value]) => value === definition);
  if (found === undefined) throw new Error(`${definition.id}: src/index.ts does not export it`);
  return className(found[0]);
}

/** The module of its types, from the root of the repository. */
export const typesFile = ({ id }: AnyDefinition): string => `src/generated/settings/${id}.ts`;
const entryFile = (definition: AnyDefinition): string => `${folderOf(definition)}/index.ts`;

interface Top {
  readonly name: string;
  readonly schema: EventMessage['schema'];
  readonly side: Side;
  readonly about: string;
}

/** The settings of a definition, as they are written and as they are read. */
function settingsOf(definition: AnyDefinition): [Top, Top] {
  const { id } = definition;
  const name = typeName(definition);
  const isPlanner = definition.kind === 'planner';
  const schema = isPlanner ? definition.input : definition.config;
  const what = isPlanner ? 'Input' : 'Configuration';
  return [
    { name: `${name}Input`, schema, side: 'input', about: `${what} of \`${id}\`, as a caller writes it.` },
    {
      name: `${name}${isPlanner ? 'Settings' : 'Config'}`,
      schema,
      side: 'output',
      about: `${what} of \`${id}\`, its defaults filled in.`,
    },
  ];
}

/** A type, for others that have fields of it. */
function declaredBy(module: string, { name, schema, side }: Omit<Top, 'about'>): Declared {
  const fields = new TypeWriter([]).fieldsOf(name, schema, side);
  return { name, module, side, fields, key: fieldsKey(shapeOf(schema, side)) };
}

/** The types of the settings of its parts, for those of a recipe. */
const knownTo = (definition: AnyDefinition): Declared[] =>
  partsOf(definition).flatMap((part) => settingsOf(part).map((one) => declaredBy(typesFile(part), one)));

/** Declares types, and those with a name that its module has beside them: what is read has of what is written all that is the same. */
function declare(file: string, tops: readonly Top[], writer: TypeWriter): string[] {
  const beside = namedTypes.filter((one) => one.module === file && tops.every(({ name }) => name !== one.name));
  const all = [...tops, ...beside];
  return all.map((one, at) => {
    const earlier = all.slice(0, at).filter(({ schema }) => schema === one.schema);
    const about = 'about' in one ? [one.about] : undefined;
    return writer.declaration(
      one.name,
      one.schema,
      one.side,
      about,
      earlier.map((other) => declaredBy(file, other)),
    );
  });
}

function policyText(policy: AnyPolicyDefinition, isWhole: boolean): string {
  const file = typesFile(policy);
  const name = typeName(policy);
  const writer = new TypeWriter(isWhole ? undefined : knownTo(policy));
  const declared = declare(file, settingsOf(policy), writer);
  const ofKind = (kind: DecisionMessage['kind']) => policy.decisions.filter((message) => message.kind === kind);
  const unions = [
    messageUnion(`${name}Event`, policy.events, `What \`${policy.id}\` is told.`, reportedName),
    messageUnion(`${name}Command`, ofKind('command'), `What \`${policy.id}\` asks of the host.`),
    messageUnion(`${name}Notice`, ofKind('notice'), `What \`${policy.id}\` lets others know.`),
    [
      ...comment([`What \`${policy.id}\` answers.`], ''),
      unionOf(`${name}Decision`, [`${name}Command`, `${name}Notice`]),
    ].join('\n'),
    [
      ...comment([`All types of \`${policy.id}\`, for its definition.`], ''),
      `export interface ${name}Types {`,
      ...field('id', `'${policy.id}'`, 'Id of the definition.'),
      ...field('input', `${name}Input`, 'Configuration, as a caller writes it.'),
      ...field('config', `${name}Config`, 'Configuration, its defaults filled in.'),
      ...field('event', `${name}Event`, 'What it is told.'),
      ...field('decision', `${name}Decision`, 'What it answers.'),
      ...field('command', `${name}Command['type']`, 'Types of the decisions that a host must carry out.'),
      '}',
    ].join('\n'),
  ];
  const messages = [...policy.events, ...policy.decisions].map(({ type }) => ({
    name: className(type),
    module: 'src/generated/messages/index.ts',
  }));
  const reported = policy.events.some(isReported) ? [{ name: 'Reported', module: 'src/schemas/messages.ts' }] : [];
  const imports = importsOf(file, [...writer.used, ...messages, ...reported]);
  return moduleText(`Types of \`${policy.id}\`: its settings, what it is told, and what it answers.`, imports, [
    ...declared,
    ...unions,
  ]);
}

const field = (name: string, type: string, about: string): string[] => [
  ...comment([about], '  '),
  `  readonly ${name}: ${type};`,
];

const reportedName = (message: EventMessage): string =>
  isReported(message) ? `Reported<${className(message.type)}>` : className(message.type);

function messageUnion(
  name: string,
  messages: readonly EventMessage[],
  about: string,
  nameOf: (message: EventMessage) => string = ({ type }) => className(type),
): string {
  const members = [...new Set(messages.map(nameOf))].sort();
  return [...comment([about], ''), unionOf(name, members)].join('\n');
}

function plannerText(planner: AnyPlannerDefinition, isWhole: boolean): string {
  const file = typesFile(planner);
  const name = typeName(planner);
  const writer = isWhole ? new TypeWriter() : new TypeWriter([]);
  const plan: Top = { name: `${name}Plan`, schema: planner.plan, side: 'output', about: `Plan of \`${planner.id}\`.` };
  const declared = declare(file, [...settingsOf(planner), plan], writer);
  return moduleText(`Types of \`${planner.id}\`: its input and its plan.`, importsOf(file, writer.used), declared);
}

const proofFile = 'test/types/definitions.ts';

/** Files of a definition's folder that declare its schemas. */
const schemaFiles = (one: AnyDefinition): string[] =>
  ['schema.ts', 'plan-schema.ts', `${one.id}.ts`]
    .map((file) => join(dirname(entryFile(one)), file))
    .filter((file) => existsSync(file));

/** The constant that holds a schema of a definition, and its file. */
async function constantOf(one: AnyDefinition, schema: unknown): Promise<{ name: string; file: string }> {
  for (const file of schemaFiles(one)) {
    const exported = (await import(`../../${file}`)) as Record<string, unknown>;
    const found = Object.keys(exported).find((name) => exported[name] === schema);
    if (found !== undefined) return { name: found, file };
  }
  throw new Error(`${one.id}: none of ${schemaFiles(one).join(', ')} exports the schema of its settings`);
}

/** What the compiler is asked: whether each type is that of its schema. */
async function proofText(): Promise<string> {
  const lines: string[] = [];
  const imports = new Map<string, string[]>();
  for (const one of rollflex.registry.definitions) {
    const name = typeName(one);
    const named = async (schema: unknown): Promise<string> => {
      const found = await constantOf(one, schema);
      imports.set(found.file, [...new Set([...(imports.get(found.file) ?? []), found.name])].sort());
      return found.name;
    };
    const given = await named(one.kind === 'planner' ? one.input : one.config);
    const sides = [
      ['Input', 'input', given],
      [one.kind === 'planner' ? 'Settings' : 'Config', 'output', given],
      ...(one.kind === 'planner' ? [['Plan', 'output', await named(one.plan)]] : []),
    ];
    for (const [suffix, side, schema] of sides) {
      const type = `${name}${suffix}`;
      const same = [`${name}.${type}`, `z.${side}<typeof ${schema}>`];
      const line = `  ${type}: Same<${same.join(', ')}>;`;
      lines.push(
        line.length <= 120 ? line : `  ${type}: Same<\n${same.map((text) => `    ${text}`).join(',\n')}\n  >;`,
      );
    }
  }
  return moduleText(
    'Each setting, and each part of a plan, has the type of its schema: the compiler says so.',
    [
      "import type { z } from 'zod';",
      ...[
        ...rollflex.registry.definitions.map((one) => [`* as ${typeName(one)}`, entryFile(one)]),
        ...[...imports].map(([file, names]) => [`{ ${names.join(', ')} }`, file]),
      ]
        .map(([what, file]) => `import type ${what} from '../../${file}';`)
        .sort((one, other) => (one.split("'")[1]! < other.split("'")[1]! ? -1 : 1)),
      "import type { AllTrue, Same } from './same.ts';",
    ],
    [['export type Definitions = AllTrue<{', ...lines, '}>;'].join('\n')],
  );
}

/** All that the entries of definitions export. The build makes one file of it: many files take longer to load. */
function entriesText(): string {
  const lines = rollflex.registry.definitions.map(
    (one) => `export * from '../${entryFile(one).slice('src/'.length)}';`,
  );
  return moduleText('What the entries of all definitions export.', [], [lines.sort().join('\n')]);
}

/** Texts of the modules, by their paths from the root of the repository; whole: with nothing by reference. */
export async function definitionTypes(isWhole: boolean): Promise<Map<string, string>> {
  return new Map([
    [proofFile, await proofText()],
    ['src/generated/definitions.ts', entriesText()],
    ...rollflex.registry.definitions.map((one): [string, string] => [
      typesFile(one),
      one.kind === 'planner' ? plannerText(one, isWhole) : policyText(one, isWhole),
    ]),
  ]);
}
