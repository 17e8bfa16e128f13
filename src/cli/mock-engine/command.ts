/** The options of `rollflex mock-engine`, and its help. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Speed } from '../../mock-engine/index.ts';
import { jobPresetIds } from '../../sim/models/presets.ts';
import { correlationOption, resamplingOption } from '../job/workloads.ts';
import { between, whole } from '../terminal/arguments.ts';
import { option } from '../terminal/options.ts';
import { type MockEngineCommandOptions, runMockEngine } from './run.ts';

const explained = `
What it is
  Inference engines without a GPU, for tests of hosts and adapters: HTTP, streams, batches,
  queues, aborts and failures are real, response lengths come from a trace, times from the
  cost model of rollflex simulate, tokens are made up. In front of them stands a router with
  the routes of SGLang's, and routes of its own:

  GET  /clock   {"seconds":12.5,"speed":100,"nextEventAt":12.8}
  POST /clock   {"speed":0}, then {"advanceSeconds":10}: time by hand
  POST /fault   {"fault":"crash","engine":0,"restartAfterSeconds":30}
  GET  /stats   requests, tokens, load of each engine

Faults
  crash, restart, reset, hang, resume, slow, shrink-kv, ignore-aborts, refuse; --faults reads a
  JSON list of them, each with the simulated seconds "at" which it happens.

Examples
  rollflex mock-engine                                one engine with SGLang's routes
  rollflex mock-engine --api vllm --port 8000 --speed 100
  rollflex mock-engine --engines 8 --control-port 30000 --speed max my-lengths.jsonl
  rollflex mock-engine --kv-tokens 40000 --context 8192 --faults faults.json --json`;

/** Parses a speed on the command line. */
function speed(text: string): Speed {
  const value = Number(text);
  if (text === 'max') return text;
  if (text.trim() === '' || !(value >= 0 && value <= 1e9)) {
    throw new InvalidArgumentError('Expected a number from 0 to 1e9, or max.');
  }
  return value;
}

export function mockEngineCommand(): Command {
  const seconds = between(0, 1e6);
  return new Command('mock-engine')
    .argument('[trace]', 'response lengths; the bundled ones (CASTILLO 7B) if none')
    .addOption(new Option('--api <name>', 'whose routes').choices(['sglang', 'vllm']).default('sglang'))
    .addOption(option('engines', 'engines, each at a port of its own', { usual: 1, parse: whole(1, 256) }))
    .option('--port <n>', 'port of the first engine, the others behind it; 0: any that are free', whole(0, 65_535), 0)
    .option('--control-port <n>', 'port of the router, /clock, /fault and /stats; 0: any', whole(0, 65_535), 0)
    .option('--host <address>', 'address to listen at', '127.0.0.1')
    .option('--speed <n>', 'simulated seconds in a second; 0 stands still; max: from event to event', speed, 1)
    .option('--settle-ms <ms>', 'with --speed max: for clients to react before time goes on', between(0, 60_000), 2)
    .addOption(
      new Option('--preset <id>', 'model and GPUs: what takes how long, and the KV cache')
        .choices(jobPresetIds)
        .default('qwen2.5-7b-8k'),
    )
    .option('--kv-tokens <n>', 'tokens of the KV cache of an engine (preset)', whole(2, 1e9))
    .option('--max-running <n>', 'most requests in a batch (preset: 256)', whole(1, 1e6))
    .option('--context <tokens>', 'most tokens of prompt and response together', whole(2, 1e9), 32_768)
    .addOption(option('cap', 'longest response of the trace', { usual: 16_384 }))
    .addOption(
      new Option('--scheduling <order>', 'of the waiting queue; priority: lower first')
        .choices(['fcfs', 'priority'])
        .default('fcfs'),
    )
    .option('--no-prefix-caching', 'every prefill costs all of its tokens')
    .option('--prompt-tokens-details', 'vLLM: usage says how much of the prompt was cached')
    .option('--stream-interval <tokens>', 'tokens between two events of a stream', whole(1, 1e6), 16)
    .option('--incremental-streaming', 'SGLang: events hold what is new, not all of the response so far')
    .option('--tokenize-seconds <s>', 'before a request reaches the scheduler, and aborts reach it', seconds, 0.002)
    .option('--abort-lag-seconds <s>', 'before the scheduler sees an abort', seconds, 0.02)
    .option('--disconnect-seconds <s>', 'from a closed connection to its abort (SGLang: 2, vLLM: 0)', seconds)
    .option('--update-seconds <s>', 'of an update of the weights (preset)', seconds)
    .option('--model <name>', 'name of the model', 'mock-model')
    .option('--api-key <key>', 'clients must send it as "Authorization: Bearer", or get 401')
    .option('--speculative-config <json>', 'vLLM: num_speculative_tokens, num_speculative_tokens_per_batch_size')
    .option('--speculative-num-steps <n>', 'SGLang: tokens that are drafted for each sequence in a step', whole(1, 64))
    .option('--speculative-num-draft-tokens <n>', 'SGLang: verified tokens, one more than the steps', whole(2, 65))
    .option('--speculative-adaptive-config <file>', 'SGLang: one of candidate_steps for each batch size')
    .option('--draft-acceptance <share>', 'of drafted tokens, each after those before it', between(0, 1), 0.6)
    .option('--faults <file>', 'what goes wrong, and when: a JSON list')
    .addOption(option('seed', 'which lengths are drawn', { usual: 1 }))
    .addOption(resamplingOption())
    .addOption(correlationOption())
    .addOption(option('json', 'print the addresses as one JSON object, once they can be reached'))
    .addHelpText('after', explained)
    .action(async (trace: string | undefined, options: MockEngineCommandOptions) => {
      await runMockEngine(trace, options);
    });
}
