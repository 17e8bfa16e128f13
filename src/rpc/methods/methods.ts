/**
 * The methods, each with name, summary, parameters and result. The OpenRPC document and the tables of the documentation are made
 * from them.
 */
import { z } from 'zod';
import { snapshotSchema } from '../../core/machine/snapshot.ts';
import { senders } from '../../schemas/senders.ts';
import { idText, seconds, timerId } from '../../schemas/units.ts';
import { limitsSchema } from './limits.ts';

/** A method of the server, or a notification from it. */
export interface RpcMethod<
  N extends string = string,
  P extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> {
  /** Name of the method on the wire. */
  readonly name: N;
  /** One sentence for the tables and for OpenRPC. */
  readonly summary: string;
  /** Schema of the parameters, which refuses unknown keys. */
  readonly params: P;
  /** Schema of the result. */
  readonly result: R;
}

function method<const N extends string, P extends z.ZodRawShape, R extends z.ZodRawShape>(
  name: N,
  summary: string,
  params: P,
  result: R,
) {
  return Object.freeze({ name, summary, params: z.strictObject(params), result: z.strictObject(result) });
}

const session = idText(256).describe('Id of the session.');
const seq = z.int().nonnegative().describe('Events that the session has applied.');
const number = z.int().nonnegative();
const decisionSeq = number.describe('Number of the last decision of a streaming session; the first has 1.');
const more = z.string().max(64).optional().describe('There are more decisions: `session.more` gets them by this.');
const events = z
  .array(z.unknown())
  .describe('Events, applied in order; `at` is stamped with Unix time where it is absent.');
const decisions = z.array(z.unknown()).describe('Decisions, in order.');
const producer = idText(256);
const deliver = z.enum(['reply', 'stream']);
const timers = z.enum(['host', 'server']);
/** Any object. The planner checks the content, even a key `__proto__`. */
const anyObject = z
  .unknown()
  .superRefine((input, context) => {
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return;
    context.addIssue({ code: 'invalid_type', expected: 'object', input });
  })
  .meta({ type: 'object' });
const standpoint = z.strictObject({
  what: z.string().describe('Kind of the thing, such as `prompts`.'),
  id: z.string().describe('Its id.'),
  stands: z.string().describe('Where it stands, in a few words, such as `runs on engine vllm-0`.'),
  since: seconds.optional().describe('Since when, in seconds on the clock of the session, where this is known.'),
});
const stalled = z
  .strictObject({
    ...standpoint.shape,
    filtered: number.describe('How many prompts, or groups, were filtered since one counted last.'),
    filteredSince: seconds.describe('When the first of them was, in seconds on the clock of the session.'),
    mostFiltered: number.describe('From how many on this counts as futile: it follows what is usual here.'),
  })
  .describe('The thing for which work goes on and gains nothing, if there is one: nobody owes anything.');
const heldRound = z.strictObject({
  id: z.string().describe('Id of the round.'),
  open: z
    .boolean()
    .describe('Whether its rollout goes on (no `round.completed` so far); otherwise only its rest is awaited.'),
  kind: z.string().optional().describe('Kind of the round, such as `long`, where rounds have kinds.'),
  stands: z.string().describe('Where it stands, in a few words, such as `has 3 of 4 prompts`.'),
  since: seconds.optional().describe('Since when, in seconds on the clock of the session, where this is known.'),
  inFlight: number
    .optional()
    .describe('How many of its requests were launched and are not over, where the policy launches requests.'),
  owed: z
    .record(z.string(), number)
    .describe('How many events would let it go on, by their type. It need not wait for all that is in flight.'),
});
const owedEvent = z.strictObject({
  who: z.enum(senders).describe('Who has to act.'),
  by: z.string().optional().describe('Id of the engine, worker, node or replica that has to act, where it is known.'),
  event: z
    .record(z.string(), z.unknown())
    .describe('The event that is missing: its `type`, and the fields that say which one it is.'),
  since: seconds
    .optional()
    .describe('Since when it is awaited, in seconds on the clock of the session, where this is known.'),
  dueAt: seconds.optional().describe('For a timer: when it is to fire, in seconds on the clock of the session.'),
  asked: z
    .strictObject({
      type: z.string().describe('Type of the decision.'),
      reason: z.record(z.string(), z.unknown()).describe('Its reason, with its `code`.'),
    })
    .optional()
    .describe('The decision that asked for it; only where it is followed.'),
  usual: z
    .strictObject({
      medianSeconds: seconds.describe('Median, in seconds.'),
      highSeconds: seconds.describe('What 99 percent of the answers do not exceed, in seconds.'),
      answers: z.number().nonnegative().describe('Answers from which this was learnt; older ones weigh less.'),
    })
    .optional()
    .describe('How long such an event usually takes; only where it is followed, once one has come.'),
});
const whyOne = z.strictObject({
  ...standpoint.shape,
  through: z
    .array(standpoint)
    .describe('What it waits for in turn, from itself to the first event of `owed`. Only with `id`.'),
});
const whyAll = z.strictObject({
  rounds: z.array(heldRound).describe('The rounds that are held, the open ones first; at most 32. Only without `id`.'),
});
const why = {
  owed: z
    .array(owedEvent)
    .describe('The events that would let it go on: those that are overdue first, then the oldest. At most 32.'),
  more: number.describe('Further such events.'),
  stalled: stalled.optional(),
  at: seconds.describe(
    'What the times of the answer compare with, in seconds: the present, if the session has Unix time, otherwise its latest time.',
  ),
  seq,
};
/** What `session.why` returns with an id, and without: clients with types for each case take them from here. */
export const whyResults = {
  one: z.strictObject({ ...whyOne.shape, ...why }),
  all: z.strictObject({ ...whyAll.shape, ...why }),
};
const aside = z.strictObject({
  code: z.string().describe('Code of the refusal.'),
  message: z.string().describe('What was expected, and what was found.'),
});
const armedTimer = z.strictObject({ timerId, fireAtSeconds: seconds });

/** Every method of a server. */
export const methods = Object.freeze([
  method(
    'session.open',
    'Opens a session: a policy with its state.',
    {
      policy: z.string().min(1).max(256).optional().describe('Id of the policy; may be left out beside a snapshot.'),
      config: z.unknown().optional().describe('Configuration of the policy; not beside a snapshot, which has its own.'),
      snapshot: z.unknown().optional().describe('Where the session goes on from.'),
      session: session.optional().describe('Id of the session; one is made if absent.'),
      onExisting: z
        .enum(['fail', 'attach', 'replace'])
        .default('fail')
        .describe(
          'If there is a session with this id: refuse, use it as it is, or put a new one in its place. To use one that is set aside is to try again to restore it.',
        ),
      deliver: deliver
        .optional()
        .describe('Where decisions go: into the answer of `session.send` (`reply`, the default), or to subscribers.'),
      timers: timers
        .optional()
        .describe('Who answers `timer.set`: the host (the default), or the server, which needs `deliver: stream`.'),
      shadow: z
        .boolean()
        .optional()
        .describe('The host decides by itself and says what, as `host.decided`: decisions are only compared.'),
      armed: z.array(armedTimer).optional().describe('Timers that run, as `session.snapshot` gave them.'),
      delivery: z
        .unknown()
        .optional()
        .describe('Beside a snapshot: retries and the stream go on too, as `session.snapshot` gave them.'),
    },
    { session, policy: z.string().describe('Id of the policy.'), version: number.describe('Its version.'), seq },
  ),
  method(
    'session.send',
    'Applies events in order. If one is refused, the earlier ones stay applied and the error has their decisions.',
    {
      session,
      events,
      producer: producer.optional().describe('Who sends: sequences and retries are counted for each.'),
      firstSeq: number
        .optional()
        .describe('Events of this producer that were applied before these: makes a retry safe. Needs `producer`.'),
    },
    {
      seq,
      decisions: decisions.describe('Decisions, in order; none where they are streamed.'),
      more,
      nextSeq: number.optional().describe('The next `firstSeq` of this producer.'),
      decisionSeq: decisionSeq.optional(),
    },
  ),
  method(
    'session.more',
    'The decisions that did not fit into an answer. The last such answers of a session are kept.',
    { session, more: z.string().max(64).describe('As the answer gave it.') },
    { decisions, more },
  ),
  method(
    'session.snapshot',
    'The whole state as JSON.',
    {
      session,
      delivery: z
        .boolean()
        .default(false)
        .describe('Gives what retries and subscribers need to go on in another server, too.'),
    },
    {
      snapshot: snapshotSchema.describe('What `session.open` takes.'),
      seq,
      armed: z.array(armedTimer).optional().describe('Timers that the server runs.'),
      decisionSeq: decisionSeq.optional(),
      delivery: z.unknown().optional().describe('Producers, their last answers, and what nobody has acknowledged.'),
      steps: z
        .array(z.unknown())
        .optional()
        .describe('Of a session that is set aside: the calls and timers after the snapshot, in order.'),
    },
  ),
  method(
    'session.why',
    'Why something waits, and who must act. Without an id: the rounds, and all that is owed to the policy. Nothing changes.',
    {
      session,
      id: z
        .string()
        .min(1)
        .max(1024)
        .optional()
        .describe('Id of a prompt, a request, a round, or of what else is held.'),
      what: z
        .string()
        .min(1)
        .max(256)
        .optional()
        .describe('Kind of the thing, such as `prompts`, where things of several kinds have this id. Needs `id`.'),
    },
    { ...whyOne.partial().shape, ...whyAll.partial().shape, ...why },
  ),
  method('session.close', 'Forgets a session; its subscribers get `session.closed`.', { session }, {}),
  method(
    'session.list',
    'The sessions, in the order of their ids.',
    {
      after: session.optional().describe('Only sessions whose id comes after this one.'),
    },
    {
      sessions: z
        .array(
          z.strictObject({
            session,
            policy: z.string(),
            version: number,
            seq,
            deliver,
            timers,
            shadow: z.boolean().optional(),
            aside: aside.optional().describe('Why it could not be restored; absent for a session that is served.'),
          }),
        )
        .describe('Sessions.'),
      next: session.optional().describe('There are more: give this as `after`.'),
    },
  ),
  method(
    'session.subscribe',
    'Sends the decisions of a streaming session to this connection as `session.decision`, those not acknowledged first.',
    {
      session,
      after: number
        .optional()
        .describe('Only decisions after this number, which counts as acknowledged by this subscriber.'),
      types: z.array(z.string().max(256)).min(1).max(256).optional().describe('Only decisions of these types.'),
    },
    { decisionSeq, acknowledged: number.describe('What every subscriber has acknowledged.') },
  ),
  method(
    'session.ack',
    'Acknowledges the decisions up to a number. What all subscribers have acknowledged is forgotten.',
    { session, decisionSeq: number.describe('The last decision that was carried out.') },
    { acknowledged: number.describe('What every subscriber has acknowledged.') },
  ),
  method('session.unsubscribe', 'Ends the subscription of this connection.', { session }, {}),
  method(
    'plan',
    'The plan of a planner for an input. Answers to later calls of the connection may come before it.',
    {
      planner: z.string().min(1).max(256).describe('Id of the planner.'),
      input: anyObject.describe('Its input.'),
      deadlineSeconds: z
        .number()
        .positive()
        .max(86_400)
        .optional()
        .describe(
          'Seconds after which a search ends with the best plan so far, and says so in `cut`; no limit if absent.',
        ),
    },
    { plan: z.unknown().describe('Its plan.') },
  ),
  method(
    'rpc.discover',
    'The OpenRPC document of this server.',
    {},
    {
      openrpc: z.string(),
      info: z.unknown(),
      methods: z.array(z.unknown()),
      components: z.unknown(),
      'x-notifications': z.array(z.unknown()).describe('What the server sends without being asked.'),
    },
  ),
  method(
    'server.info',
    'Version, policies and limits of the server, and what it has refused.',
    {},
    {
      name: z.string(),
      version: z.string().describe('Version of the package.'),
      policies: z.array(z.strictObject({ id: z.string(), kind: z.string(), version: number, summary: z.string() })),
      planners: z.array(z.strictObject({ id: z.string(), version: number, summary: z.string() })),
      limits: limitsSchema,
      sessions: number.describe('Sessions that are open.'),
      aside: z
        .array(z.strictObject({ session, policy: z.string(), ...aside.shape }))
        .optional()
        .describe(
          'Sessions that could not be restored and are set aside; at most 100. `session.open` with `onExisting: attach` tries again, `session.snapshot` exports its state, `session.close` forgets it. Absent where there are none.',
        ),
      refused: z
        .array(
          z.strictObject({
            code: z.string().describe('Code of the refusals.'),
            limit: z.string().optional().describe('The limit that was exceeded, if it is one of `limits`.'),
            count: number.describe('How often.'),
          }),
        )
        .describe('Calls that were refused since the start, by reason.'),
      closed: z
        .strictObject({
          cutOff: number.describe('The client did not read in time.'),
          turnedAway: number.describe('The client did not show the token.'),
          full: number.describe('There were too many connections.'),
        })
        .describe('Connections that the server has closed since the start, by reason.'),
    },
  ),
  method(
    'server.authenticate',
    'Shows the token of a server that asks for one; must be the first call of a connection. Any other closes it.',
    { token: z.string().max(4096).describe('What is in the token file, without white space at its ends.') },
    {},
  ),
]);

/** Notifications that a server sends to its clients. */
export const notifications = Object.freeze([
  method(
    'session.decision',
    'A decision of a session that this connection has subscribed to.',
    {
      session,
      decisionSeq: number.describe('Its number; numbers only grow.'),
      decision: z.unknown().describe('The decision.'),
    },
    {},
  ),
  method(
    'session.closed',
    'A session that this connection has subscribed to was closed or replaced.',
    { session, reason: z.enum(['closed', 'replaced']).describe('What happened to it.') },
    {},
  ),
]);

/** Name of a method. */
export type MethodName = (typeof methods)[number]['name'];
/** Parameters of a method, defaults filled in. */
export type ParamsOf<N extends MethodName> = z.output<Extract<(typeof methods)[number], { name: N }>['params']>;
/** Result of a method. */
export type ResultOf<N extends MethodName> = z.input<Extract<(typeof methods)[number], { name: N }>['result']>;
