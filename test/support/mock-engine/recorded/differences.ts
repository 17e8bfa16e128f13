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
      /^shape\.vllm:(time_to_first_token|inter_token_latency|request_(time_per_output_token|queue_time|inference_time|prefill_time|decode_time))_seconds: /,
    what: '`/metrics`: no histograms of the times within a request (first token, between tokens, queue, prefill, decode)',
    why: 'the simulation moves from event to event, and keeps no time for each token; `e2e_request_latency_seconds` is there',
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
    what: '`/metrics`: no `cache_config_info`',
    why: 'the mock engine has no cache of blocks whose settings it could name',
  },
];
