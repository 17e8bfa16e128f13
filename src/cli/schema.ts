/** `rollflex schema`: the vocabulary and the configurations, as JSON Schema. */
import { z } from 'zod';
import { PolicyError } from '../errors.ts';
import { registry } from '../registry.ts';
import { decisions, events } from '../schemas/index.ts';
import { print, printJson } from './output.ts';

interface Item {
  readonly id: string;
  readonly kind: string;
  readonly summary: string;
  readonly schema: z.ZodType;
}

function items(): Item[] {
  return [
    ...registry.policies.map(({ id, kind, summary, config }) => ({ id, kind, summary, schema: config })),
    ...events.map(({ type, description, schema }) => ({ id: type, kind: 'event', summary: description, schema })),
    ...decisions.map((one) => ({ id: one.type, kind: one.kind, summary: one.description, schema: one.schema })),
  ];
}

/** A schema with a name comes as a reference to itself; readers look for `properties` at the top. */
function unwrapped({ $ref, $defs, ...rest }: z.core.JSONSchema.BaseSchema): z.core.JSONSchema.BaseSchema {
  const name = $ref?.replace('#/$defs/', '');
  if (name === undefined) return { ...rest, ...($defs === undefined ? {} : { $defs }) };
  const { [name]: own, ...others } = $defs ?? {};
  return { ...rest, ...own, ...(Object.keys(others).length === 0 ? {} : { $defs: others }) };
}

/** Prints the list, or one schema. Throws `PolicyError` `unknown_id`. */
export function runSchema(id: string | undefined, options: { json?: boolean }): void {
  const all = items();
  if (id === undefined) {
    if (options.json) printJson(all.map(({ id: name, kind, summary }) => ({ id: name, kind, summary })));
    else for (const one of all) print(`${one.kind.padEnd(8)} ${one.id.padEnd(24)} ${one.summary}`);
    return;
  }
  const found = all.find((one) => one.id === id);
  if (found === undefined) {
    const alike = all.map((one) => one.id).filter((one) => one.includes(id) || one.startsWith(id.slice(0, 5)));
    const hint = alike.length > 0 && id !== '' ? ` (such as ${alike.slice(0, 3).join(', ')})` : '';
    const expected = `an id that \`rollflex schema\` lists${hint}`;
    throw new PolicyError('unknown_id', { expected, got: id, path: 'id' });
  }
  const schema = unwrapped(z.toJSONSchema(found.schema, { io: 'input', unrepresentable: 'any' }));
  print(options.json ? JSON.stringify(schema) : JSON.stringify(schema, null, 2));
}
