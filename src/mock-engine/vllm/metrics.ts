/** `GET /metrics` of a vLLM engine: the metrics of vLLM that the simulation knows, under vLLM's names. */
import { mostTokens } from '../../sim/models/draft-settings.ts';
import { blockTokens } from '../engine/prompts/prefix.ts';
import type { Histogram } from '../engine/requests/histogram.ts';
import type { RouteContext } from '../generating.ts';

/** vLLM's counters of things that never happen here: caches beside the prefix cache, and FLOPs. */
const zeros = [
  'external_prefix_cache_queries_total',
  'external_prefix_cache_hits_total',
  'mm_cache_queries_total',
  'mm_cache_hits_total',
  'estimated_flops_per_gpu_total',
  'estimated_read_bytes_per_gpu_total',
  'estimated_write_bytes_per_gpu_total',
];

/** Writes the metrics of an engine in the text format of Prometheus. */
export function metricsText({ engine, cluster }: RouteContext): string {
  const { running, waiting, usedTokens, kvCapacityTokens } = engine.load();
  const { counts, work } = engine;
  const lines: string[] = [];
  const own = { engine: '0', model_name: cluster.options.model };
  const write = (name: string, type: string, help: string, samples: readonly [object, number, string?][]): void => {
    lines.push(`# HELP vllm:${name} ${help}`, `# TYPE vllm:${name} ${type}`);
    for (const [labels, value, suffix = ''] of samples)
      lines.push(`vllm:${name}${suffix}${labelsText(labels)} ${value}`);
  };
  const gauge = (name: string, help: string, value: number): void => write(name, 'gauge', help, [[own, value]]);
  const counter = (name: string, help: string, value: number): void => write(name, 'counter', help, [[own, value]]);
  const labelled = (
    name: string,
    type: string,
    help: string,
    label: string,
    values: Readonly<Record<string, number>>,
  ) =>
    write(
      name,
      type,
      help,
      Object.entries(values).map(([one, value]) => [{ ...own, [label]: one }, value]),
    );
  const histogram = (name: string, help: string, sizes: Pick<Histogram, 'buckets' | 'count' | 'sum'>): void => {
    const buckets = sizes
      .buckets()
      .map(([le, count]) => [{ ...own, le }, count, '_bucket'] as [object, number, string]);
    write(name, 'histogram', help, [...buckets, [own, sizes.count, '_count'], [own, sizes.sum, '_sum']]);
  };
  // Like the real metric, this one does not count requests that a pause holds back.
  gauge('num_requests_running', 'Requests in the batch.', running);
  gauge('num_requests_waiting', 'Requests that wait at the scheduler.', waiting);
  const reasons = { capacity: waiting, deferred: 0 };
  labelled('num_requests_waiting_by_reason', 'gauge', 'Requests that wait, by why.', 'reason', reasons);
  const asleep = engine.isClosedBy('weights') || engine.isClosedBy('kv_cache');
  const states = { awake: asleep ? 0 : 1, weights_offloaded: asleep ? 1 : 0, discard_all: 0 };
  labelled('engine_sleep_state', 'gauge', 'State of the sleep: 1 for the present one.', 'sleep_state', states);
  gauge('kv_cache_usage_perc', 'Part of the KV cache in use, 0 to 1.', usedTokens / kvCapacityTokens);
  counter('num_preemptions_total', 'Preemptions.', work.preemptions);
  const blocks = { block_size: `${blockTokens}`, num_gpu_blocks: `${Math.floor(kvCapacityTokens / blockTokens)}` };
  const settings = { enable_prefix_caching: cluster.options.prefixCaching ? 'True' : 'False', engine: '0' };
  write('cache_config_info', 'gauge', 'Settings of the KV cache.', [[{ ...blocks, ...settings }, 1]]);
  const { promptTokens, cachedTokens, generatedTokens } = engine.tokensSoFar();
  counter('prompt_tokens_total', 'Tokens of prompts.', promptTokens);
  const computed = promptTokens - cachedTokens;
  const sources = { local_compute: computed, local_cache_hit: cachedTokens, external_kv_transfer: 0 };
  labelled(
    'prompt_tokens_by_source_total',
    'counter',
    'Tokens of prompts, by where they came from.',
    'source',
    sources,
  );
  counter('generation_tokens_total', 'Generated tokens.', generatedTokens);
  const { stop, length, abort } = counts;
  const ends = { stop, length, abort, error: 0, repetition: 0 };
  labelled('request_success_total', 'counter', 'Requests that have ended, by how.', 'finished_reason', ends);
  counter('prefix_cache_queries_total', 'Tokens that were looked up in the prefix cache.', promptTokens);
  counter('prefix_cache_hits_total', 'Tokens that were found in it.', cachedTokens);
  counter('prompt_tokens_cached_total', 'Tokens of prompts that were found in a cache.', cachedTokens);
  for (const name of zeros) counter(name, 'Never happens here.', 0);
  const { model_name } = own;
  const rejections = ['max_num_queued_reqs', 'max_num_queued_tokens'].map((reason) => ({ model_name, reason }));
  write(
    'admission_rejections_total',
    'counter',
    'Never happens here.',
    rejections.map((one) => [one, 0]),
  );
  const cachedFrom = { device: cachedTokens, host: 0, p2p: 0, disk: 0, external_unspecified: 0 };
  labelled('prompt_tokens_cached_by_source_total', 'counter', 'The same, by where it was.', 'source', cachedFrom);
  // The engine knows sums over its steps, and not the seconds of each token: one bucket.
  const { tokens, sequenceSeconds } = engine.decodeMoments();
  const whole = Math.round(tokens);
  const latency = { buckets: (): [string, number][] => [['+Inf', whole]], count: whole, sum: sequenceSeconds };
  histogram('inter_token_latency_seconds', 'Simulated seconds between the tokens of a request.', latency);
  histogram('request_prompt_tokens', 'Tokens of the prompts of requests that have ended.', counts.sizes.prompts);
  histogram('request_generation_tokens', 'Generated tokens of requests that have ended.', counts.sizes.responses);
  histogram('e2e_request_latency_seconds', 'Simulated seconds from arrival to end.', counts.sizes.seconds);
  const { drafts } = cluster.cost;
  if (drafts !== undefined) {
    // Expectations, in whole tokens.
    const positions = Array.from({ length: mostTokens(drafts) }, (_, at) => engine.seenDrafts[at]);
    const sumOf = (tokens: 'offered' | 'accepted') =>
      positions.reduce((sum, one) => sum + Math.round(one?.[tokens] ?? 0), 0);
    counter('spec_decode_num_drafts_total', 'Drafts.', Math.round(positions[0]?.offered ?? 0));
    counter('spec_decode_num_draft_tokens_total', 'Drafted tokens.', sumOf('offered'));
    counter('spec_decode_num_accepted_tokens_total', 'Accepted ones.', sumOf('accepted'));
    const accepted = Object.fromEntries(positions.map((one, at) => [at, Math.round(one?.accepted ?? 0)]));
    const name = 'spec_decode_num_accepted_tokens_per_pos_total';
    labelled(name, 'counter', 'Accepted tokens, by their position in the draft.', 'position', accepted);
  }
  return `${lines.join('\n')}\n`;
}

function labelsText(labels: object): string {
  const quoted = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `{${Object.entries(labels).map(([name, value]) => `${name}="${quoted(`${value}`)}"`)}}`;
}
