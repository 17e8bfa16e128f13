/** JSON Schemas as the Python models are made from. */
import type { EventMessage } from '../../src/schemas/index.ts';
import { type Shape, type Side, shapeOf, sharedObjects, withoutText } from '../schema-table.ts';
import { className } from '../text.ts';

/** Objects that several messages share, by their shapes on either side. */
export function knownObjects(except?: string): Map<string, string> {
  const known = new Map<string, string>();
  for (const [name, schema] of Object.entries(sharedObjects)) {
    if (name === except) continue;
    for (const io of ['input', 'output'] as const) known.set(withoutText(shapeOf(schema, io)), className(name));
  }
  return known;
}

/** A message as it is written: the server stamps an event that does not say when. */
export function messageShape(message: EventMessage, side: Side): Shape {
  const shape = shapeOf(message.schema, side);
  if (side === 'output') return shape;
  const about =
    'Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than the latest counts as the latest. Stamped by the server';
  return {
    ...shape,
    required: (shape.required ?? []).filter((one) => one !== 'at'),
    properties: {
      ...shape.properties,
      at: { type: 'number', minimum: 0, description: `${about} with Unix time if absent.` },
    },
  };
}
