/** The typed models of the Python package, from the schemas: file by file. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type AnyDefinition, type AnyPolicyDefinition, registry } from '../../src/index.ts';
import { methods, notifications, type RpcMethod } from '../../src/rpc/index.ts';
import { whyResults } from '../../src/rpc/methods/methods.ts';
import type { DecisionMessage, EventMessage } from '../../src/schemas/index.ts';
import { isReported, type Shape, type Side, shapeOf } from '../tables/schema-table.ts';
import { className } from '../text.ts';
import { type Base, ClassWriter, classText, type Field, fieldText } from './classes.ts';
import { head, indexText, type Module, moduleText } from './modules.ts';
import { messageShape, Objects, vocabulary } from './shapes.ts';
import { modulePath, SharedSettings, settingsName, settingsShape } from './sharing.ts';
import { moduleName, union } from './text.ts';

/** What every event, decision and snapshot has, so that no other class repeats it. */
const bases: Readonly<Record<'events' | 'decisions' | 'snapshots', Base>> = {
  events: { name: 'AnyEvent', module: '_bases', keys: ['at'] },
  decisions: { name: 'AnyDecision', module: '_bases', keys: ['at'] },
  snapshots: { name: 'AnySnapshot', module: '_bases', keys: ['version', 'state', 'seq', 'at'] },
};

function basesModule(events: readonly EventMessage[], decisions: readonly EventMessage[]): string {
  const at = (messages: readonly EventMessage[], side: Side): Field => {
    const shapes = messages.map((one) => messageShape(one, side));
    const texts = new Set(shapes.map(({ properties }) => fieldText(properties?.at ?? {})));
    if (texts.size !== 1) throw new Error(`\`at\` means several things: ${[...texts].join(' ')}`);
    return { key: 'at', type: 'float', required: side === 'output', about: [...texts][0]! };
  };
  const field = (key: string, type: string, about: string): Field => ({ key, type, required: true, about });
  const parts = [
    classText(bases.events.name, 'What every event has.', [at(events, 'input')]),
    classText(bases.decisions.name, 'What every decision has.', [at(decisions, 'output')]),
    classText(bases.snapshots.name, 'What every snapshot has.', [
      field('version', 'int', 'Version of the policy that wrote it.'),
      field('state', 'Any', 'The state, as the policy writes it.'),
      field('seq', 'int', 'Events applied so far.'),
      field('at', 'float', 'Latest time seen, in seconds.'),
    ]),
  ];
  return moduleText('What all classes of a kind have.', parts, new Map(), '_bases');
}

function objectsModule(objects: Objects): Module {
  const waiting = new Map(
    Object.entries(vocabulary).map(([name, schema]) => [name, shapeOf(schema, 'input')] as const),
  );
  const writer = new ClassWriter('objects', objects);
  for (const [name, shape] of waiting) objects.add(shape, 'input', { name, module: 'objects' });
  // What is used by others comes first.
  while (waiting.size > 0) {
    for (const [name, shape] of waiting) {
      if ([...waiting].some(([other, one]) => other !== name && uses(shape, one, objects))) continue;
      writer.writeTop(name, shape, 'input', shape.description ?? `An object of the vocabulary: \`${name}\`.`);
      waiting.delete(name);
    }
  }
  const text = moduleText('Objects that several events and decisions share.', writer.sources, new Map(), 'objects');
  return { path: 'objects', names: writer.tops, text };
}

/** Whether an object has the other one in it. */
function uses(shape: Shape, other: Shape, objects: Objects): boolean {
  const parts = [...Object.values(shape.properties ?? {}), ...(shape.items === undefined ? [] : [shape.items])];
  return parts.some(
    (part) => objects.find(part, 'input') === objects.find(other, 'input') || uses(part, other, objects),
  );
}

type Messages = Map<string, { readonly name: string; readonly module: string }>;

/** One module for each file of messages. */
async function messageModules(of: 'events' | 'decisions', objects: Objects, all: Map<string, EventMessage>) {
  const folder = fileURLToPath(new URL(`../../src/schemas/${of}`, import.meta.url));
  const side = of === 'events' ? 'input' : 'output';
  const files = readdirSync(folder)
    .filter((name) => name !== 'index.ts')
    .sort();
  const modules: Module[] = [];
  for (const file of files) {
    const exported = Object.values(
      (await import(`${folder}/${file}`)) as Record<string, EventMessage | DecisionMessage>,
    );
    const messages = exported.filter((one) => typeof one === 'object' && 'type' in one && 'schema' in one);
    const path = `${of}/${moduleName(file.replace('.ts', ''))}`;
    const writer = new ClassWriter(path, objects);
    for (const message of [...messages].sort((a, b) => (a.type < b.type ? -1 : 1))) {
      all.set(message.type, message);
      const kind = 'kind' in message ? `A ${message.kind}. ` : '';
      const about = `${kind}${message.description}`;
      writer.writeTop(className(message.type), messageShape(message, side), side, about, bases[of]);
      if (!isReported(message)) continue;
      const shape = messageShape(message, 'input');
      writer.writeTop(reportName(message), shape, 'input', `\`${message.type}\` as an event.`, bases.events);
    }
    const about = `${of === 'events' ? 'Events' : 'Decisions'}: ${file.replace('.ts', '').replaceAll('-', ' ')}.`;
    modules.push({ path, names: writer.tops, text: moduleText(about, writer.sources, writer.used, path) });
  }
  return modules;
}

const reportName = ({ type }: EventMessage): string => `${className(type)}Report`;
const eventNames = (message: EventMessage): string[] => [
  className(message.type),
  ...(isReported(message) ? [reportName(message)] : []),
];

/** The class of the settings of a definition, and those that it is made of. */
function writeSettings(writer: ClassWriter, one: AnyDefinition, about: string, shared: SharedSettings): void {
  const [name, shape] = [settingsName(one), settingsShape(one)];
  for (const group of shared.groupsOf(one)) writer.writeBase(group, name, shape, 'input', group.about);
  writer.writeTop(name, shape, 'input', about, ...shared.basesOf(one));
}

function policyModule(
  policy: AnyPolicyDefinition,
  messages: Messages,
  objects: Objects,
  shared: SharedSettings,
): Module {
  const name = className(policy.id);
  const path = modulePath(policy);
  const writer = new ClassWriter(path, objects);
  writeSettings(writer, policy, `Configuration of \`${policy.id}\`.`, shared);
  const listed = (names: readonly string[]) =>
    names.map((each) => {
      const message = messages.get(each);
      if (message === undefined) throw new Error(`${policy.id}: no Python class ${each}`);
      writer.use(message.module, message.name);
      return message.name;
    });
  // A policy may have commands alone, or notices alone.
  const kinds = [
    { kind: 'command', alias: `${name}Command`, about: `Decisions of \`${policy.id}\` that a host must carry out.` },
    { kind: 'notice', alias: `${name}Notice`, about: `Decisions of \`${policy.id}\` that a host may read.` },
  ].flatMap((one) => {
    const types = policy.decisions.filter(({ kind }) => kind === one.kind).map(({ type }) => className(type));
    return types.length === 0 ? [] : [{ ...one, types }];
  });
  writer.use('_bases', bases.snapshots.name);
  const field = (key: string, type: string): Field => ({ key, type, required: true, about: '' });
  const parts = [
    ...writer.sources,
    union(`${name}Event`, listed(policy.events.flatMap(eventNames)), `What \`${policy.id}\` is told.`),
    ...kinds.map(({ alias, types, about }) => union(alias, listed(types), about)),
    union(
      `${name}Decision`,
      listed(policy.decisions.map(({ type }) => className(type))),
      `What \`${policy.id}\` answers.`,
    ),
    classText(
      `${name}Snapshot`,
      `State of \`${policy.id}\`: what \`open(snapshot=…)\` takes.`,
      [field('policy', `Literal["${policy.id}"]`), field('config', `${name}Config`)],
      [bases.snapshots.name],
    ),
  ];
  const aliases = kinds.map(({ alias }) => alias);
  const names = [...writer.tops, `${name}Event`, ...aliases, `${name}Decision`, `${name}Snapshot`];
  return { path, names, text: moduleText(policy.summary, parts, writer.used, path) };
}

function plannerModule(planner: (typeof registry.planners)[number], objects: Objects, shared: SharedSettings): Module {
  const name = className(planner.id);
  const path = modulePath(planner);
  const writer = new ClassWriter(path, objects);
  writeSettings(writer, planner, `Input of \`${planner.id}\`.`, shared);
  writer.writeTop(`${name}Plan`, shapeOf(planner.plan, 'output'), 'output', `Plan of \`${planner.id}\`.`);
  return { path, names: writer.tops, text: moduleText(planner.summary, writer.sources, writer.used, path) };
}

function methodsModule(): Module {
  const writer = new ClassWriter('methods', new Objects());
  for (const message of methods as readonly RpcMethod[]) {
    const name = className(message.name);
    const about = `Parameters of \`${message.name}\`. ${message.summary}`;
    writer.writeTop(`${name}Params`, shapeOf(message.params, 'input'), 'input', about);
    if (message.name === 'session.why') continue;
    writer.writeTop(`${name}Result`, shapeOf(message.result, 'output'), 'output', `Result of \`${message.name}\`.`);
  }
  for (const message of notifications as readonly RpcMethod[]) {
    writer.writeTop(`${className(message.name)}Params`, shapeOf(message.params, 'output'), 'output', message.summary);
  }
  // What is always there with an id, or without, is a required key.
  for (const [name, result, about] of [
    ['SessionWhyResult', whyResults.one, 'Result of `session.why` with an id.'],
    ['SessionWhyAllResult', whyResults.all, 'Result of `session.why` without an id.'],
  ] as const) {
    writer.writeTop(name, shapeOf(result, 'output'), 'output', about);
  }
  const text = moduleText('Methods of the server: parameters and results.', writer.sources, writer.used, 'methods');
  return { path: 'methods', names: writer.tops, text };
}

const folder = 'python/src/rollflex/models';

/** Texts of the generated Python files, by their paths from the root of the repository. */
export async function pythonModels(): Promise<Map<string, string>> {
  const objects = new Objects();
  const shared = objectsModule(objects);
  const eventMessages = new Map<string, EventMessage>();
  const decisionMessages = new Map<string, EventMessage>();
  const events = await messageModules('events', objects, eventMessages);
  const decisions = await messageModules('decisions', objects, decisionMessages);
  const messages: Messages = new Map();
  for (const { path, names } of [...events, ...decisions]) {
    for (const name of names) messages.set(name, { name, module: path });
  }
  const settings = new SharedSettings();
  // A recipe has objects of its planners and of its parts.
  const planners = registry.planners.map((one) => plannerModule(one, objects, settings));
  const policies = registry.policies.map((one) => policyModule(one, messages, objects, settings));
  const modules = [shared, ...events, ...decisions, ...policies, ...planners, methodsModule()];
  const files = new Map(modules.map(({ path, text }) => [`${folder}/${path}.py`, text]));
  files.set(`${folder}/_bases.py`, basesModule([...eventMessages.values()], [...decisionMessages.values()]));
  files.set(`${folder}/__init__.py`, indexText(modules));
  for (const [name, about] of [
    ['events', 'Events, family by family.'],
    ['decisions', 'Decisions, family by family.'],
    ['policies', 'Policies and recipes: configuration, events, decisions and snapshot of each.'],
    ['planners', 'Planners: input and plan of each.'],
  ]) {
    files.set(`${folder}/${name}/__init__.py`, `${head}\n"""${about}"""\n`);
  }
  return files;
}
