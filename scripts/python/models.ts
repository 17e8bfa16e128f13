/** The typed models of the Python package, from the schemas: file by file. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type AnyPolicyDefinition, registry } from '../../src/index.ts';
import { methods, notifications, type RpcMethod } from '../../src/rpc/index.ts';
import type { DecisionMessage, EventMessage } from '../../src/schemas/index.ts';
import { shapeOf, sharedObjects } from '../schema-table.ts';
import { className } from '../text.ts';
import { ClassWriter } from './classes.ts';
import { head, indexText, type Module, moduleText } from './modules.ts';
import { knownObjects, messageShape } from './shapes.ts';
import { moduleName, union } from './text.ts';

function objectsModule(): Module {
  const parts: string[] = [];
  const names: string[] = [];
  // What is used by others comes first.
  const waiting = new Map(Object.entries(sharedObjects));
  while (waiting.size > 0) {
    for (const [name, schema] of waiting) {
      const writer = new ClassWriter('input', knownObjects(name));
      const shape = shapeOf(schema, 'input');
      writer.writeTop(className(name), shape, shape.description ?? `An object of the vocabulary: \`${name}\`.`);
      if (
        [...writer.used].some((one) => [...waiting.keys()].some((other) => other !== name && className(other) === one))
      ) {
        continue;
      }
      parts.push(...writer.sources);
      names.push(...writer.tops);
      waiting.delete(name);
    }
  }
  return {
    path: 'objects',
    names,
    text: moduleText('Objects that several events and decisions share.', parts, new Map(), 1),
  };
}

type Messages = ReadonlyMap<string, { readonly name: string; readonly module: string }>;

/** One module for each file of messages. */
async function messageModules(of: 'events' | 'decisions'): Promise<Module[]> {
  const folder = fileURLToPath(new URL(`../../src/schemas/${of}`, import.meta.url));
  const side = of === 'events' ? 'input' : 'output';
  const files = readdirSync(folder)
    .filter((name) => name !== 'index.ts')
    .sort();
  return Promise.all(
    files.map(async (file) => {
      const exported = Object.values(
        (await import(`${folder}/${file}`)) as Record<string, EventMessage | DecisionMessage>,
      );
      const messages = exported.filter((one) => typeof one === 'object' && 'type' in one && 'schema' in one);
      const writer = new ClassWriter(side, knownObjects());
      for (const message of [...messages].sort((a, b) => (a.type < b.type ? -1 : 1))) {
        const kind = 'kind' in message ? `A ${message.kind}. ` : '';
        writer.writeTop(className(message.type), messageShape(message, side), `${kind}${message.description}`);
      }
      const path = `${of}/${moduleName(file.replace('.ts', ''))}`;
      const about = `${of === 'events' ? 'Events' : 'Decisions'}: ${file.replace('.ts', '').replaceAll('-', ' ')}.`;
      const text = moduleText(about, writer.sources, new Map([['..objects', writer.used]]), 2);
      return { path, names: writer.tops, text };
    }),
  );
}

function policyModule(policy: AnyPolicyDefinition, messages: Messages): Module {
  const name = className(policy.id);
  const writer = new ClassWriter('input', knownObjects());
  writer.writeTop(`${name}Config`, shapeOf(policy.config, 'input'), `Configuration of \`${policy.id}\`.`);
  const imports = new Map<string, Set<string>>([['..objects', writer.used]]);
  const listed = (of: readonly EventMessage[]) =>
    of.map(({ type }) => {
      const message = messages.get(type);
      if (message === undefined) throw new Error(`${policy.id}: no Python class for ${type}`);
      const module = `..${message.module.replace('/', '.')}`;
      imports.set(module, (imports.get(module) ?? new Set()).add(message.name));
      return message.name;
    });
  const snapshot = [
    `class ${name}Snapshot(TypedDict):`,
    `    """State of \`${policy.id}\`: what \`open(snapshot=…)\` takes."""`,
    '',
    `    policy: Literal["${policy.id}"]`,
    '    version: int',
    '    """Version of the policy that wrote it."""',
    '',
    `    config: ${name}Config`,
    '    state: Any',
    '    seq: int',
    '    """Events applied so far."""',
    '',
    '    at: float',
    '    """Latest time seen, in seconds."""',
  ].join('\n');
  const parts = [
    ...writer.sources,
    union(`${name}Event`, listed(policy.events), `What \`${policy.id}\` is told.`),
    union(`${name}Decision`, listed(policy.decisions), `What \`${policy.id}\` answers.`),
    snapshot,
  ];
  const names = [...writer.tops, `${name}Event`, `${name}Decision`, `${name}Snapshot`];
  return { path: `policies/${moduleName(policy.id)}`, names, text: moduleText(policy.summary, parts, imports, 2) };
}

function plannerModule(planner: (typeof registry.planners)[number]): Module {
  const name = className(planner.id);
  const input = new ClassWriter('input', knownObjects());
  input.writeTop(`${name}Input`, shapeOf(planner.input, 'input'), `Input of \`${planner.id}\`.`);
  const plan = new ClassWriter('output', knownObjects());
  plan.writeTop(`${name}Plan`, shapeOf(planner.plan, 'output'), `Plan of \`${planner.id}\`.`);
  const imports = new Map([['..objects', new Set([...input.used, ...plan.used])]]);
  const text = moduleText(planner.summary, [...input.sources, ...plan.sources], imports, 2);
  return { path: `planners/${moduleName(planner.id)}`, names: [...input.tops, ...plan.tops], text };
}

function methodsModule(): Module {
  const input = new ClassWriter('input', new Map());
  const output = new ClassWriter('output', new Map());
  for (const message of methods as readonly RpcMethod[]) {
    const name = className(message.name);
    input.writeTop(
      `${name}Params`,
      shapeOf(message.params, 'input'),
      `Parameters of \`${message.name}\`. ${message.summary}`,
    );
    output.writeTop(`${name}Result`, shapeOf(message.result, 'output'), `Result of \`${message.name}\`.`);
  }
  for (const message of notifications as readonly RpcMethod[]) {
    output.writeTop(`${className(message.name)}Params`, shapeOf(message.params, 'output'), message.summary);
  }
  const text = moduleText(
    'Methods of the server: parameters and results.',
    [...input.sources, ...output.sources],
    new Map(),
    1,
  );
  return { path: 'methods', names: [...input.tops, ...output.tops], text };
}

const folder = 'python/src/rollflex/models';

/** Texts of the generated Python files, by their paths from the root of the repository. */
export async function pythonModels(): Promise<Map<string, string>> {
  const events = await messageModules('events');
  const decisions = await messageModules('decisions');
  const messages = new Map<string, { name: string; module: string }>();
  for (const { path, names } of [...events, ...decisions]) {
    for (const name of names) messages.set(name, { name, module: path });
  }
  const byType = new Map<string, { name: string; module: string }>();
  for (const policy of registry.policies) {
    for (const { type } of [...policy.events, ...policy.decisions]) byType.set(type, messages.get(className(type))!);
  }
  const policies = registry.policies.map((one) => policyModule(one, byType));
  const planners = registry.planners.map(plannerModule);
  const modules = [objectsModule(), ...events, ...decisions, ...policies, ...planners, methodsModule()];
  const files = new Map(modules.map(({ path, text }) => [`${folder}/${path}.py`, text]));
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
