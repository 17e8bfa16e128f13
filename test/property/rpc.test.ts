/** The server changes no decision, and nothing that comes over a wire breaks it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { registry } from '../../src/index.ts';
import { methods } from '../../src/rpc/index.ts';
import { likelyEvents, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { openingEvents, rpc, tail, WireClient } from '../support/servers/clocked.ts';

const subjects = registry.policies.flatMap((definition) =>
  exampleConfigs[definition.id]!.map((config) => ({ definition: definition as AnyPolicyDefinition, config })),
);

/** What a host gets in process: decisions, or where the policy refused. */
function inProcess(policy: { send(event: never): unknown[] }, events: readonly unknown[]) {
  const decisions: unknown[] = [];
  for (const [index, event] of events.entries()) {
    try {
      decisions.push(...policy.send(event as never));
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      return { decisions, refused: { index, code: error.code, path: error.path } };
    }
  }
  return { decisions, refused: undefined };
}

const chunked = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 40 });

describe('a session over RPC', () => {
  test.each(subjects.map((one, index) => [`${one.definition.id} ${index}`, one] as const))(
    '%s: the decisions, refusals and state of a policy in process',
    async (_, { definition, config }) => {
      await fc.assert(
        fc.asyncProperty(tapes(), chunked, fc.boolean(), async (tape, sizes, streamed) => {
          const { client } = rpc({ limits: { pageDecisions: 16 } });
          const policy = create(definition, config);
          await client.call('session.open', {
            policy: definition.id,
            config,
            session: 'x',
            deliver: streamed ? 'stream' : 'reply',
          });
          if (streamed) await client.call('session.subscribe', { session: 'x' });
          client.pushed();
          const events = likelyEvents(definition, config, tape, 40);
          let firstSeq = 0;
          for (let at = 0, turn = 0; at < events.length; turn += 1) {
            const batch = events.slice(at, at + sizes[turn % sizes.length]!);
            const expected = inProcess(policy, batch);
            const params = { session: 'x', events: batch, producer: 'p', firstSeq };
            const reply = await client.reply('session.send', params);
            if (turn % 3 === 0 && reply.error?.data.index !== 0) {
              const again = await client.reply('session.send', params);
              expect([again.result, again.error?.data]).toEqual([reply.result, reply.error?.data]);
            }
            const given = (reply.result ?? reply.error!.data) as {
              decisions: unknown[];
              more?: string;
              nextSeq: number;
            };
            const decisions = streamed ? client.pushed().map((one) => one.decision) : [...given.decisions];
            for (let { more } = given; more !== undefined; ) {
              const page = await client.call('session.more', { session: 'x', more });
              decisions.push(...page.decisions);
              more = page.more;
            }
            expect(decisions).toEqual(JSON.parse(JSON.stringify(expected.decisions)));
            if (expected.refused === undefined) expect(reply.error).toBeUndefined();
            else expect(reply.error!.data).toMatchObject(expected.refused);
            // A refused event is left out, as a host would.
            at += expected.refused === undefined ? batch.length : expected.refused.index + 1;
            firstSeq = given.nextSeq;
          }
          const { snapshot } = await client.call('session.snapshot', { session: 'x' });
          expect(snapshot).toEqual(JSON.parse(JSON.stringify(policy.snapshot())));
        }),
        runs(definition.id === 'flexrl' ? 2 : 6),
      );
    },
  );
});

const names = methods.map((one) => one.name);
const nasty = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('__proto__', 'constructor', 'x', 's1', '', 'toString', null, -1, 1e308, 2 ** 53, true),
  fc.constant(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')),
);
const key = fc.constantFrom(
  'session',
  'events',
  'producer',
  'firstSeq',
  'policy',
  'config',
  'snapshot',
  'deliver',
  'timers',
  'armed',
  'after',
  'types',
  'decisionSeq',
  'planner',
  'input',
  'more',
  'token',
  'onExisting',
  '__proto__',
  'constructor',
);
/** Text of an object: keys may come twice, and `__proto__` is a key like any other. */
const object = (keys: fc.Arbitrary<string>) =>
  fc
    .array(fc.tuple(keys, nasty), { maxLength: 5 })
    .map((pairs) => `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`);
const request = fc
  .tuple(
    fc.oneof(fc.constantFrom(...names), fc.string(), fc.constantFrom('__proto__', 'constructor')),
    object(key),
    nasty,
  )
  .map(
    ([method, params, id]) =>
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)},"params":${params}}`,
  )
  // What closes or replaces the session on purpose is no accident.
  .filter((text) => !/"session\.close"|replace/.test(text));
const event = object(fc.constantFrom('type', 'at', 'roundId', 'prompts', '__proto__', 'requestId', 'tokens'));
const wrongEvent = event.map(
  (one) => `{"jsonrpc":"2.0","id":1,"method":"session.send","params":{"session":"x","events":[${one}]}}`,
);
const bytes = (text: string) => new TextEncoder().encode(text);
const mangled = fc
  .tuple(request, fc.nat(), fc.uint8Array({ maxLength: 4 }), fc.constantFrom('cut', 'insert', 'flip'))
  .map(([text, place, extra, how]) => {
    const line = bytes(text);
    const at = place % line.length;
    if (how === 'cut') return line.slice(0, at);
    if (how === 'flip') return line.map((byte, index) => (index === at ? byte ^ 0x80 : byte));
    return Uint8Array.from([...line.slice(0, at), ...extra, ...line.slice(at)]);
  });
const malformed = fc.oneof(
  request.map(bytes),
  wrongEvent.map(bytes),
  mangled,
  fc.uint8Array({ maxLength: 200 }),
  fc
    .tuple(fc.integer({ min: 1, max: 3000 }), fc.constantFrom('[', '{"a":', '[{', '"', '\\', '{"id":['))
    .map(([n, text]) => bytes(text.repeat(n))),
  fc.array(request, { maxLength: 4 }).map((all) => bytes(`[${all.join(',')}]`)),
  fc.string({ unit: 'binary', maxLength: 3000 }).map(bytes),
);

test('malformed input: an error or nothing for each line, never a crash or a changed session', async () => {
  const { server, client } = rpc({ limits: { maxMessageBytes: 4096, maxSessions: 50, maxBatchCalls: 3 } });
  await client.call('session.open', { ...tail, session: 'x' });
  await client.call('session.send', { session: 'x', events: openingEvents() });
  const state = () => JSON.stringify(server.sessions.get('x').policy.snapshot());
  const before = state();
  let inputs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(malformed, { minLength: 1, maxLength: 20 }), fc.boolean(), async (lines, halfClosed) => {
      const other = new WireClient(server);
      for (const line of lines) {
        inputs += 1;
        const one = line.filter((byte) => byte !== 10);
        const from = other.lines.length;
        await other.raw(one);
        await other.raw(Uint8Array.of(10));
        const answers = other.lines.slice(from).map((text) => JSON.parse(text));
        // Notifications of their own subscriptions aside, a line has one answer at most.
        expect(answers.filter((answer) => answer.method === undefined).length).toBeLessThanOrEqual(1);
        for (const answer of answers.flat()) {
          if (answer.error === undefined) continue;
          expect([-32700, -32600, -32601, -32602, -32000]).toContain(answer.error.code);
          expect(answer.error.data.expected).toBeTypeOf('string');
        }
      }
      if (halfClosed) await other.raw(bytes('{"jsonrpc":"2.0","id":1,"meth'));
      await other.connection!.finish();
      expect(state()).toBe(before);
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
      for (const { id } of [...server.sessions]) if (id !== 'x') server.sessions.close(id);
    }),
    runs(700),
  );
  expect(server.connections).toBe(1);
  expect(inputs).toBeGreaterThan(met(3000));
});
