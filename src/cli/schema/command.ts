/** `rollflex schema`: prints the JSON Schemas of the vocabulary, of configurations, and of inputs and plans of planners. */
import { Command } from 'commander';
import { z } from 'zod';
import { didYouMean } from '../../core/ids/nearest.ts';
import { refuse } from '../../errors.ts';
import { decisions, events } from '../../schemas/index.ts';
import { registryWith } from '../files/definitions.ts';
import { option } from '../terminal/options.ts';
import { print, printJson } from '../terminal/output.ts';

interface Item {
  readonly id: string;
  readonly kind: string;
  readonly summary: string;
  readonly schema: z.ZodType;
  /** Schema of the plan of a planner. */
  readonly plan?: z.ZodType;
}

/** Options as the command line gives them. */
export interface SchemaOptions {
  readonly json?: boolean;
  readonly plan?: boolean;
  readonly policies?: readonly string[];
}

/** A schema of one's own with a type that JSON Schema has no word for is shown without it. */
async function items(policies: readonly string[] | undefined): Promise<Item[]> {
  const { definitions } = await registryWith(policies);
  const shipped = [...events, ...decisions].map(({ type }) => type as string);
  const own = definitions.flatMap((one) =>
    one.kind === 'planner' ? [] : [...one.events, ...one.decisions].filter(({ type }) => !shipped.includes(type)),
  );
  return [
    ...definitions.map((one) => {
      const { id, kind, summary } = one;
      const schemas = one.kind === 'planner' ? { schema: one.input, plan: one.plan } : { schema: one.config };
      return { id, kind, summary, ...schemas };
    }),
    ...events.map(({ type, description, schema }) => ({ id: type, kind: 'event', summary: description, schema })),
    ...decisions.map((one) => ({ id: one.type, kind: one.kind, summary: one.description, schema: one.schema })),
    ...[...new Map(own.map((one) => [one.type, one])).values()].map((one) => {
      const kind = 'kind' in one ? String(one.kind) : 'event';
      return { id: one.type, kind, summary: one.description, schema: one.schema };
    }),
  ];
}

/** Inlines a named schema, which otherwise only refers to its definition: readers look for `properties` at the top. */
function unwrapped({ $ref, $defs, ...rest }: z.core.JSONSchema.BaseSchema): z.core.JSONSchema.BaseSchema {
  const name = $ref?.replace('#/$defs/', '');
  if (name === undefined) return { ...rest, ...($defs === undefined ? {} : { $defs }) };
  const { [name]: own, ...others } = $defs ?? {};
  return { ...rest, ...own, ...(Object.keys(others).length === 0 ? {} : { $defs: others }) };
}

/**
 * Prints the list, or one schema. Throws as `ownDefinitions` does; `PolicyError` `unknown_id`, `invalid_input` if a plan is asked for and the id is no
 * planner's.
 */
export async function runSchema(id: string | undefined, options: SchemaOptions): Promise<void> {
  const all = await items(options.policies);
  if (id === undefined) {
    if (options.plan) refuse('invalid_input', '--plan', 'a planner', id);
    if (options.json) printJson(all.map(({ id: name, kind, summary }) => ({ id: name, kind, summary })));
    else for (const one of all) print(`${one.kind.padEnd(8)} ${one.id.padEnd(24)} ${one.summary}`);
    return;
  }
  const found = all.find((one) => one.id === id);
  if (found === undefined) {
    const ids = all.map((one) => one.id);
    const own = id.includes('/') && options.policies === undefined ? ' (one of your own: --policies FILE)' : '';
    const expected = `an id that \`rollflex schema\` lists${didYouMean(id, ids)}${own}`;
    refuse('unknown_id', 'id', expected, id);
  }
  if (options.plan && found.plan === undefined) {
    refuse('invalid_input', '--plan', 'a planner', `${id}, a ${found.kind}`);
  }
  const chosen = options.plan ? found.plan! : found.schema;
  const schema = unwrapped(z.toJSONSchema(chosen, { io: 'input', unrepresentable: 'any' }));
  print(options.json ? JSON.stringify(schema) : JSON.stringify(schema, null, 2));
}

export function schemaCommand(): Command {
  return new Command('schema')
    .argument('[id]', 'such as tail-batching, judge-offload, response.completed or request.abort')
    .option('--plan', 'of a planner: the schema of its plan, not of its input')
    .addOption(option('policies', 'a module whose definitions are listed as well; may be repeated'))
    .addOption(option('json', 'print JSON on one line'))
    .addHelpText(
      'after',
      '\nExamples\n  rollflex schema\n  rollflex schema tail-batching\n  rollflex schema judge-offload --plan\n  rollflex schema request.abort\n  rollflex schema acme/mine --policies mine.ts',
    )
    .action((id: string | undefined, options: SchemaOptions) => runSchema(id, options));
}
