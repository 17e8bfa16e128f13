/**
 * What a host has to do outside, and the event that reports the end of each to the policies. To do a task twice is to
 * do it once, so that one that may have been done can be done again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PolicyOf, rolloutPipe } from 'rollflex';
import type { Records } from './records.ts';
import type { SglangClient } from './sglang-client.ts';
import type { TrainingUpdate } from './trainer.ts';
import type { TrainerClient } from './trainer-server.ts';

/** Which response of which group, and which try of it. */
interface Place {
  readonly roundId: string;
  readonly promptId: string;
  readonly index: number;
  /** Tries that have failed before. */
  readonly failures: number;
}

/** One thing to do. */
export type Task =
  | ({ readonly do: 'generate'; readonly requestId: string } & Place)
  | ({ readonly do: 'retry' } & Place)
  | { readonly do: 'abort'; readonly requestId: string }
  | { readonly do: 'reward'; readonly requestId: string }
  | ({ readonly do: 'train'; readonly updateId: string } & TrainingUpdate)
  | { readonly do: 'step'; readonly roundId: string; readonly update: number; readonly updateId: string }
  | {
      readonly do: 'publish';
      readonly roundId: string;
      readonly publicationId: string;
      readonly weightVersion: number;
    };
export type TaskOf<T extends Task['do']> = Extract<Task, { do: T }>;

/** The body of a response. The policies know its id and its length, and nothing else. */
export interface Body {
  readonly requestId: string;
  readonly promptId: string;
  readonly index: number;
  readonly text: string;
  readonly tokens: number;
  readonly weightVersion: number;
}

/** Where tasks are done. */
export interface Outside {
  readonly engine: Pick<SglangClient, 'generate' | 'abort' | 'updateWeights'>;
  readonly trainer: Pick<TrainerClient, 'attach' | 'accumulate' | 'step'>;
  readonly bodies: Pick<Records<Body>, 'append'>;
  /** Text of a response whose body is on disk. */
  readonly textOf: (requestId: string) => string;
  readonly maxNewTokens: number;
  /** Seconds before the first retry; each further one waits twice as long. */
  readonly retrySeconds: number;
}

type HostEvent = Parameters<PolicyOf<typeof rolloutPipe>['send']>[0];
/** An event of the policies without its time. */
export type Report = HostEvent extends infer E ? (E extends { at: number } ? Omit<E, 'at'> : never) : never;

/** The id of a request: `<prefix><prompt>/<index>#<failures>`, so new for each try of each host. */
export const idOf = (prefix: string, { promptId, index, failures }: Omit<Place, 'roundId'>): string =>
  `${prefix}${promptId}/${index}#${failures}`;
/** What an id says of the tries before it. */
export const failuresOf = (requestId: string): number => Number(requestId.slice(requestId.lastIndexOf('#') + 1));

/** Does a task. Gives the event that reports its end, if there is one. */
export async function carryOut(task: Task, outside: Outside, idPrefix: string): Promise<Report | undefined> {
  const { engine, trainer } = outside;
  switch (task.do) {
    case 'generate':
      return generate(task, outside);
    case 'retry': {
      const { roundId, promptId, index, failures } = task;
      await sleep(outside.retrySeconds * 1000 * 2 ** (failures - 1));
      return { type: 'request.arrived', requestId: idOf(idPrefix, task), promptId, roundId, index };
    }
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
    case 'publish': {
      const { roundId, publicationId, weightVersion } = task;
      await engine.updateWeights(weightVersion);
      return { type: 'weights.published', roundId, publicationId, weightVersion };
    }
  }
}

async function generate({ requestId, promptId, index }: TaskOf<'generate'>, outside: Outside): Promise<Report> {
  const { engine, bodies, maxNewTokens } = outside;
  // The same seed for every try: a response that was lost comes back as it was.
  const asked = { requestId, text: promptId, maxNewTokens, samplingSeed: index };
  const response = await engine.generate(asked).catch((error: unknown) => String(error).slice(0, 200));
  if (typeof response === 'string') {
    return { type: 'response.failed', requestId, kind: 'infrastructure', message: response };
  }
  const { ending, text, tokens } = response;
  if (ending === 'abort') return { type: 'request.aborted', requestId, tokens };
  const weightVersion = Number(response.weightVersion);
  // The body is on disk before any policy counts on it.
  await bodies.append({ requestId, promptId, index, text, tokens, weightVersion });
  return { type: 'response.completed', requestId, tokens, weightVersions: [weightVersion] };
}

/** A reward that depends on nothing but the text: 0 or 1. */
function rewardOf(text: string): number {
  let hash = 7;
  for (const one of text) hash = (hash * 31 + one.charCodeAt(0)) % 1009;
  return hash % 2;
}
