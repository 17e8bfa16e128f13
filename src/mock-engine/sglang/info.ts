/** Information routes of an SGLang engine: load, health, model and server. */
import type { DecodeMoments } from '../../sim/engine/counters.ts';
import { type DraftSettings, mostTokens } from '../../sim/models/draft-settings.ts';
import type { MockEngine } from '../engine/mock-engine.ts';
import type { RouteContext } from '../generating.ts';
import { type Handler, type Routes, refuse, reply, replyEmpty } from '../http/http.ts';
import { versionFollowed } from './version.ts';

/** Parts of the load that a client may ask for; this engine has `core` and `queues`. */
const sections = ['core', 'memory', 'spec', 'lora', 'disagg', 'queues', 'all'];

export function infoRoutes(stand: RouteContext): Routes {
  const { engine, cluster } = stand;
  const healthy: Handler = ({ response }) => replyEmpty(response);
  const model: Handler = ({ response }) =>
    reply(response, {
      model_path: cluster.options.model,
      served_model_name: cluster.options.model,
      tokenizer_path: cluster.options.model,
      is_generation: true,
      preferred_sampling_params: null,
      weight_version: engine.weightVersion,
      load_format: 'auto',
      reasoning_parser: null,
      tool_call_parser: null,
      disaggregation_mode: 'null',
      has_image_understanding: false,
      has_audio_understanding: false,
      model_type: null,
      architectures: null,
    });
  const server: Handler = ({ response }) => reply(response, serverInfo(stand));
  return {
    'GET /health': healthy,
    'GET /health_generate': healthy,
    'GET /ready': healthy,
    'GET /ping': healthy,
    'GET /get_model_info': model,
    'GET /model_info': model,
    'GET /get_server_info': server,
    'GET /server_info': server,
    'GET /v1/loads': ({ query, response }) => reply(response, loads(stand, query.get('include'))),
    'GET /get_load': ({ response }) => {
      const { running, waiting, usedTokens } = engine.load();
      reply(response, [{ dp_rank: 0, num_reqs: running + waiting, num_waiting_reqs: waiting, num_tokens: usedTokens }]);
    },
    'GET /v1/models': ({ response }) => {
      const { model: id, contextTokens } = cluster.options;
      const created = Math.floor(Date.now() / 1000);
      const owner = { owned_by: 'sglang', root: id, parent: null };
      const card = { id, object: 'model', created, ...owner, max_model_len: contextTokens };
      reply(response, { object: 'list', data: [card] });
    },
  };
}

function serverInfo({ engine, cluster }: RouteContext): unknown {
  const { options } = cluster;
  const { running, kvCapacityTokens } = engine.load();
  return {
    model_path: options.model,
    served_model_name: options.model,
    tp_size: cluster.cost.gpus,
    dp_size: 1,
    pp_size: 1,
    disaggregation_mode: 'null',
    context_length: options.contextTokens,
    max_running_requests: cluster.cost.maxRunningSequences,
    max_total_num_tokens: kvCapacityTokens,
    ep_size: 1,
    moe_dp_size: 1,
    // slime compares these settings with those it would have started, and stops at a difference.
    enable_memory_saver: false,
    enable_return_routed_experts: false,
    dtype: 'auto',
    stream_interval: options.streamInterval,
    weight_version: engine.weightVersion,
    launch_command: 'rollflex mock-engine',
    kv_events: null,
    frontend: 'python',
    ...speculation(cluster.cost.drafts),
    internal_states: [{ num_running_reqs: running, ...acceptLength(engine.seenDrafts) }],
    status: 'ready',
    version: versionFollowed,
  };
}

/** Settings of drafts, if there are any: chains. */
function speculation(drafts: DraftSettings | undefined): object {
  if (drafts === undefined) return {};
  const steps = mostTokens(drafts);
  return {
    speculative_algorithm: 'EAGLE',
    speculative_num_steps: steps,
    speculative_eagle_topk: 1,
    speculative_num_draft_tokens: steps + 1,
    speculative_adaptive: typeof drafts.tokens !== 'number',
  };
}

/** Mean tokens per verification since the start, accepted ones plus one; absent before the first. */
function acceptLength(seen: MockEngine['seenDrafts']): object {
  const verified = seen[0]?.offered ?? 0;
  if (verified === 0) return {};
  return { avg_spec_accept_length: 1 + seen.reduce((sum, one) => sum + one.accepted, 0) / verified };
}

/** The engine prefills and decodes by itself. */
const disaggregation = {
  mode: 'null',
  prefill_bootstrap_queue_reqs: 0,
  prefill_inflight_queue_reqs: 0,
  decode_prealloc_queue_reqs: 0,
  decode_transfer_queue_reqs: 0,
  decode_retracted_queue_reqs: 0,
  kv_transfer_speed_gb_s: 0,
  kv_transfer_latency_ms: 0,
};

/** As SGLang has them: steps, Σ b, Σ t, Σ b², Σ b · t, tokens; t in microseconds. */
const momentsOf = (one: DecodeMoments): number[] => [
  one.steps,
  one.sequences,
  Math.round(1e6 * one.seconds),
  one.squaredSequences,
  Math.round(1e6 * one.sequenceSeconds),
  Math.round(one.tokens),
];

function loads({ engine, cluster }: RouteContext, include: string | null): unknown {
  const asked = include === null ? ['all'] : include.split(',').map((one) => one.trim());
  const unknown = asked.filter((one) => !sections.includes(one));
  if (unknown.length > 0) refuse(`Invalid include sections: ${unknown}. Valid options: ${[...sections].sort()}`);
  const { running, waiting, waitingTokens, usedTokens, kvCapacityTokens } = engine.load();
  const { promptTokens, cachedTokens } = engine.tokensSoFar();
  const { maxRunningSequences, gpus } = cluster.cost;
  const queues = asked.includes('all') || asked.includes('queues');
  return {
    timestamp: new Date(cluster.now * 1000).toISOString(),
    version: versionFollowed,
    accelerator: 'none',
    num_accelerators: gpus,
    loads: [
      {
        dp_rank: 0,
        timestamp: cluster.now,
        num_running_reqs: running,
        num_waiting_reqs: waiting,
        num_used_tokens: usedTokens,
        num_total_tokens: usedTokens + waitingTokens,
        num_active_tokens: usedTokens + waitingTokens,
        num_waiting_uncached_tokens: waitingTokens,
        num_prealloc_ready_tokens: 0,
        cache_hit_rate: promptTokens === 0 ? 0 : cachedTokens / promptTokens,
        total_prefill_uncached_tokens: promptTokens - cachedTokens,
        max_total_num_tokens: kvCapacityTokens,
        token_usage: usedTokens / kvCapacityTokens,
        max_running_requests: maxRunningSequences,
        decode_moments: momentsOf(engine.decodeMoments()),
        ...(asked.includes('all') || asked.includes('disagg') ? { disaggregation } : {}),
        ...(queues ? { queues: { waiting, grammar: 0, paused: 0, retracted: 0, prealloc_ready: 0 } } : {}),
      },
    ],
  };
}
