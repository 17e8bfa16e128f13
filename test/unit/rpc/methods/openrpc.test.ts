import metaSchema from '@open-rpc/meta-schema';
import { Ajv, type ValidateFunction } from 'ajv';
import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/index.ts';
import { methods, notifications } from '../../../../src/rpc/index.ts';
import { decisions, events } from '../../../../src/schemas/index.ts';
import { openingEvents, rpc, tail } from '../../../support/servers/clocked.ts';

type Json = Record<string, unknown>;
interface Document extends Json {
  readonly methods: {
    name: string;
    params: { name: string; required: boolean; schema: Json }[];
    result: { schema: Json };
  }[];
  readonly components: { readonly schemas: Record<string, Json> };
}
const { client } = rpc({ version: '1.2.3' });
const document = (await client.call('rpc.discover')) as Document;
const of = (name: string) => document.methods.find((one) => one.name === name)!;
const ajv = new Ajv({ strict: false, logger: false, validateFormats: false, code: { optimize: false } });
ajv.addSchema({ $id: 'doc', ...document });
const compiled = new Map<string, ValidateFunction>();
const resolved = (schema: Json): ValidateFunction => {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"doc#/components');
  const one = compiled.get(text) ?? ajv.compile(JSON.parse(text));
  compiled.set(text, one);
  return one;
};

describe('the OpenRPC document', () => {
  test('is valid', () => {
    const { $schema: _, ...schema } = JSON.parse(JSON.stringify(metaSchema)) as Json;
    const drafts = new Ajv({ strict: false, logger: false, validateFormats: false, code: { optimize: false } });
    // It refers to a copy of draft 7 that lies elsewhere.
    const text = JSON.stringify(schema)
      .replaceAll(
        'https://meta.json-schema.tools/#/definitions/JSONSchemaObject',
        'http://json-schema.org/draft-07/schema#',
      )
      .replaceAll(/"https:\/\/meta\.json-schema\.tools\/?"/g, '"http://json-schema.org/draft-07/schema"');
    const validate = drafts.compile(JSON.parse(text));
    expect(validate(document), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  });

  test('has every method, and every reference leads somewhere', () => {
    expect(document.methods.map((one) => one.name)).toEqual(methods.map((one) => one.name));
    expect((document['x-notifications'] as Json[]).map((one) => one.name)).toEqual(
      notifications.map((one) => one.name),
    );
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(100);
    for (const name of new Set(names)) expect(document.components.schemas, name).toHaveProperty([name]);
    expect(JSON.stringify(document)).not.toContain('#/definitions/');
  });

  test('states every event, decision, configuration, input and plan', () => {
    const names = [
      ...events.map((one) => `event.${one.type}`),
      ...decisions.map((one) => `decision.${one.type}`),
      ...registry.policies.map((one) => `config.${one.id}`),
      ...registry.planners.flatMap((one) => [`input.${one.id}`, `plan.${one.id}`]),
    ];
    const missing = names.filter((name) => document.components.schemas[name] === undefined);
    // Messages that only pass between the parts of a recipe are in no policy of the registry.
    expect(missing).toEqual([]);
  });

  test('what goes over the wire fits it', async () => {
    const fits = (schema: Json, value: unknown) => {
      const validate = resolved(schema);
      expect(validate(value), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
    };
    const param = (method: string, name: string) => of(method).params.find((one) => one.name === name)!;
    fits(param('session.open', 'config').schema, tail.config);
    fits(param('session.send', 'events').schema, openingEvents());
    expect(param('session.send', 'session').required).toBe(true);
    expect(param('session.send', 'producer').required).toBe(false);
    for (const [method, params] of [
      ['session.open', { ...tail, session: 'x', deliver: 'stream', timers: 'server' }],
      ['session.send', { session: 'x', events: openingEvents(), producer: 'p' }],
      ['session.open', { ...tail, session: 'y' }],
      ['session.send', { session: 'y', events: openingEvents() }],
      ['session.snapshot', { session: 'x' }],
      ['session.list', {}],
      ['session.subscribe', { session: 'x' }],
      ['session.ack', { session: 'x', decisionSeq: 1 }],
      ['session.unsubscribe', { session: 'x' }],
      ['session.close', { session: 'x' }],
      ['plan', { planner: 'grpo-advantages', input: { groups: [{ rewards: [1, 0] }] } }],
      ['server.info', {}],
      ['rpc.discover', {}],
      ['server.authenticate', { token: 'x' }],
    ] as const) {
      fits(of(method).result.schema, await client.call(method, params));
    }
    expect(resolved(of('session.list').result.schema)({ sessions: [{}] })).toBe(false);
    expect(resolved(param('session.send', 'events').schema)([{ type: 'nothing' }])).toBe(false);
  });
});
