/** `GET /metrics` of a vLLM engine, with vLLM's names. */
import type * as Prometheus from 'prom-client';
import { optionalPackage } from '../../core/optional-package.ts';
import type { RouteContext } from '../generating.ts';

/** Reads the metrics of an engine. */
export async function metricsText({
  engine,
  cluster,
}: RouteContext): Promise<{ readonly type: string; readonly text: string }> {
  // The package is CommonJS: in a bundle, only its default export is reliable.
  const loaded: unknown = await optionalPackage('prom-client', 'metrics', () => import('prom-client'));
  const { default: client } = loaded as { default: typeof Prometheus };
  const { Counter, Gauge, Registry } = client;
  const registry = new Registry();
  const registers = [registry];
  const labels = { model_name: cluster.options.model, engine: '0' };
  const labelNames = Object.keys(labels);
  const gauge = (name: string, help: string, value: number): void => {
    new Gauge({ name: `vllm:${name}`, help, labelNames, registers }).set(labels, value);
  };
  const counter = (name: string, help: string, value: number): void => {
    new Counter({ name: `vllm:${name}`, help, labelNames, registers }).inc(labels, value);
  };
  const { running, waiting, held, usedTokens, kvCapacityTokens } = engine.load();
  const { counts, work } = engine;
  gauge('num_requests_running', 'Number of requests in model execution batches.', running);
  gauge('num_requests_waiting', 'Number of requests waiting to be processed.', waiting + held);
  gauge('kv_cache_usage_perc', 'KV-cache usage. 1 means 100 percent usage.', usedTokens / kvCapacityTokens);
  counter('num_preemptions_total', 'Preemptions.', work.preemptions);
  counter('prompt_tokens_total', 'Tokens of the prompts of requests that have ended.', counts.promptTokens);
  const generated = counts.completedTokens + counts.abortedTokens + counts.lostTokens;
  counter('generation_tokens_total', 'Tokens generated for requests that have ended.', generated);
  const names = [...labelNames, 'finished_reason'];
  const help = 'Requests that have ended.';
  const ends = new Counter({ name: 'vllm:request_success_total', help, labelNames: names, registers });
  for (const finished_reason of ['stop', 'length', 'abort'] as const) {
    ends.inc({ ...labels, finished_reason }, counts[finished_reason]);
  }
  return { type: registry.contentType, text: await registry.metrics() };
}
