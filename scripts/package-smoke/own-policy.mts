/**
 * A consumer's own policy, with the consumer's own zod 4: types and behaviour. It is compiled, as ESM and as CommonJS,
 * and run; and once more with the `z` of rollflex in place of the import from `zod`.
 */
import {
  createRegistry,
  defineDecision,
  defineEvent,
  definePolicy,
  handlersOf,
  isPolicyError,
  type Live,
  registry,
  setOf,
} from 'rollflex';
import { type Of, promptId, responseCompleted } from 'rollflex/schemas';
import { z } from 'zod';

function check(fine: boolean, what: string): asserts fine {
  if (!fine) throw new Error(what);
}

// A message of the vocabulary as a part of a schema of one's own.
const logged = z.object({ host: z.string(), event: responseCompleted.schema });
type Logged = z.infer<typeof logged>;
const line: Logged = { host: 'a', event: { type: 'response.completed', at: 1, requestId: 'p/0#0', tokens: 3 } };
check(logged.parse(line).event.tokens === 3, 'a schema with a message inside');
check(!logged.safeParse({ ...line, event: { type: 'response.completed' } }).success, 'a wrong one is refused');

const submitted = defineEvent('acme/prompt.submitted', 'A user has submitted a prompt.', {
  promptId,
  priority: z.int().min(0).max(9),
});
const started = defineDecision(
  'acme/prompt.start',
  'command',
  'Start this prompt.',
  { promptId: z.string() },
  { urgent: { priority: z.int() } },
);
const config = z.strictObject({ urgentFrom: z.int().positive().default(5) });
const state = z.strictObject({ waiting: setOf(z.string()) });
const on = handlersOf<Live<z.output<typeof state>, z.output<typeof config>>, Of<typeof started>>();
const gate = definePolicy({
  id: 'acme/gate',
  version: 1,
  summary: 'Starts what is urgent.',
  source: 'acme',
  config,
  state,
  begin: () => ({ waiting: [] }),
  handlers: [
    on(submitted, ({ waiting, config: { urgentFrom } }, { promptId, priority }, { at, emit }) => {
      if (priority < urgentFrom) waiting.add(promptId);
      else emit({ type: 'acme/prompt.start', at, promptId, reason: { code: 'urgent', priority } });
    }),
  ],
  decisions: [started],
  ledgers: [],
});

const mine = createRegistry([...registry.definitions, gate]);
const policy = mine.create('acme/gate', {});
// @ts-expect-error the configuration has no such key
check(throws(() => mine.create('acme/gate', { from: 3 })) === 'invalid_config', 'an unknown key');
const { promptId: _, ...withoutPrompt } = { type: 'acme/prompt.submitted' as const, at: 0, promptId: 'a', priority: 1 };
// @ts-expect-error the prompt is missing
check(throws(() => policy.send(withoutPrompt)) === 'invalid_event', 'no prompt');
policy.send({ type: 'acme/prompt.submitted', at: 1, promptId: 'a', priority: 4 });
const again = mine.restore(JSON.parse(JSON.stringify(policy.snapshot())));
const [decision] = again.send({ type: 'acme/prompt.submitted', at: 2, promptId: 'b', priority: 5 });
check(decision?.type === 'acme/prompt.start' && decision.reason.code === 'urgent', 'it decides');
check(JSON.stringify(again.snapshot().state) === '{"waiting":["a"]}', 'it is restored');

function throws(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (isPolicyError(error)) return error.code;
    throw error;
  }
  return 'nothing thrown';
}
