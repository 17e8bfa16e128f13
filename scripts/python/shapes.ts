/** JSON Schemas as the Python models are made from. */
import { type EventWord, z } from '../../src/schemas/index.ts';
import { type Shape, sharedObjects, withoutText } from '../schema-table.ts';
import { className } from './text.ts';

/** Which side of the wire: what a caller gives may leave out what has a default, and may be any sequence. */
export type Side = 'input' | 'output';

/** The JSON Schema of a schema, nothing shared by reference. */
export function shapeOf(schema: z.ZodType, io: Side): Shape {
  const shape = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as Shape;
  // A schema with an id of its own stands among the definitions.
  return shape.$defs?.[shape.$ref?.replace('#/$defs/', '') ?? ''] ?? shape;
}

/** Objects that several words share, by their shapes on either side. */
export function knownObjects(except?: string): Map<string, string> {
  const known = new Map<string, string>();
  for (const [name, schema] of Object.entries(sharedObjects)) {
    if (name === except) continue;
    for (const io of ['input', 'output'] as const) known.set(withoutText(shapeOf(schema, io)), className(name));
  }
  return known;
}

/** A word as it is written: the server stamps an event that does not say when. */
export function wordShape(word: EventWord, side: Side): Shape {
  const shape = shapeOf(word.schema, side);
  if (side === 'output') return shape;
  const about =
    'Time on the clock of the session, in seconds; an earlier one is read as the latest. Stamped by the server';
  return {
    ...shape,
    required: (shape.required ?? []).filter((one) => one !== 'at'),
    properties: {
      ...shape.properties,
      at: { type: 'number', minimum: 0, description: `${about} with Unix time if absent.` },
    },
  };
}
