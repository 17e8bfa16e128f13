/** Small jobs and workloads for tests of the simulated host. */
import type { AnyDecision, AnyEvent } from '../../../src/core/machine/definition.ts';
import { recordEvents } from '../../../src/logs/format/event-log.ts';
import { defineJob, type Job } from '../../../src/sim/colocated/job.ts';
import type { Scheduler } from '../../../src/sim/colocated/scheduler.ts';
import type { Workload } from '../../../src/sim/workload/workload.ts';
import { freeCost } from './free-cost.ts';

/** A job whose decode steps take 10 ms whatever runs, with no other costs unless given. */
export function plainJob(
  shape: { engines?: number; promptsPerRound: number; responsesPerPrompt: number },
  cost: Partial<Job['cost']> = {},
): Job {
  return defineJob({
    name: 'plain',
    engines: 1,
    ...shape,
    cost: {
      memoryBoundSeconds: 0.01,
      ...freeCost,
      kvCapacityTokens: 1_000_000,
      ...cost,
    },
  });
}

/** A workload whose responses are given by a function of the prompt's number and the sample's. */
export function plainWorkload(tokens: (prompt: number, k: number) => number, capTokens = 1000): Workload {
  return {
    name: 'plain',
    source: 'test',
    resampling: 'none',
    correlation: 0,
    capTokens,
    distinctPrompts: Number.POSITIVE_INFINITY,
    prompt: (index) => ({
      promptId: `q${index}`,
      promptTokens: 10,
      sample: (k) => {
        const length = Math.min(capTokens, tokens(index, k));
        return { tokens: length, capped: length === capTokens };
      },
    }),
  };
}

/** Records what the policies of a scheduler are told and decide, as `recordEvents` writes it. */
export function recording(scheduler: Scheduler, lines: string[]): Scheduler {
  return {
    ...scheduler,
    create: (options) => {
      const policy = scheduler.create(options);
      recordEvents(policy as never, (line) => void lines.push(line));
      return policy;
    },
  };
}

/** What a policy was told and answered, in order. */
export interface Heard {
  readonly events: AnyEvent[];
  readonly decisions: AnyDecision[];
}

/** The same scheduler, with a record of what goes in and out. */
export function overheard(scheduler: Scheduler): { scheduler: Scheduler; heard: Heard } {
  const heard: Heard = { events: [], decisions: [] };
  return {
    heard,
    scheduler: {
      ...scheduler,
      create: (options) => {
        const policy = scheduler.create(options);
        return {
          id: policy.id,
          send: (event) => {
            heard.events.push(structuredClone(event));
            const decisions = policy.send(event);
            heard.decisions.push(...structuredClone(decisions as AnyDecision[]));
            return decisions;
          },
        };
      },
    },
  };
}

/** Every prompt that was trained, in order. */
export function trainedPrompts(heard: Heard): string[] {
  return heard.decisions.flatMap((decision) =>
    decision.type === 'round.completed'
      ? (decision as unknown as { prompts: { promptId: string }[] }).prompts.map(({ promptId }) => promptId)
      : [],
  );
}
