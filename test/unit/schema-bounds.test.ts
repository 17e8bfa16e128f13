/** Numbers of reports have bounds at the door, and no free text refuses a report. */
import { describe, expect, test } from 'vitest';
import { create, flexUlysses, runPlanner, tailBatching } from '../../src/index.ts';
import { events, largestReward, responseFailed, toolStarted, z } from '../../src/schemas/index.ts';

interface Shape {
  readonly type?: string;
  readonly maximum?: number;
  readonly minimum?: number;
  readonly maxLength?: number;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Shape>>;
}

/** Every field of a shape at any depth, with its name. */
function* fieldsOf(shape: Shape, name = '', named = shape.$defs): Iterable<readonly [string, Shape]> {
  if (shape.$ref !== undefined) {
    yield* fieldsOf(named![shape.$ref.slice('#/$defs/'.length)]!, name, named);
    return;
  }
  yield [name, shape];
  for (const [key, one] of Object.entries(shape.properties ?? {})) yield* fieldsOf(one, key, named);
  if (shape.items !== undefined) yield* fieldsOf(shape.items, name, named);
  for (const one of [...(shape.anyOf ?? []), ...(shape.oneOf ?? [])]) yield* fieldsOf(one, name, named);
}

const fields = events.flatMap(({ type, schema }) =>
  [...fieldsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape)].map(
    ([name, shape]) => [`${type}: ${name}`, name, shape] as const,
  ),
);
const texts = ['message', 'tool'];

describe('the events of the vocabulary', () => {
  test('tokens have an upper bound, and sums of as many as there may be stay exact', () => {
    const counts = fields.filter(([, name, { type }]) => /tokens$/i.test(name) && /integer|number/.test(type ?? ''));
    expect(counts.length).toBeGreaterThan(10);
    expect(
      counts.filter(([, , { maximum = Number.POSITIVE_INFINITY }]) => maximum > 1e12).map(([path]) => path),
    ).toEqual([]);
  });

  test('rewards have one bound', () => {
    const rewards = fields.filter(([, name, { type }]) => name === 'reward' && type === 'number');
    expect(rewards.length).toBeGreaterThan(1);
    for (const [, , { minimum, maximum }] of rewards)
      expect([minimum, maximum]).toEqual([-largestReward, largestReward]);
  });

  test('no text that is free has a greatest length; whatever else is a text has one', () => {
    const strings = fields.filter(
      ([, , one]) => one.type === 'string' && one.enum === undefined && one.const === undefined,
    );
    const free = strings.filter(([, , { maxLength }]) => maxLength === undefined).map(([, name]) => name);
    expect([...new Set(free)].sort()).toEqual(texts);
  });

  test('a text that is too long is cut with a mark, between characters', () => {
    const failed = { type: 'response.failed', at: 0, requestId: 'a', kind: 'data' };
    const cut = (message: string) => responseFailed.schema.parse({ ...failed, message }).message!;
    expect(cut('x'.repeat(2000))).toHaveLength(2000);
    expect(cut('x'.repeat(5000))).toBe(`${'x'.repeat(1999)}…`);
    expect(cut(`${'x'.repeat(1998)}😀${'y'.repeat(9)}`)).toBe(`${'x'.repeat(1998)}…`);
    const started = { type: 'tool.started', at: 0, requestId: 'a', tool: 't'.repeat(600) };
    expect(toolStarted.schema.parse(started).tool).toHaveLength(512);
  });

  test('a failure with a traceback is reported', () => {
    const one = { promptsPerRound: 1, responsesPerPrompt: 1, promptSpeculation: 1, responseSpeculation: 1 };
    const tail = create(tailBatching, one);
    tail.send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 });
    tail.send({ type: 'prompts.supplied', at: 0, roundId: 'r', prompts: [{ promptId: 'a' }] });
    const message = 'x'.repeat(5000);
    const again = tail.send({ type: 'response.failed', at: 0, requestId: 'a/0#0', kind: 'data', message });
    expect(again.map(({ type }) => type)).toEqual(['request.launch']);
  });
});

test('a plan that does not keep the memory that was given is refused, unless a setting allows it', () => {
  const input = { lengths: [131_072, 4096], devices: 4, maxDegree: 2, memoryCapTokens: 32_768 };
  expect(() => runPlanner(flexUlysses, input)).toThrow(/memoryCapTokens.*32768.*overCap.*65536/s);
  expect(runPlanner(flexUlysses, { ...input, overCap: 'allow' }).memoryRelaxed).toBe(true);
});
