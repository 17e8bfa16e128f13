/** The typed models of the Python package, from the schemas: file by file. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type AnyPolicyDefinition, registry } from '../../src/index.ts';
import { type MethodWord, methods, notifications } from '../../src/rpc/index.ts';
import type { DecisionWord, EventWord } from '../../src/schemas/index.ts';
import { shapeOf, sharedObjects } from '../schema-table.ts';
import { className } from '../text.ts';
import { ClassWriter } from './classes.ts';
import { head, indexText, type Module, moduleText } from './modules.ts';
import { knownObjects, wordShape } from './shapes.ts';
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

type Words = ReadonlyMap<string, { readonly name: string; readonly module: string }>;

/** One module for each file of words. */
async function wordModules(of: 'events' | 'decisions'): Promise<Module[]> {
  const folder = fileURLToPath(new URL(`../../src/schemas/${of}`, import.meta.url));
  const side = of === 'events' ? 'input' : 'output';
  const files = readdirSync(folder)
    .filter((name) => name !== 'index.ts')
    .sort();
  return Promise.all(
    files.map(async (file) => {
      const exported = Object.values((await import(`${folder}/${file}`)) as Record<string, EventWord | DecisionWord>);
      const words = exported.filter((one) => typeof one === 'object' && 'type' in one && 'schema' in one);
      const writer = new ClassWriter(side, knownObjects());
      for (const word of [...words].sort((a, b) => (a.type < b.type ? -1 : 1))) {
        const kind = 'kind' in word ? `A ${word.kind}. ` : '';
        writer.writeTop(className(word.type), wordShape(word, side), `${kind}${word.description}`);
      }
      const path = `${of}/${moduleName(file.replace('.ts', ''))}`;
      const about = `${of === 'events' ? 'Events' : 'Decisions'}: ${file.replace('.ts', '').replaceAll('-', ' ')}.`;
      const text = moduleText(about, writer.sources, new Map([['..objects', writer.used]]), 2);
      return { path, names: writer.tops, text };
    }),
  );
}

function policyModule(policy: AnyPolicyDefinition, words: Words): Module {
  const name = className(policy.id);
  const writer = new ClassWriter('input', knownObjects());
  writer.writeTop(`${name}Config`, shapeOf(policy.config, 'input'), `Configuration of \`${policy.id}\`.`);
  const imports = new Map<string, Set<string>>([['..objects', writer.used]]);
  const listed = (of: readonly EventWord[]) =>
    of.map(({ type }) => {
      const word = words.get(type);
      if (word === undefined) throw new Error(`${policy.id}: no Python class for ${type}`);
      const module = `..${word.module.replace('/', '.')}`;
      imports.set(module, (imports.get(module) ?? new Set()).add(word.name));
      return word.name;
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
  for (const word of methods as readonly MethodWord[]) {
    const name = className(word.name);
    input.writeTop(`${name}Params`, shapeOf(word.params, 'input'), `Parameters of \`${word.name}\`. ${word.summary}`);
    output.writeTop(`${name}Result`, shapeOf(word.result, 'output'), `Result of \`${word.name}\`.`);
  }
  for (const word of notifications as readonly MethodWord[]) {
    output.writeTop(`${className(word.name)}Params`, shapeOf(word.params, 'output'), word.summary);
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
  const events = await wordModules('events');
  const decisions = await wordModules('decisions');
  const words = new Map<string, { name: string; module: string }>();
  for (const { path, names } of [...events, ...decisions]) {
    for (const name of names) words.set(name, { name, module: path });
  }
  const byType = new Map<string, { name: string; module: string }>();
  for (const policy of registry.policies) {
    for (const { type } of [...policy.events, ...policy.decisions]) byType.set(type, words.get(className(type))!);
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
