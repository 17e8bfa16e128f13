/** Makes the OpenRPC document: the methods, with the schemas of their events and decisions. */
import { z } from 'zod';
import type { AnyDefinition } from '../../core/machine/definition.ts';
import type { Registry } from '../../core/machine/registry.ts';
import { policyErrorCodes } from '../../errors.ts';
import { hostDecided } from '../../schemas/events/index.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';
import { errorCodes } from './errors.ts';
import { type MethodName, methods, notifications, type ResultOf, type RpcMethod } from './methods.ts';

type Json = Record<string, unknown>;

/** Named JSON Schemas, each of which is included once. */
class Components {
  readonly schemas: Record<string, Json> = {};

  /** Adds a schema, and returns a reference to it. */
  add(name: string, schema: z.ZodType, io: 'input' | 'output'): Json {
    const key = name.replace(/[^\w.-]/g, '.');
    this.schemas[key] ??= this.inline(schema, io);
    return { $ref: `#/components/schemas/${key}` };
  }

  /** Returns an inline schema, and adds the named schemas in it to the components. */
  inline(schema: z.ZodType, io: 'input' | 'output'): Json {
    const { $schema: _, ...made } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-7' }) as Json;
    const { definitions = {}, ...shape } = JSON.parse(
      JSON.stringify(made).replaceAll('"#/definitions/', '"#/components/schemas/'),
    ) as Json & { definitions?: Record<string, Json> };
    const own = String(shape.$ref ?? '').replace('#/components/schemas/', '');
    for (const [name, definition] of Object.entries(definitions)) {
      if (name !== own) this.schemas[name] ??= definition;
    }
    return definitions[own] ?? shape;
  }
}

const anyOf = (schemas: readonly Json[], description: string): Json => ({ description, anyOf: schemas });

/** Lists the events or decisions of all policies without repetitions. */
function messages(registry: Registry<readonly AnyDefinition[]>, of: 'events' | 'decisions'): EventMessage[] {
  const all = new Map<string, EventMessage>();
  for (const policy of registry.policies) for (const message of policy[of]) all.set(message.type, message);
  return [...all.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

const errors = [
  [errorCodes.parseError, 'Not JSON, or not UTF-8.'],
  [errorCodes.invalidRequest, 'Not a JSON-RPC request.'],
  [errorCodes.methodNotFound, 'No such method.'],
  [errorCodes.invalidParams, 'Parameters that do not fit; data: { code, path, expected, got }.'],
  [errorCodes.internalError, 'A defect of the server.'],
  [
    errorCodes.refused,
    `Refused; data: { code, path, expected, got }, of session.send also { index, seq, decisions }. Codes: ${policyErrorCodes.join(', ')}.`,
  ],
].map(([code, message]) => ({ code, message }));

/** Makes the OpenRPC document of a server with this registry. */
export function openRpcDocument(
  registry: Registry<readonly AnyDefinition[]>,
  version: string,
): ResultOf<'rpc.discover'> {
  const components = new Components();
  // No policy lists `hostDecided`, because this event is for the session itself.
  const event = [...messages(registry, 'events'), hostDecided].map((one) =>
    components.add(`event.${one.type}`, one.schema, 'input'),
  );
  const decision = messages(registry, 'decisions').map((one) =>
    components.add(`decision.${one.type}`, one.schema, 'output'),
  );
  const config = registry.policies.map((one) => components.add(`config.${one.id}`, one.config, 'input'));
  const input = registry.planners.map((one) => components.add(`input.${one.id}`, one.input, 'input'));
  const plan = registry.planners.map((one) => components.add(`plan.${one.id}`, one.plan, 'output'));
  const known: Record<string, Json> = {
    events: { type: 'array', items: anyOf(event, 'An event.'), description: 'Events, in order.' },
    decisions: { type: 'array', items: anyOf(decision, 'A decision.'), description: 'Decisions, in order.' },
    decision: anyOf(decision, 'The decision.'),
    config: anyOf(config, 'Configuration of the policy.'),
    input: anyOf(input, 'Input of the planner.'),
    plan: anyOf(plan, 'Plan of the planner.'),
  };
  const fields = ({ params, name }: RpcMethod): Json[] => {
    const { properties = {}, required = [] } = components.inline(params, 'input') as {
      properties?: Record<string, Json>;
      required?: string[];
    };
    return Object.entries(properties).map(([field, shape]) => ({
      name: field,
      // Parameters in `known`, such as `config` of session.open, refer to the messages of the registry.
      schema: name === 'session.list' ? shape : (known[field] ?? shape),
      required: required.includes(field),
      ...(shape.description === undefined ? {} : { summary: String(shape.description) }),
    }));
  };
  const result = (method: RpcMethod): Json => {
    const shape = components.inline(method.result, 'output') as { properties?: Record<string, Json> };
    const properties = Object.entries(shape.properties ?? {}).map(([field, one]) => [field, known[field] ?? one]);
    return { name: 'result', schema: { ...shape, properties: Object.fromEntries(properties) } };
  };
  const describe = (method: RpcMethod<MethodName>) => ({
    name: method.name,
    summary: method.summary,
    paramStructure: 'by-name',
    params: fields(method),
    result: result(method),
    errors,
  });
  return {
    openrpc: '1.3.2',
    info: {
      title: 'rollflex',
      version,
      description: 'Scheduling policies for RL post-training. JSON-RPC 2.0, one message a line.',
      license: { name: 'Apache-2.0' },
    },
    methods: (methods as readonly RpcMethod<MethodName>[]).map(describe),
    components: { schemas: components.schemas },
    'x-notifications': notifications.map((one) => ({ name: one.name, summary: one.summary, params: fields(one) })),
  } as ResultOf<'rpc.discover'>;
}
