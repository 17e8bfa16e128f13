/** From a zod schema to the rows of a Markdown table: name, type with its bounds, default, description. */
import {
  batchAssignment,
  batchPack,
  batchSequence,
  chunkRequest,
  countedResponse,
  deferral,
  droppedResponse,
  type EventMessage,
  enginePlace,
  finalPrompt,
  finalResponse,
  frameSlice,
  goneSample,
  keptResponse,
  loaderNode,
  microBatch,
  migration,
  pacedGroup,
  profileConfiguration,
  profileRow,
  prompt,
  promptChoice,
  replicaGroup,
  rewardedResponse,
  rolloutWorkload,
  runningRequest,
  tensorShape,
  textSample,
  timeoutEstimate,
  trainingShare,
  visualSample,
  z,
} from '../../src/schemas/index.ts';

/** What of JSON Schema the project's schemas use. */
export interface Shape {
  $ref?: string;
  $defs?: Record<string, Shape>;
  type?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  items?: Shape;
  properties?: Record<string, Shape>;
  required?: string[];
  additionalProperties?: Shape | boolean;
  oneOf?: Shape[];
  anyOf?: Shape[];
}

/** A row of a table of fields. */
export interface Row {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  /** As JSON, or an empty string. */
  readonly default: string;
  readonly description: string;
}

/** Objects of the vocabulary that several messages share. */
export const sharedObjects = Object.freeze({
  countedResponse,
  rewardedResponse,
  prompt,
  keptResponse,
  deferral,
  droppedResponse,
  finalPrompt,
  finalResponse,
  timeoutEstimate,
  trainingShare,
  pacedGroup,
  rolloutWorkload,
  profileConfiguration,
  profileRow,
  promptChoice,
  replicaGroup,
  runningRequest,
  enginePlace,
  microBatch,
  migration,
  loaderNode,
  visualSample,
  textSample,
  goneSample,
  tensorShape,
  frameSlice,
  chunkRequest,
  batchSequence,
  batchAssignment,
  batchPack,
});

/** Which side of a schema: what is given may leave out what has a default. */
export type Side = 'input' | 'output';

/** The JSON Schema of a schema, nothing shared by reference. */
export function shapeOf(schema: z.ZodType, io: Side = 'input'): Shape {
  const shape = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as Shape;
  // A schema with an id of its own stands among the definitions.
  return shape.$defs?.[shape.$ref?.replace('#/$defs/', '') ?? ''] ?? shape;
}

/** What of a shape is not meant for people. */
export const withoutText = (shape: Shape): string =>
  JSON.stringify(shape, (key, value: unknown) => (key === 'description' || key === '$schema' ? undefined : value));
const namesOfShapes = new Map(
  Object.entries(sharedObjects).map(([name, schema]) => [withoutText(shapeOf(schema)), name] as const),
);

function bounds({ type, minimum, exclusiveMinimum, maximum }: Shape): string {
  // A whole number without a bound carries the safe integers as its bounds.
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const least = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  if (exclusiveMinimum !== undefined) {
    if (type === 'integer' && most !== undefined) return ` ${exclusiveMinimum + 1} to ${most}`;
    return type === 'integer' ? ` ≥ ${exclusiveMinimum + 1}` : ` > ${exclusiveMinimum}`;
  }
  if (least !== undefined && most !== undefined) return ` ${least} to ${most}`;
  return least === undefined ? '' : ` ≥ ${least}`;
}

const code = (text: string): string => `\`${text}\``;

/** The type of a field in words. */
export function typeText(shape: Shape): string {
  const known = namesOfShapes.get(withoutText(shape));
  if (known !== undefined) return code(known);
  if (shape.const !== undefined) return code(JSON.stringify(shape.const));
  const alternatives = shape.anyOf ?? shape.oneOf;
  if (alternatives !== undefined) return alternatives.map(typeText).join(' or ');
  if (shape.enum !== undefined) return shape.enum.map((one) => code(String(one))).join(' or ');
  if (shape.anyOf !== undefined) return shape.anyOf.map(typeText).join(' or ');
  switch (shape.type) {
    case 'array':
      return `list of ${typeText(shape.items ?? {})}`;
    case 'object':
      return typeof shape.additionalProperties === 'object' && shape.properties === undefined
        ? `map to ${typeText(shape.additionalProperties)}`
        : 'object';
    case 'integer':
      return `whole number${bounds(shape)}`;
    case 'number':
      return `number${bounds(shape)}`;
    case 'string':
      return shape.maxLength === undefined ? 'string' : `string ≤ ${shape.maxLength}`;
    default:
      return shape.type ?? 'any';
  }
}

/** Where the name of a field ends with its unit. */
const units: Readonly<Record<string, string>> = {
  Seconds: 'seconds',
  Ms: 'milliseconds',
  Tokens: 'tokens',
  Bytes: 'bytes',
  Gb: 'GB',
  Tflops: 'TFLOP/s',
  Share: 'share',
  Ratio: 'ratio',
};
/** The unit that the name of a field ends with; empty where it names none. */
export const unitOf = (name: string): string =>
  units[/[A-Z][a-z]+$/.exec(name.replace(/\[\]$/, ''))?.[0] ?? ''] ??
  units[name.replace(/^./, (first) => first.toUpperCase())] ??
  '';

/** The fields of an object, those of objects inside it by their path; with `lists`, of objects in lists too. */
export function rowsOf(shape: Shape, path = '', lists = false): Row[] {
  return Object.entries(shape.properties ?? {}).flatMap(([key, field]): Row[] => {
    const name = `${path}${key}`;
    const inner = objectsIn(field, name, lists);
    const plain = field.properties !== undefined && inner.length > 0;
    return [
      {
        name,
        type: typeText(field),
        required: (shape.required ?? []).includes(key),
        default: field.default === undefined || plain ? '' : JSON.stringify(field.default),
        description: field.description ?? '',
      },
      ...inner.flatMap(([one, at]) => rowsOf(one, at, lists)),
    ];
  });
}

/** Objects in a field that have no name of their own, each with the path of its fields. */
function objectsIn(field: Shape, path: string, lists: boolean): [Shape, string][] {
  if (namesOfShapes.has(withoutText(field))) return [];
  if (field.properties !== undefined) return [[field, `${path}.`]];
  if (!lists) return [];
  if (field.items !== undefined) return objectsIn(field.items, `${path}[]`, lists);
  return (field.anyOf ?? []).flatMap((one) => objectsIn(one, path, lists));
}

/** A Markdown table, `|` inside a cell escaped. Columns are not padded: a long cell would make every line as long. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]): string => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Whether a notice may be sent as an event without its reason. */
export const isReported = ({ schema }: EventMessage): boolean =>
  (schema as z.ZodObject).shape.reason instanceof z.ZodPrefault;
