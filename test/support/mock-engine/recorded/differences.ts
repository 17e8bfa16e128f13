/** What stays different between the mock engine and the real servers. The documentation shows these lists. */
import type { Difference } from './compare.ts';

export const vllmDifferences: readonly Difference[] = [
  {
    calls: /^completion: echo$/,
    field: /./,
    what: '`echo` is refused with 400',
    why: 'the mock engine has no tokenizer, so tokens of a prompt have no text',
  },
  {
    calls: /^error: chat: (no role|message is text)$/,
    field: /^shape\.error\.param: /,
    what: 'a message of a wrong type: `error.param` is `body.messages.0.role`, without the class that vLLM tried to read',
    why: 'the name of the class says nothing to a client',
  },
  {
    calls: /^information: \/metrics$/,
    field:
      /^shape\.vllm:(time_to_first_token|request_(time_per_output_token|queue_time|inference_time|prefill_time|decode_time))_seconds: /,
    what: '`/metrics`: no histograms of the times within a request (first token, queue, prefill, decode)',
    why: 'the simulation moves from event to event, and keeps no time for each token; `inter_token_latency_seconds` has one bucket, and `e2e_request_latency_seconds` are there',
  },
  {
    calls: /^information: \/metrics$/,
    field:
      /^shape\.vllm:(iteration_tokens_total|request_(max_num_generation_tokens|num_preemptions|params_max_tokens|params_n|prefill_kv_computed_tokens)): /,
    what: '`/metrics`: no histograms of tokens of an iteration, preemptions and settings of a request',
    why: 'they are not counted for each request',
  },
  {
    calls: /^information: \/metrics$/,
    field: /^shape\.vllm:(rl_weight_update|sleep_mode)_operation/,
    what: '`/metrics`: nothing about the durations of weight updates and sleeps',
    why: 'they would be those of the options, not measured ones',
  },
  {
    calls: /^information: \/metrics$/,
    field: /^shape\.vllm:cache_config_info: /,
    what: '`/metrics`: `cache_config_info` has the size and the number of blocks, and `enable_prefix_caching`',
    why: 'the other settings have nothing here that they would set',
  },
];

export const sglangDifferences: readonly Difference[] = [
  {
    calls: /./,
    field: /meta_info\.num_retractions: /,
    what: '`meta_info` has no `num_retractions`',
    why: 'the simulation counts preemptions of an engine (`/stats`), not of a request',
  },
  {
    calls: /^information: \/model_info$/,
    field: /^shape\.(architectures|model_type): /,
    what: '`/model_info`: `architectures` and `model_type` are null',
    why: 'there is no model',
  },
  {
    calls: /^information: \/server_info$/,
    field: /^shape\.(internal_states|max_req_input_len|startup_time|status)/,
    what: '`/server_info` has the settings that hosts and trainers compare, not all; `internal_states` has the running requests only; `status` is that of earlier versions',
    why: 'the other settings have nothing here that they would set',
  },
  {
    calls: /^loads/,
    field: /^shape\.loads\[\]\.(gen_throughput|total_prefill_busy_us|utilization|memory): /,
    what: '`/v1/loads` has no `gen_throughput`, `utilization`, `total_prefill_busy_us` and `memory`',
    why: 'SGLang measures them over intervals of its own, and in bytes of a GPU',
  },
];

/** Routes of the real servers that the mock engine does not have. */
export const missingRoutes: Readonly<Record<'vllm' | 'sglang', readonly MissingRoutes[]>> = {
  vllm: [
    { routes: /tokenize|\/(de)?render$|count_tokens/, why: 'it has no tokenizer and no chat template' },
    {
      routes: /\/v1\/(responses|messages|systemone|chat\/completions\/batch)|invocations|generative_scoring/,
      why: 'other APIs for the same responses',
    },
    { routes: /elastic_ep|kv_event_sources/, why: 'parallelism and transfers of KV caches that it does not model' },
    {
      routes: /server_info|collective_rpc|weight_checker|start_draft_weight_update|release_kv_cache_memory/,
      why: 'they reach into workers and memory that it does not have',
    },
  ],
  sglang: [
    { routes: /tokenize/, why: 'it has no tokenizer' },
    {
      routes:
        / \/(v1\/(?!models$|loads)|api\/|invocations|vertex|encode|classify|parse_function|separate_reasoning|open_session|close_session|$)/,
      why: 'other APIs, and models that do not generate',
    },
    {
      routes: /lora|hicache|corpus|corpora|remote_instance|pd_role_switch|get_weights_by_name|weights_checker/,
      why: 'adapters, caches and weights that it does not have',
    },
    {
      routes: /profile|trace|expert_distribution|freeze_gc|slow_down|configure_logging|dumper|internal_state/,
      why: 'tools for the process of the real server; `POST /fault` has `slow`',
    },
  ],
};

/** Routes that are missing, with the reason. */
export interface MissingRoutes {
  readonly routes: RegExp;
  readonly why: string;
}
