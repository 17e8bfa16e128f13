/** JSON Schemas as the Python models are made from, and where each object has its class. */
import { lengthPoints, lengthPolynomial } from '../../src/core/lengths/length-function.ts';
import { type EventMessage, gpuServer, resolution, type z } from '../../src/schemas/index.ts';
import { type Shape, type Side, shapeOf, sharedObjects } from '../tables/schema-table.ts';
import { className } from '../text.ts';
import { keyOf, namedTypes } from '../types/named.ts';

/** A class, and its module below `rollflex.models`. */
export interface Place {
  readonly name: string;
  readonly module: string;
}

/** Objects of `rollflex.models.objects`, by their classes. */
export const vocabulary: Readonly<Record<string, z.ZodType>> = {
  ...Object.fromEntries(Object.entries(sharedObjects).map(([name, schema]) => [className(name), schema])),
  GpuServer: gpuServer,
  Resolution: resolution,
  LengthPolynomial: lengthPolynomial,
  LengthPoint: lengthPoints.element,
};

/** Objects that have their classes, so that each is written once. */
export class Objects {
  readonly #places = new Map<string, Place>();
  /** Objects that are one whatever the text of their fields says. */
  readonly #named = new Set(namedTypes.map(({ schema, side }) => keyOf(shapeOf(schema, side))));
  readonly #vocabulary = new Set(
    Object.values(vocabulary).flatMap((schema) =>
      (['input', 'output'] as const).map((side) => keyOf(shapeOf(schema, side))),
    ),
  );

  add(shape: Shape, side: Side, place: Place): void {
    this.#places.set(this.#keyOf(shape, side), place);
  }

  find(shape: Shape, side: Side): Place | undefined {
    return this.#places.get(this.#keyOf(shape, side));
  }

  #keyOf(shape: Shape, side: Side): string {
    const key = keyOf(shape);
    if (this.#vocabulary.has(key)) return key;
    if (this.#named.has(key)) return `${side} ${key}`;
    const { description: _, default: _default, $schema: _schema, ...rest } = shape as Shape & { $schema?: string };
    return `${side} ${JSON.stringify(rest)}`;
  }
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
