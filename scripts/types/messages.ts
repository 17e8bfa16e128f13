/** Types of the vocabulary: its objects, an interface for each message, and all of them by their names. */
import { readdirSync } from 'node:fs';
import { obligations } from '../../src/core/why/obligations.ts';
import type { AnyDefinition } from '../../src/index.ts';
import { registry } from '../../src/registry.ts';
import type { DecisionMessage, EventMessage } from '../../src/schemas/index.ts';
import { className } from '../text.ts';
import { importsOf, moduleText } from './modules.ts';
import { namedTypes, objectsModule } from './named.ts';
import { reasonTypes } from './reasons.ts';
import { Stamped } from './stamped.ts';
import { ownMeanings, TypeWriter } from './type-writer.ts';

const folder = 'src/generated/messages';

type Message = EventMessage | DecisionMessage;

/** The messages of each family, events first. */
async function families(): Promise<Map<string, Message[]>> {
  const found = new Map<string, Message[]>();
  for (const of of ['events', 'decisions']) {
    const path = new URL(`../../src/schemas/${of}/`, import.meta.url);
    for (const file of readdirSync(path).sort()) {
      if (file === 'index.ts') continue;
      const exported = Object.values((await import(new URL(file, path).href)) as Record<string, Message>);
      const messages = exported.filter((one) => typeof one === 'object' && 'type' in one && 'schema' in one);
      messages.sort((a, b) => (a.type < b.type ? -1 : 1));
      found.set(file, [...(found.get(file) ?? []), ...messages]);
    }
  }
  return found;
}

/** Policies that take a decision of others as an event, in an order that is the same in every run. */
function takersOf(type: string): string[] {
  const takes = (one: AnyDefinition) => one.kind === 'policy' && one.events.some((event) => event.type === type);
  return registry.definitions.filter(takes).map(({ id }) => `\`${id}\``);
}

/** What a message is, beside its description. */
function kindOf(message: Message): string {
  const name = `\`${message.type}\``;
  if (!('kind' in message)) return `Event ${name}.`;
  if (message.kind === 'notice') {
    const takers = takersOf(message.type);
    return `Notice ${name}${takers.length === 0 ? '' : `; an event of ${takers.join(', ')}`}.`;
  }
  const by = obligations.get(message.type)?.answers ?? [];
  return `Command ${name}${by.length === 0 ? '' : `; answered by ${by.map((one) => `\`${one}\``).join(', ')}`}.`;
}

function familyText(file: string, messages: readonly Message[], stamped: Stamped, writer: TypeWriter): string {
  const declarations = messages.map((message) =>
    writer.declaration(
      className(message.type),
      message.schema,
      'output',
      [message.description, kindOf(message)],
      [stamped.of(message)],
    ),
  );
  const about = `Events and decisions: ${file.replace('.ts', '').replaceAll('-', ' ')}.`;
  return moduleText(about, importsOf(`${folder}/${file}`, writer.used), declarations);
}

function objectsText(stamped: Stamped, writer: TypeWriter): string {
  const declarations = namedTypes
    .filter(({ module }) => module === objectsModule)
    .map(({ name, schema, side }) => writer.declaration(name, schema, side));
  const about = 'Objects that events, decisions, configurations and inputs share.';
  return moduleText(about, [], [stamped.text, ...reasonTypes(ownMeanings.code!), ...declarations]);
}

function indexText(messages: ReadonlyMap<string, readonly Message[]>): string {
  const used = [...messages].flatMap(([file, some]) =>
    some.map(({ type }) => ({ name: className(type), module: `${folder}/${file}` })),
  );
  const imports = importsOf(`${folder}/index.ts`, used);
  const all = [...messages.values()].flat().sort((a, b) => (a.type < b.type ? -1 : 1));
  const fields = all.flatMap(({ type, description }) => [
    `  /** ${description} */`,
    `  '${type}': ${className(type)};`,
  ]);
  const exported = ['objects.ts', ...messages.keys()].sort().map((file) => `export type * from './${file}';`);
  const map = [
    '/** Every event and decision of the vocabulary, by its name. */',
    'export interface Messages {',
    ...fields,
    '}',
  ];
  return moduleText('Types of the vocabulary.', imports, [exported.join('\n'), map.join('\n')]);
}

/** Texts of the modules, by their paths from the root of the repository; whole: with nothing by reference. */
export async function messageTypes(isWhole: boolean): Promise<Map<string, string>> {
  const messages = await families();
  assertApart([...namedTypes.filter(({ module }) => module === objectsModule).map(({ name }) => name)], messages);
  const writerOf = () => (isWhole ? new TypeWriter() : new TypeWriter([]));
  const stamped = new Stamped([...messages.values()].flat());
  return new Map([
    [objectsModule, objectsText(stamped, writerOf())],
    ...[...messages].map(([file, all]): [string, string] => [
      `${folder}/${file}`,
      familyText(file, all, stamped, writerOf()),
    ]),
    [`${folder}/index.ts`, indexText(messages)],
  ]);
}

/** Two types of one name would be one: an interface is open. */
function assertApart(objects: readonly string[], messages: ReadonlyMap<string, readonly Message[]>): void {
  const seen = new Map<string, string>([...objects, 'Stamped', 'Coded', 'Because'].map((name) => [name, 'an object']));
  for (const { type } of [...messages.values()].flat()) {
    const name = className(type);
    const other = seen.get(name);
    if (other !== undefined) throw new Error(`${name} would be the type of ${type} and of ${other}`);
    seen.set(name, type);
  }
}
