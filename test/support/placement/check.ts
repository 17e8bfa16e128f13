/**
 * What is wrong with a plan of flex-ulysses, recomputed from the input alone: nothing of the planner is used here, so
 * that a mistake in its groups, costs or sums cannot hide itself.
 */
import type { FlexUlyssesInput, FlexUlyssesPlan } from '../../../src/planners/flex-ulysses/index.ts';
import { close } from '../basics/numbers.ts';

type Model = NonNullable<NonNullable<FlexUlyssesInput['costs']>['compute']>;
type Points = Extract<Model, readonly unknown[]>;
/** The keys of a plan that are checked; a plan may have more. */
export type CheckedPlan = Pick<FlexUlyssesPlan, 'assignments' | 'bounds' | 'limits' | 'metrics' | 'memoryRelaxed'>;

const atMost = (one: number, most: number) => one <= most || close(one, most);

/** Degrees that the devices and heads admit: powers of two up to `maxDegree`. */
export function admissibleDegrees(input: FlexUlyssesInput): number[] {
  const { devices, maxDegree = 8, attentionHeads, kvHeads } = input;
  const degrees: number[] = [];
  for (let degree = 1; degree <= maxDegree && degree <= devices; degree *= 2) {
    const partitions = devices % degree === 0;
    const wholeHeads = attentionHeads === undefined || attentionHeads % degree === 0;
    const wholeKv = kvHeads === undefined || kvHeads % degree === 0 || degree % kvHeads === 0;
    if (degree === 1 || (partitions && wholeHeads && wholeKv)) degrees.push(degree);
  }
  return degrees;
}

function onPoints(points: Points, length: number): number {
  const after = points.findIndex(({ tokens }) => tokens >= length);
  if (after < 0) throw new Error(`no point for ${length} tokens`);
  const high = points[after]!;
  const low = points[after - 1] ?? { tokens: -1, value: high.value };
  return low.value + ((length - low.tokens) * (high.value - low.value)) / (high.tokens - low.tokens);
}

function costAt(model: Model, length: number): number {
  if (length === 0) return 0;
  if (Array.isArray(model)) return onPoints(model as Points, length);
  const { base = 0, perToken = 0, perTokenSquared = 0 } = model as Exclude<Model, readonly unknown[]>;
  return base + perToken * length + perTokenSquared * length * length;
}

/** Work of a whole sequence, by its length. */
export const workOfLength = (input: FlexUlyssesInput, length: number): number =>
  costAt(input.costs?.compute ?? { perTokenSquared: 1 }, length);

/** Cost of sharding a sequence at a degree. */
export function splitCostOf(input: FlexUlyssesInput, length: number, degree: number): number {
  const { devices, devicesPerNode = 8, costs } = input;
  if (degree === 1 || length === 0) return 0;
  const row = costs?.communication?.find((one) => one.degree === degree);
  if (row !== undefined) return costAt(row.cost, length);
  const crosses = devices > devicesPerNode && devicesPerNode % degree !== 0;
  return ((length * (degree - 1)) / degree ** 2) * (crosses ? (costs?.crossNodeFactor ?? 16) : 1);
}

/** Most tokens of a device that the input asks for. */
export function askedMemory({ lengths, devices, memorySlack = 1.1, memoryCapTokens }: FlexUlyssesInput): number {
  return memoryCapTokens ?? (memorySlack * lengths.reduce((sum, one) => sum + one, 0)) / devices;
}

/** Compute and tokens of each device, and what sharding costs in all. */
export function recomputed(input: FlexUlyssesInput, assignments: FlexUlyssesPlan['assignments']) {
  const compute = new Float64Array(input.devices);
  const memory = new Float64Array(input.devices);
  let communication = 0;
  let traffic = 0;
  let sharded = 0;
  for (const { sequence, degree, devices } of assignments) {
    const length = input.lengths[sequence]!;
    for (const device of devices) {
      compute[device]! += workOfLength(input, length) / degree;
      memory[device]! += length / degree;
    }
    communication += splitCostOf(input, length, degree);
    traffic += (length * (degree - 1)) / degree;
    if (degree > 1) sharded += 1;
  }
  return { compute, memory, communication, traffic, sharded };
}

const most = (values: Float64Array) => values.reduce((high, one) => Math.max(high, one), 0);

/** Cover, groups and degrees. */
function placingProblems(input: FlexUlyssesInput, assignments: FlexUlyssesPlan['assignments']): string[] {
  const problems: string[] = [];
  const degrees = new Set(admissibleDegrees(input));
  if (assignments.length !== input.lengths.length) problems.push(`${assignments.length} assignments`);
  for (const [index, { sequence, degree, devices }] of assignments.entries()) {
    const at = `assignments[${index}]`;
    const first = devices[0]!;
    if (sequence !== index) problems.push(`${at} is of sequence ${sequence}`);
    if (!degrees.has(degree)) problems.push(`${at}: degree ${degree} is not admissible`);
    if (degree > 1 && input.lengths[sequence] === 0) problems.push(`${at} shards an empty sequence`);
    if (devices.length !== degree) problems.push(`${at}: ${devices.length} devices at degree ${degree}`);
    if (first % degree !== 0) problems.push(`${at}: its group at ${first} is not aligned`);
    if (devices.some((device, rank) => device !== first + rank)) problems.push(`${at}: ${devices} are no neighbours`);
    if (first < 0 || first + devices.length > input.devices) problems.push(`${at}: ${devices} are not all there`);
  }
  return problems;
}

/** Metrics, limits and bounds. */
function figureProblems(input: FlexUlyssesInput, plan: CheckedPlan): string[] {
  const problems: string[] = [];
  const { compute, memory, ...sums } = recomputed(input, plan.assignments);
  const expected: FlexUlyssesPlan['metrics'] = {
    maxCompute: most(compute),
    meanCompute: input.lengths.reduce((sum, one) => sum + workOfLength(input, one), 0) / input.devices,
    maxMemoryTokens: most(memory),
    ...sums,
  };
  for (const [name, value] of Object.entries(expected)) {
    const got = plan.metrics[name as keyof typeof expected] ?? Number.NaN;
    if (!close(got, value)) problems.push(`metrics.${name} is ${got}, not ${value}`);
  }
  const { maxCompute, maxMemoryTokens, communication } = expected;
  const notAbove = (name: string, one: number, limit: number) => {
    if (!atMost(one, limit)) problems.push(`${name}: ${one} is above ${limit}`);
  };
  notAbove('metrics.maxCompute and limits.compute', maxCompute, plan.limits.compute);
  notAbove('metrics.maxMemoryTokens and limits.memoryTokens', maxMemoryTokens, plan.limits.memoryTokens);
  notAbove('bounds.compute and metrics.maxCompute', plan.bounds.compute, maxCompute);
  notAbove('bounds.communication and metrics.communication', plan.bounds.communication, communication);
  const asked = askedMemory(input);
  if (!close(maxMemoryTokens, asked) && plan.memoryRelaxed !== maxMemoryTokens > asked) {
    problems.push(`memoryRelaxed is ${plan.memoryRelaxed}, with ${maxMemoryTokens} tokens and ${asked} asked for`);
  }
  return problems;
}

/**
 * Everything that is wrong with a plan, as phrases; none for a valid plan. Exact cover, aligned groups of admissible
 * degrees, metrics recomputed from scratch, within its limits, and not better than its bounds.
 */
export function placementProblems(input: FlexUlyssesInput, plan: CheckedPlan): string[] {
  const problems = placingProblems(input, plan.assignments);
  return problems.length > 0 ? problems : figureProblems(input, plan);
}
