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
    throw new PolicyError('unknown_id', { expected: 'an id that `rollflex schema` lists', got: id, path: 'id' });
  }
  const schema = z.toJSONSchema(found.schema, { io: 'input', unrepresentable: 'any' });
  print(options.json ? JSON.stringify(schema) : JSON.stringify(schema, null, 2));
}
