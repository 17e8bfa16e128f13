/**
 * What a host has to do outside, and how each end is reported to the policies. Doing a task twice does what doing it
 * once does, so that it can be done again after a restart.
 */
import type { SglangClient } from '../http-engine/client.ts';
import type { HostEvent } from './job.ts';
import type { Records } from './records.ts';
import type { TrainerClient, TrainingUpdate } from './trainer.ts';

/** One thing to do. */
export type Task =
  | { readonly do: 'generate'; readonly requestId: string; readonly promptId: string; readonly index: number }
  | { readonly do: 'abort'; readonly requestId: string }
  | { readonly do: 'reward'; readonly requestId: string }
  | ({ readonly do: 'train'; readonly updateId: string } & TrainingUpdate)
  | { readonly do: 'step'; readonly roundId: string; readonly update: number; readonly updateId: string }
  | { readonly do: 'publish'; readonly roundId: string; readonly weightVersion: number };

/** The body of a response. The policies know its id and its length, and nothing else. */
export interface Body {
  readonly requestId: string;
  readonly promptId: string;
  readonly index: number;
  readonly text: string;
  readonly tokens: number;
  readonly weightVersion: string;
}

/** Where tasks are done. */
export interface Outside {
  readonly engine: Pick<SglangClient, 'generate' | 'abort' | 'updateWeights'>;
  readonly trainer: Pick<TrainerClient, 'attach' | 'accumulate' | 'step'>;
  readonly bodies: Pick<Records<Body>, 'append'>;
  /** Text of a response whose body is on disk. */
  readonly textOf: (requestId: string) => string;
  readonly maxNewTokens: number;
}

/** An event without its time. */
export type Report = HostEvent extends infer E ? (E extends { at: number } ? Omit<E, 'at'> : never) : never;

/** Does a task. Gives the event that reports its end, if there is one. */
export async function carryOut(task: Task, outside: Outside): Promise<Report | undefined> {
  const { engine, trainer } = outside;
  switch (task.do) {
    case 'generate':
      return generate(task, outside);
    case 'abort':
      // How the request has ended is said by its own stream, where somebody still listens to it.
      await engine.abort(task.requestId);
      return undefined;
    case 'reward':
      return { type: 'reward.ready', requestId: task.requestId, reward: rewardOf(outside.textOf(task.requestId)) };
    case 'train': {
      const { roundId, update, updateId, tokens, groups } = task;
      const seconds = await trainer.accumulate({ roundId, update, tokens, groups });
      return { type: 'update.consumed', updateId, groups: groups.map((one) => one.groupId), seconds };
    }
    case 'step':
      await trainer.step(task.roundId, task.update);
      return { type: 'optimizer.stepped', roundId: task.roundId, updateId: task.updateId };
    case 'publish':
      await engine.updateWeights(task.weightVersion);
      return { type: 'weights.published', roundId: task.roundId, weightVersion: task.weightVersion };
  }
}

async function generate(
  { requestId, promptId, index }: Extract<Task, { do: 'generate' }>,
  { engine, bodies, maxNewTokens }: Outside,
): Promise<Report> {
  try {
    // The same seed for every try: a response that was lost comes back as it was.
    const response = await engine.generate({ requestId, text: promptId, maxNewTokens, samplingSeed: index });
    const { ending, text, tokens, weightVersion } = response;
    if (ending === 'abort') return { type: 'request.aborted', requestId, tokens };
    // The body is on disk before any policy counts on it.
    await bodies.append({ requestId, promptId, index, text, tokens, weightVersion });
    return { type: 'response.completed', requestId, tokens };
  } catch (error) {
    return { type: 'response.failed', requestId, kind: 'infrastructure', message: String(error) };
  }
}

/** A reward that depends on nothing but the text, 0 or 1. */
function rewardOf(text: string): number {
  let hash = 7;
  for (const one of text) hash = (hash * 31 + one.charCodeAt(0)) % 1009;
  return hash % 2;
}
