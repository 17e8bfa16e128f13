/** Shapes with a name: each type is declared once, and others name it. */
import { lengthFunction } from '../../src/core/lengths/length-function.ts';
import { costModel } from '../../src/planners/flex-ulysses/costs.ts';
import { pack, schedule, visionShare } from '../../src/planners/flex-ulysses/execution/schema.ts';
import { timingModel } from '../../src/planners/flex-ulysses/execution/timing.ts';
import { assignment } from '../../src/planners/flex-ulysses/plan-schema.ts';
import { advantageGroup } from '../../src/planners/grpo-advantages/schema.ts';
import { judgeOffloadInput } from '../../src/planners/judge-offload/schema.ts';
import { microBatch } from '../../src/planners/micro-batches/plan-schema.ts';
import { gpuServer, migrationBatch, placedEngine, resolution, type z } from '../../src/schemas/index.ts';
import { type Shape, type Side, shapeOf, sharedObjects } from '../tables/schema-table.ts';
import { className } from '../text.ts';

/** What of a shape makes its type: neither its text nor a default, which is that of a field. */
export function keyOf({ default: _default, ...shape }: Shape): string {
  return JSON.stringify(shape, (key, value: unknown) =>
    key === 'description' || key === '$schema' ? undefined : value,
  );
}

/** A type that others name. */
export interface NamedType {
  readonly name: string;
  /** The module that declares it, from the root of the repository. */
  readonly module: string;
  readonly schema: z.ZodType;
  readonly side: Side;
}

/** Where the types of the vocabulary's objects are. */
export const objectsModule = 'src/generated/messages/objects.ts';

/** Schemas with a name, by the module of their types. */
const schemas: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  [objectsModule]: {
    ...Object.fromEntries(Object.entries(sharedObjects).map(([name, schema]) => [className(name), schema])),
    GpuServer: gpuServer,
    LengthFunction: lengthFunction,
    MigrationBatch: migrationBatch,
    PlacedEngine: placedEngine,
    Resolution: resolution,
  },
  'src/generated/settings/flex-ulysses.ts': {
    CostModel: costModel,
    ExecutionSchedule: schedule,
    SequenceAssignment: assignment,
    SequencePack: pack,
    TimingModel: timingModel,
    VisionShare: visionShare,
  },
  'src/generated/settings/grpo-advantages.ts': { AdvantageGroup: advantageGroup },
  'src/generated/settings/judge-offload.ts': { JudgeOffload: judgeOffloadInput },
  'src/generated/settings/micro-batches.ts': { MicroBatch: microBatch },
};

/** Where what is given differs from what is read, these are its names. */
const sides: Readonly<Record<string, Readonly<Record<Side, string>>>> = {
  CostModel: { input: 'CostModelInput', output: 'CostModel' },
  JudgeOffload: { input: 'JudgeOffloadInput', output: 'JudgeOffloadSettings' },
  TimingModel: { input: 'TimingModel', output: 'TimingSettings' },
};

/** Every type that others name. */
export const namedTypes: readonly NamedType[] = Object.entries(schemas).flatMap(([module, all]) =>
  Object.entries(all).flatMap(([name, schema]): NamedType[] => {
    const isOne = keyOf(shapeOf(schema, 'input')) === keyOf(shapeOf(schema, 'output'));
    const names = sides[name];
    if (names === undefined && isOne) return [{ name, module, schema, side: 'output' }];
    if (names === undefined) throw new Error(`${name} in scripts/types/named.ts: a name for each side, they differ`);
    return [
      { name: names.input, module, schema, side: 'input' },
      { name: names.output, module, schema, side: 'output' },
    ];
  }),
);

const byKey = new Map<string, NamedType>();
for (const one of namedTypes) {
  const key = keyOf(shapeOf(one.schema, one.side));
  const other = byKey.get(key);
  if (other !== undefined) throw new Error(`${one.name} and ${other.name} have one shape: one name is enough`);
  byKey.set(key, one);
}

/** The type of a shape that has one by a name. */
export const typeOf = (shape: Shape): NamedType | undefined => byKey.get(keyOf(shape));
