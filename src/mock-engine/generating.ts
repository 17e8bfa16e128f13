/** Starts the responses that a request of either API asks for. */
import type { ServerResponse } from 'node:http';
import type { MockCluster } from './engine/cluster.ts';
import type { MockEngine } from './engine/mock-engine.ts';
import type { Prompt } from './engine/prompts/prompt.ts';
import type { PlannedResponse } from './engine/prompts/response-book.ts';
import { Generation, type Limits, type Listener } from './engine/requests/generation.ts';
import type { EngineServer } from './http/engine-server.ts';
import type { Pacer } from './http/pacer.ts';

/** Parts of the server that an engine's routes use. */
export interface RouteContext {
  readonly engine: MockEngine;
  readonly cluster: MockCluster;
  readonly pacer: Pacer;
  /** Returns the server of this engine, which exists once routes are called. */
  readonly server: () => EngineServer;
}

/** A response that a request asks for. */
export interface Wanted {
  readonly requestId: string;
  readonly prompt: Prompt;
  /** Number of the prompt's sample; without it, the order of requests counts. */
  readonly sample: number | undefined;
  /** Number of tokens, instead of the length from the workload. */
  readonly tokens: number | undefined;
  readonly priority: number;
}

/** Plans the response to a prompt, with the length from the request if it gives one. */
export function plan({ cluster }: RouteContext, { requestId, prompt, sample, tokens }: Wanted): PlannedResponse {
  const planned = cluster.book.plan(prompt, sample, requestId);
  return tokens === undefined ? planned : { ...planned, tokens };
}

/** Submits the responses that a request asks for. */
export function submit(
  { cluster, engine, pacer }: RouteContext,
  { requestId, prompt, priority }: Wanted,
  planned: PlannedResponse,
  limits: Limits,
  listener: Listener,
): Generation {
  const ended = (one: Generation): void => {
    pacer.active();
    listener.ended(one);
  };
  const generation = new Generation({
    requestId,
    id: cluster.mint(requestId),
    prompt,
    planned,
    limits,
    priority,
    at: cluster.now,
    listener: { ...listener, ended },
  });
  pacer.active();
  engine.submit(generation);
  return generation;
}

/** Aborts the requests of a response if its client disconnects before the end. */
export function abortWhenClosed(
  { engine, cluster, pacer, server }: RouteContext,
  response: ServerResponse,
  requestId: string,
  generations: ReadonlySet<Generation>,
): void {
  server().opened(response, requestId);
  response.once('close', () => {
    if (response.writableFinished || generations.size === 0) return;
    pacer.touch();
    engine.abortAfter(cluster.options.disconnectSeconds, (one) => generations.has(one), 'all');
    pacer.arm();
  });
}
