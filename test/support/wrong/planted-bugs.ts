/** Bugs planted into our own policies, each in one function: what the property kit must find. */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition, Context } from '../../../src/core/machine/definition.ts';
import { PolicyError } from '../../../src/errors.ts';
import { longPromptQueue, speculativeAdmission } from '../../../src/index.ts';
import { patched } from './hand-made.ts';

/** A bug. */
export interface PlantedBug {
  readonly title: string;
  /** The policy without it. */
  readonly original: AnyPolicyDefinition;
  readonly definition: AnyPolicyDefinition;
  readonly config: unknown;
  /** The first law that sees it; `conservation` where none does, and the model of the host must. */
  readonly foundBy: number | 'conservation';
  /** What the message says, beside the name of the law. */
  readonly says: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a bug reaches into states and decisions of every shape
type Any = any;
type Apply = (state: Any, event: AnyEvent & Any, ctx: Context<AnyDecision & Any>) => void;

const queue = longPromptQueue as AnyPolicyDefinition;
const admission = speculativeAdmission as AnyPolicyDefinition;
const queueConfig = { promptsPerRound: 3 };
const admissionConfig = { promptsPerRound: 3, responsesPerPrompt: 2 };

/** The queue, its `apply` replaced for some events. */
const queueThat = (own: (...args: Parameters<Apply>) => boolean) =>
  patched(queue, { apply: (...args: Parameters<Apply>) => void (own(...args) || queue.apply(...args)) });

/** The admission, what it emits on its way to the host changed. */
const admissionThatEmits = (change: (decision: Any, event: Any, state: Any) => readonly unknown[]) =>
  patched(admission, {
    apply: ((state, event, ctx) =>
      admission.apply(state, event, {
        at: ctx.at,
        emit: (decision) => {
          for (const one of change(decision, event, state)) ctx.emit(one as Any);
        },
      })) satisfies Apply,
  });

/** The admission as if one of its settings were one less. */
const oneLess = (setting: 'promptsPerRound' | 'responsesPerPrompt') => {
  const less = (config: Any) => ({ ...config, [setting]: config[setting] - 1 });
  return patched(admission, {
    init: (config: unknown) => admission.init(less(config)),
    load: (saved: unknown, config: unknown) => admission.load(saved, less(config)),
  });
};

const isNew = ({ type, prompt }: Any) => type === 'prompt.returned' && prompt.deferral === undefined;
const byPrompt = (one: Any, other: Any) => (one.prompt.promptId < other.prompt.promptId ? -1 : 1);

export const plantedBugs: readonly PlantedBug[] = [
  {
    title: 'lost prompt: one that comes back unused is forgotten',
    original: queue,
    definition: queueThat((_state, event) => isNew(event)),
    config: queueConfig,
    foundBy: 2,
    says: 'ledger prompts, after {"type":"prompt.returned"',
  },
  {
    title: 'lost prompt: what is deferred is not handed over',
    original: admission,
    definition: admissionThatEmits((decision) => (decision.type === 'prompt.deferred' ? [] : [decision])),
    config: admissionConfig,
    foundBy: 2,
    says: 'ledger prompts, after',
  },
  {
    title: 'double accept: a repeated completion is accepted once more',
    original: admission,
    definition: admissionThatEmits((decision, { requestId }) => {
      if (decision.type !== 'response.late' || decision.reason.code !== 'completion') return [decision];
      const { at } = decision;
      const reason = { code: 'held', held: 1, needed: 2 };
      const promptId = requestId.split('/')[0];
      return [decision, { type: 'response.accepted', at, requestId, promptId, reason }];
    }),
    config: admissionConfig,
    foundBy: 'conservation',
    says: 'accepted',
  },
  {
    title: 'off by one at the milestone: a prompt is collected one response early',
    original: admission,
    definition: oneLess('responsesPerPrompt'),
    config: admissionConfig,
    foundBy: 'conservation',
    says: 'is collected with 1 responses of 2',
  },
  {
    title: 'off by one at the milestone: a round completes one prompt early',
    original: admission,
    definition: oneLess('promptsPerRound'),
    config: admissionConfig,
    foundBy: 'conservation',
    says: 'with 2 of 3 prompts',
  },
  {
    title: 'tie by order of iteration: prompts of one age go by their place in a list that restoring sorts anew',
    original: queue,
    definition: patched(queue, {
      save: (state: unknown) => {
        const saved = queue.save(state);
        return { ...saved, entries: [...saved.entries].sort(byPrompt) };
      },
      load: (saved: Any, config: unknown) =>
        queue.load({ ...saved, entries: saved.entries.map((one: Any, seq: number) => ({ ...one, seq })) }, config),
    }),
    config: queueConfig,
    foundBy: 5,
    says: 'restored',
  },
  {
    title: 'state aliasing: a prompt that comes back is kept as it was given, not copied',
    original: queue,
    definition: queueThat(
      (state, event) => isNew(event) && state.unused.set(event.prompt.promptId, event.prompt) !== undefined,
    ),
    config: queueConfig,
    foundBy: 4,
    says: 'is shared with the state',
  },
  {
    title: 'time read from the clock: decisions are stamped with it',
    original: admission,
    definition: patched(admission, {
      apply: ((state, event, ctx) =>
        admission.apply(state, event, { at: Date.now() / 1000, emit: (one) => ctx.emit(one) })) satisfies Apply,
    }),
    config: admissionConfig,
    foundBy: 1,
    says: 'it uses now',
  },
  {
    title: 'forgotten field: the snapshot does not say which attempts were used',
    original: admission,
    definition: patched(admission, { save: (state: unknown) => ({ ...admission.save(state), nextAttempt: 0 }) }),
    config: admissionConfig,
    foundBy: 5,
    says: 'a restored policy decides otherwise',
  },
  {
    title: 'partial apply before a refusal: a round is counted, then found to be there already',
    original: queue,
    definition: patched(queue, {
      check: (state: Any, event: Any) => {
        if (event.type === 'round.requested') state.rounds += 1;
        queue.check(state, event);
        if (event.type === 'round.requested') state.rounds -= 1;
      },
    }),
    config: queueConfig,
    foundBy: 3,
    says: 'changes the state',
  },
  {
    title: 'partial apply before a refusal: a prompt is merged, then refused',
    original: queue,
    definition: patched(queue, {
      apply: ((state, event, ctx) => {
        queue.apply(state, event, ctx);
        if (event.type !== 'prompt.deferred' || event.prompt.deferral.count < 3) return;
        throw new PolicyError('limit_exceeded', { expected: 'fewer deferrals', got: 3, path: 'prompt.deferral.count' });
      }) satisfies Apply,
    }),
    config: queueConfig,
    foundBy: 3,
    says: 'fails to apply what it had checked',
  },
  {
    title: 'decision without a reason',
    original: admission,
    definition: admissionThatEmits((decision) => {
      const { reason, ...rest } = decision;
      return [decision.type === 'prompt.collected' ? rest : { ...rest, reason }];
    }),
    config: admissionConfig,
    foundBy: 7,
    says: 'prompt.collected has no reason',
  },
  {
    title: 'wrong cause: all running requests are said to wait for a tool',
    original: admission,
    definition: patched(admission, {
      waits: {
        ...admission.waits,
        requests: {
          ids: (state: Any) => admission.waits!.requests!.ids(state),
          of: (state: Any, requestId: string) =>
            admission.waits!.requests!.of(state, requestId) && {
              stands: 'waits for a tool',
              for: [{ event: { type: 'tool.finished', requestId } }],
            },
        },
      },
    }),
    config: admissionConfig,
    foundBy: 14,
    says: 'expected a request that waits for a tool',
  },
];

/** Walks over all prompts whenever a response completes. */
export const scanning = patched(admission, {
  apply: ((state, event, ctx) => {
    if (event.type === 'response.completed') [...state.prompts.values()].some((one: Any) => one.status === 'gone');
    admission.apply(state, event, ctx);
  }) satisfies Apply,
});
