/**
 * What users get wrong, and what they are told: command lines with the files that they name, lines to a server, and calls of the
 * library. A test goes through all of them.
 */

import { create, tailBatching } from '../../../src/index.ts';

const beginning = create(tailBatching, { promptsPerRound: 1, responsesPerPrompt: 1, placement: 'host' }).snapshot();

/** Files that the command lines name. `null` is a folder. */
export const wrongFiles: Readonly<Record<string, string | null>> = {
  folder: null,
  'folder/notes.txt': 'not a dump\n',
  'lengths.jsonl': '{"prompt":"a","responses":[{"tokens":5}]}\n{"prompt":"b","responses":[{"tokens":9}]}\n',
  'negative.jsonl': '{"responses":[{"tokens":5}]}\n{"responses":[{"tokens":-5}]}\n',
  'fraction.jsonl': '{"responses":[{"tokens":5}]}\n\n{"responses":[{"tokens":0.30000000000000004}]}\n',
  'misspelt.jsonl': '{"responses":[{"tokens":5}]}\n{"responses":[{"token":5}]}\n',
  'cut.jsonl': '{"responses":[{"tokens":5}]}\n{"responses":[{"tok',
  'text.jsonl': 'hello\n',
  'empty.jsonl': '\n',
  'twice.jsonl': '{"prompt":"a","responses":[{"tokens":5}]}\n{"prompt":"a","responses":[{"tokens":5}]}\n',
  'no-log.jsonl': '{}\n',
  'job.jsonl': `${JSON.stringify({ snapshot: beginning })}\n`,
  'unknown-policy.jsonl': `${JSON.stringify({ snapshot: { ...beginning, policy: 'tail-batchin' } })}\n`,
  'sequences.jsonl': '{"responseTokens":5}\n{"responseTokens":5,"images":1}\n',
  'rewards.json': '{\n  "groups": [\n    {"rewards": [1, 0]},\n    {"rewards": [1, "no"]}\n  ]\n}\n',
  'drafts.json':
    '{\n"groups": [{"sequences": 1}],\n"passSeconds": [{"tokens": 8, "seconds": 1}],\n"drafter": {"passSeconds": 1},\n"maxDraftTokens": 2,\n"seen": [{"offered": 1, "accepted": 2}]\n}\n',
  'misspelt-key.json': '{\n  "groups": [{"rewards": [1, 0]}],\n  "normalisation": "none"\n}\n',
  'misspelt-value.json': '{\n  "groups": [{"rewards": [1, 0]}],\n  "normalization": "nome"\n}\n',
  'missing-comma.json': '{\n  "groups": [{"rewards": [1, 0]}]\n  "normalization": "none"\n}\n',
  'cut.json': '{\n  "groups": [\n',
  'empty.json': '',
  'list.json': '[]\n',
  'one-rollout.json': '{"rollouts":[{"trace":"lengths.jsonl","seconds":5}]}\n',
  'no-seconds.json':
    '{\n  "rollouts": [\n    {"trace": "lengths.jsonl", "seconds": 5},\n    {"trace": "lengths.jsonl"}\n  ]\n}\n',
  'misspelt-seconds.json':
    '{\n  "rollouts": [\n    {"trace": "lengths.jsonl", "seconds": 5},\n    {"trace": "lengths.jsonl", "second": 5}\n  ]\n}\n',
  'no-such-trace.json': '{"rollouts":[{"trace":"lengths.jsonl","seconds":5},{"trace":"lenghts.jsonl","seconds":5}]}\n',
  'no-such-step.json':
    '{\n"rollouts": [\n{"trace": "lengths.jsonl", "seconds": 5},\n{"trace": "lengths.jsonl", "seconds": 5, "step": 3}]}\n',
  'fault.json': '[\n  {"at": 1, "fault": "crash", "engine": 0},\n  {"at": 2, "fault": "crahs", "engine": 0}\n]\n',
  'fault-key.json': '[\n  {"at": 1, "fault": "crash", "engin": 0}\n]\n',
  'fault-engine.json': '[{"at": 1, "fault": "crash", "engine": 5}]\n',
  'short-token': 'secret\n',
  'no-definitions.js': 'export const nothing = 1;\n',
  'broken.js': 'export const one = 1;\nexport const two = ;\n',
  'throws.js': '\nthrow new Error("no GPU here");\n',
  'dump.jsonl': '{"input":"a","output":"b","score":1}\n',
  'broken-dump.jsonl': '{"input":"a","output":"b","score":1,"step":1}\n{"input":\n',
  'rollout.pt': 'PK',
  'tokenizer.json': '{"model": 5}\n',
};

/** A command line, the exit code, and what the message has. `%` is the folder of the files. */
export type WrongCommand = readonly [line: string, code: 1 | 2, ...says: string[]];

export const wrongCommands: readonly WrongCommand[] = [
  // Commands and options.
  ['', 2, 'Usage: rollflex'],
  ['simulat', 2, "unknown command 'simulat'", 'Did you mean simulate?'],
  ['simulate --etta 2', 2, "unknown option '--etta'", 'Did you mean --eta?'],
  ['simulate --promptsPerRound 8', 2, "unknown option '--promptsPerRound'", 'Did you mean --prompts-per-round?'],
  ['simulate --prompts_per_round 8', 2, 'Did you mean --prompts-per-round?'],
  ['simulate --no-report --eta', 2, "option '--eta <factor>' argument missing"],
  ['simulate --eta 0.9', 2, "'--eta <factor>'", "'0.9'", 'Expected a number from 1 to 16.'],
  ['simulate --eta two', 2, 'Expected a number from 1 to 16.'],
  ['simulate --engines 1.5', 2, "'--engines <n>'", 'Expected a whole number from 1 to 4096.'],
  ['simulate --steps=-3', 2, 'Expected a whole number from 1 to 100000.'],
  ['simulate --seeds=', 2, 'Expected a whole number from 1 to 1000.'],
  ['simulate --preset qwen2.5-7b', 2, "'--preset <id>'", 'did you mean "qwen2.5-7b-8k"?'],
  ['simulate --preset llama', 2, 'one of qwen2.5-7b-8k, qwen2.5-14b-16k, qwen2.5-32b-32k'],
  ['simulate --resampling copulla', 2, 'did you mean "copula"?'],
  ['simulate --judge dedicatd', 2, 'did you mean "dedicated"?'],
  ['simulate --prompts-per-round 100000', 2, 'responses of a round: expected at most 400000'],
  ['simulate --steps 100000', 2, 'responses of all steps and seeds: expected at most'],
  ['simulate --ablation --judge dedicated --engines 1', 2, 'two engines or more'],
  ['simulate --session s1', 2, '--session: expected --from-log'],
  ['simulate --open --no-report', 2, '--open: expected a report to open'],
  // Files of simulate.
  ['simulate %/lenghts.jsonl', 2, '%/lenghts.jsonl: there is no such file', 'did you mean "lengths.jsonl"?'],
  ['simulate %/none/lengths.jsonl', 2, 'there is no such file', 'nor the folder %/none'],
  ['simulate %/lengths.jsonl/x', 2, 'a part of this path is a file'],
  ['simulate %/folder', 2, '%/folder: expected a folder with dumps: *.jsonl'],
  ['simulate %/negative.jsonl', 2, 'negative.jsonl:2.responses[0].tokens: expected', 'got -5'],
  ['simulate %/fraction.jsonl', 2, 'fraction.jsonl:3.responses[0].tokens: expected a whole number, got 0.3 ('],
  ['simulate %/misspelt.jsonl', 2, 'misspelt.jsonl:2.responses[0]', 'tokens'],
  ['simulate %/cut.jsonl', 2, 'cut.jsonl:2: expected'],
  ['simulate %/text.jsonl', 2, 'text.jsonl:1'],
  ['simulate %/empty.jsonl', 2, 'empty.jsonl: expected a trace with prompts'],
  ['simulate %/twice.jsonl', 2, 'twice.jsonl:2', 'line 1'],
  ['simulate %/lengths.jsonl --from-log %/lengths.jsonl', 2, '--from-log', 'not both'],
  ['simulate --from-log %/lengths.jsonl', 2, '%/lengths.jsonl:1: expected an object with `event`'],
  ['simulate --from-log %/lenght.jsonl', 2, 'there is no such file', 'did you mean "lengths.jsonl"?'],
  ['simulate --from-log %/folder', 2, '%/folder: expected a folder with a decision log'],
  ['simulate %/lengths.jsonl --report %/none/r.html', 2, '%/none: there is no such file or folder'],
  ['simulate %/lengths.jsonl --report %/folder', 2, '--report: expected a file, not a folder'],
  ['simulate %/lengths.jsonl --report %/lengths.jsonl', 2, '--report: expected a file that is not read'],
  [
    'simulate %/lengths.jsonl --report %/a --perfetto %/a',
    2,
    '--perfetto: expected another file than that of --report',
  ],
  // Measured rollouts.
  ['simulate --calibrate %/none.json', 2, '%/none.json: there is no such file'],
  ['simulate --calibrate %/folder', 2, '%/folder: this is a folder'],
  ['simulate --calibrate %/empty.json', 2, '%/empty.json: expected measured rollouts as JSON, got nothing'],
  ['simulate --calibrate %/missing-comma.json', 2, '%/missing-comma.json:3: expected measured rollouts as JSON'],
  ['simulate --calibrate %/list.json', 2, '%/list.json: expected an object'],
  ['simulate --calibrate %/one-rollout.json', 2, '%/one-rollout.json:1.rollouts: expected array >= 2'],
  ['simulate --calibrate %/no-seconds.json', 2, '%/no-seconds.json:4.rollouts[1].seconds: expected a number'],
  [
    'simulate --calibrate %/misspelt-seconds.json',
    2,
    '%/misspelt-seconds.json:4.rollouts[1].second: expected',
    'did you mean "seconds"?',
  ],
  ['simulate --calibrate %/no-such-trace.json', 2, '%/lenghts.jsonl: there is no such file', '"lengths.jsonl"'],
  ['simulate --calibrate %/no-such-step.json', 2, '%/no-such-step.json:4.rollouts[1].step: expected a step'],
  // Other simulations.
  ['sweep --effort through', 2, 'did you mean "thorough"?'],
  ['sweep --job pool', 2, 'did you mean "pools"?'],
  ['sweep --task lsat-ar', 2, '--task: expected --job pools with --task'],
  ['sweep --job pools --preset qwen2.5-7b-8k', 2, '--preset: expected --job synchronous with --preset'],
  ['sweep --min-kept 2', 2, 'Expected a number from 0.01 to 1.'],
  ['sweep --resume %/folder', 2, '--resume: expected a file, not a folder'],
  ['sweep %/lenghts.jsonl', 2, '%/lenghts.jsonl: there is no such file', 'did you mean "lengths.jsonl"?'],
  ['pools --task lsat', 2, 'did you mean "lsat-ar"?'],
  ['pools --width wide', 2, 'Expected a whole number from 1 to 1000000, or auto.'],
  ['pools --groups 32,many', 2, 'Expected a whole number from 1 to 100000.'],
  ['pools --batch 5', 2, '--batch: expected a multiple of --responses-per-prompt, got 5'],
  ['vlm --degree 3', 2, '--degree: expected a power of two that divides 64 GPUs and 32 heads, got 3'],
  ['vlm --gpus 3', 2, '--gpus: expected a multiple of 4'],
  ['vlm --model qwen2.5-vl-7b', 2, 'did you mean "qwen2.5-vl-32b"?'],
  ['vlm --mixture video-heavi', 2, 'did you mean "video-heavy"?'],
  ['vlm %/sequences.jsonl', 2, 'sequences.jsonl:2'],
  ['vlm %/lengths.jsonl --mixture text', 2, '--mixture: expected a file, or --mixture, not both'],
  // Plans and schemas.
  ['plan', 2, "required option '--input <file>' not specified"],
  ['plan --input %/rewards.json', 2, "missing required argument 'planner'"],
  ['plan grpo-advantage --input %/rewards.json', 2, 'planner: expected one of', 'did you mean "grpo-advantages"?'],
  ['plan tail-batching --input %/rewards.json', 2, 'planner: expected one of', 'tail-batching, a recipe'],
  ['plan draft-budget --input %/drafts.json', 2, 'drafts.json:6.seen[0].accepted: expected at most 1, got 2'],
  ['plan grpo-advantages', 2, "required option '--input <file>' not specified"],
  ['plan grpo-advantages --input %/reward.json', 2, 'there is no such file', 'did you mean "rewards.json"?'],
  ['plan grpo-advantages --input %/folder', 2, '%/folder: this is a folder'],
  [
    'plan grpo-advantages --input %/rewards.json',
    2,
    '%/rewards.json:4.groups[1].rewards[1]: expected a number, got "no"',
  ],
  ['plan grpo-advantages --input %/misspelt-key.json', 2, '%/misspelt-key.json:3.normalisation', '"normalization"?'],
  ['plan grpo-advantages --input %/misspelt-value.json', 2, '%/misspelt-value.json:3.normalization', '"none"?'],
  ['plan grpo-advantages --input %/missing-comma.json', 2, '%/missing-comma.json:3: expected the input as JSON'],
  ['plan grpo-advantages --input %/cut.json', 2, '%/cut.json:2: expected the input as JSON'],
  ['schema request.abrot', 2, 'did you mean "request.abort"?'],
  ['schema tail-batching --plan', 2, '--plan: expected a planner, got "tail-batching, a recipe"'],
  // Logs.
  ['what-if %/job.jsonl --at -1', 2, '--at: expected the number of an event', 'got "-1"'],
  ['what-if %/job.jsonl --at 1.5', 2, '--at: expected the number of an event', 'got "1.5"'],
  ['what-if %/job.jsonl --at 2026-13-40', 2, '--at: expected the number of an event'],
  ['what-if %/job.jsonl --at 5', 2, '--at: expected the number of an event, 0 to 0, got 5'],
  ['what-if %/job.jsonl --set __proto__=1', 2, '__proto__: expected no other keys than the schema has'],
  [
    'what-if %/unknown-policy.jsonl',
    2,
    'unknown-policy.jsonl: policy: expected one of',
    'did you mean "tail-batching"?',
  ],
  ['replay', 2, "missing required argument 'log'"],
  ['replay %/no-log.jsonl', 2, 'no-log.jsonl:1: expected a log that begins with a snapshot'],
  ['replay %/lengths.jsonl --policies %/mine.js', 2, '%/mine.js: there is no such file'],
  ['replay %/lengths.jsonl --policies %/no-definitions.js', 2, 'no-definitions.js: expected a module that exports'],
  ['replay %/lengths.jsonl --policies %/broken.js', 2, '%/broken.js', 'expected a module that loads'],
  ['replay %/lengths.jsonl --policies %/throws.js', 2, '%/throws.js:2: expected a module that loads', 'no GPU here'],
  ['shadow %/folder', 2, '%/folder: expected a folder with a decision log'],
  ['shadow %/lengths.jsonl', 2, 'lengths.jsonl: expected a decision log of a server'],
  // Dumps.
  ['import', 2, "missing required argument 'dump'"],
  ['import %/dump.jsonl --from ver', 2, 'did you mean "verl"?'],
  ['import %/dumps.jsonl', 2, '%/dumps.jsonl: there is no such file', 'did you mean "dump.jsonl"?'],
  ['import %/folder', 2, '%/folder: expected a folder with dumps'],
  ['import %/dump.jsonl --tokenizer %/tokenizer.jsn', 2, 'there is no such file', 'did you mean "tokenizer.json"?'],
  ['import %/dump.jsonl --tokenizer %/tokenizer.json', 2, 'tokenizer.json: expected a tokenizer.json of Hugging Face'],
  ['import %/dump.jsonl', 2, '--tokenizer tokenizer.json, or --tokens-per-character N'],
  ['import %/broken-dump.jsonl --tokens-per-character 1', 2, 'broken-dump.jsonl:2'],
  ['import %/rollout.pt', 2, '%/rollout.pt: expected a'],
  // Servers.
  ['serve', 2, '--stdio'],
  ['serve --stdio --port 5', 2, 'serve:'],
  ['serve --port 7411', 2, '--token-file'],
  ['serve --port 7411 --token-file %/short-token', 2, '%/short-token: expected'],
  ['serve --stdio --fsync alway', 2, 'did you mean "always"?'],
  ['serve --stdio --snapshot-events 5', 2, '--state-dir'],
  ['serve --stdio --log-files 5', 2, '--log-dir'],
  ['mock-engine --api sglan', 2, 'did you mean "sglang"?'],
  ['mock-engine --speed fast', 2, 'Expected a number from 0 to 1e9, or max.'],
  ['mock-engine --context 9999999 --kv-tokens 5000', 2, '--context: expected at most the KV cache of 5000 tokens'],
  ['mock-engine --faults %/fault.json', 2, '%/fault.json:3.[1].fault: expected one of', 'did you mean "crash"?'],
  ['mock-engine --faults %/fault-key.json', 2, '%/fault-key.json:2.[0].engin: expected', 'did you mean "engine"?'],
  ['mock-engine --faults %/fault-engine.json', 2, '--faults[0].engine: expected an engine from 0 to 0, got 5'],
  ['mock-engine --api vllm --speculative-num-steps 2', 2, '--speculative-config: expected this option with --api vllm'],
  ['mock-engine --speculative-num-draft-tokens 3', 2, '--speculative-num-steps: expected a number beside'],
  ['mock-engine --api vllm --speculative-config {', 2, '--speculative-config: expected JSON ('],
  ['mock-engine --host nowhere.invalid', 1, 'nowhere.invalid: there is no host of this name'],
];

/** What a client sends, the JSON-RPC code of the answer, and what its message has. */
export type WrongLine = readonly [line: unknown, code: number, ...says: string[]];

const settings = { promptsPerRound: 2, responsesPerPrompt: 2 };
const call = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const opening = (policy: string, config: object, others = {}) => call('session.open', { policy, config, ...others });
const sending = (event: object) => call('session.send', { session: 's1', events: [event] });

/** There is a session `s1` of `tail-batching`. */
export const wrongLines: readonly WrongLine[] = [
  ['{"jsonrpc":"2.0","id":1,', -32700, 'JSON'],
  [[], -32600, 'expected'],
  [{ id: 1 }, -32600, 'expected'],
  [call('session.opne', {}), -32601, 'method: expected one of', 'did you mean "session.open"?'],
  [call('session_open', {}), -32601, 'did you mean "session.open"?'],
  [call('session.open', ['tail-batching']), -32602, 'params: expected parameters by name'],
  [call('session.open', { polcy: 'tail-batching' }), -32602, 'polcy: expected', 'did you mean "policy"?'],
  [call('session.open', {}), -32000, 'policy: expected the id of a policy, or a snapshot, got nothing'],
  [opening('tail-bacthing', settings), -32000, 'policy: expected one of', 'did you mean "tail-batching"?'],
  [opening('judge-offload', {}), -32000, 'policy: expected a policy or a recipe, got "judge-offload, a planner"'],
  [opening('tail-batching', { ...settings, eta: 1.25 }), -32000, 'eta: expected no other keys'],
  [opening('tail-batching', { ...settings, promptSpeculaton: 1 }), -32000, 'did you mean "promptSpeculation"?'],
  [opening('tail-batching', { ...settings, order: 'fiof' }), -32000, 'order: expected one of', 'did you mean "fifo"?'],
  [opening('tail-batching', settings, { deliver: 'streams' }), -32602, 'deliver: expected', 'did you mean "stream"?'],
  [opening('tail-batching', settings, { onExisting: 'atach' }), -32602, 'did you mean "attach"?'],
  [opening('tail-batching', settings, { shadow: true }), -32000, 'shadow: expected one of'],
  [call('session.send', { session: 's1', event: [] }), -32602, 'did you mean "events"?'],
  [call('session.send', { session: 's2', events: [] }), -32000, 'session: expected a session that is open, got "s2"'],
  [sending({ type: 'round.request', at: 0 }), -32000, 'type: expected an event of', 'did you mean "round.requested"?'],
  [
    sending({ type: 'round.requested', at: 0, roundID: 'r', weightVersion: 1 }),
    -32000,
    'roundID: expected',
    'did you mean "roundId"?',
  ],
  [sending({ type: 'round.requested', at: 0, roundId: 'r' }), -32000, 'weightVersion: expected a number, got nothing'],
  [
    sending({ type: 'response.completed', at: 0, requestId: 'a/0#0', tokens: 0.1 + 0.2 }),
    -32000,
    'tokens: expected a whole number, got 0.3',
  ],
  [call('plan', { planner: 'grpo-advantage', input: {} }), -32000, 'planner: expected', '"grpo-advantages"?'],
  [call('plan', { planner: 'grpo-advantages', input: { group: [] } }), -32000, 'group: expected', '"groups"?'],
  [call('session.subscribe', { session: 's1', type: ['round.planned'] }), -32602, 'did you mean "types"?'],
];

/** Calls of the library, by what is called; the code of the error, and what its message has. */
export type WrongCall = readonly [
  call: readonly [what: 'create' | 'send' | 'plan', id: string, given: unknown],
  code: string,
  ...says: string[],
];

export const wrongCalls: readonly WrongCall[] = [
  [['create', 'tailbatching', {}], 'unknown_id', 'did you mean "tail-batching"?'],
  [['create', 'TailBatching', {}], 'unknown_id', 'did you mean "tail-batching"?'],
  [['create', 'long-prompts-queue', {}], 'unknown_id', 'did you mean "long-prompt-queue"?'],
  [['create', 'shedule', {}], 'unknown_id', 'policy: expected one of speculative-admission'],
  [
    ['create', 'tail-batching', { promptPerRound: 2, responsesPerPrompt: 2 }],
    'invalid_config',
    'promptPerRound: expected no other keys',
    'did you mean "promptsPerRound"?',
  ],
  [
    ['create', 'tail-batching', { prompts_per_round: 2, responses_per_prompt: 2 }],
    'invalid_config',
    'prompts_per_round: expected',
    'did you mean "promptsPerRound"?',
  ],
  [['create', 'tail-batching', { responsesPerPrompt: 2 }], 'invalid_config', 'promptsPerRound: expected a number'],
  [
    ['create', 'tail-batching', { ...settings, promptSpeculation: 0.1 + 0.2 }],
    'invalid_config',
    'promptSpeculation: expected number >= 1, got 0.3',
  ],
  [
    ['create', 'tail-batching', { ...settings, order: 'longest-expected' }],
    'invalid_config',
    'order: expected one of fifo',
    'did you mean "longest-expected-first"?',
  ],
  [['create', 'sandbox-timeout', { maxTimeoutSecond: 3 }], 'invalid_config', 'did you mean "maxTimeoutSeconds"?'],
  [['send', 'tail-batching', null], 'invalid_event', 'type: expected an event of tail-batching'],
  [['send', 'tail-batching', { type: 'prompt.supplied', at: 0 }], 'invalid_event', 'did you mean "prompts.supplied"?'],
  [['send', 'tail-batching', { type: 'ResponseCompleted', at: 0 }], 'invalid_event', '"response.completed"?'],
  [
    ['send', 'tail-batching', { type: 'prompts.supplied', at: 0, roundId: 'r', prompts: [{ promptID: 'a' }] }],
    'invalid_event',
    'prompts[0].promptID: expected',
    'did you mean "promptId"?',
  ],
  [['plan', 'judge-ofload', {}], 'unknown_id', 'did you mean "judge-offload"?'],
  [
    ['plan', 'grpo-advantages', { groups: [{ reward: [1, 0] }] }],
    'invalid_input',
    'groups[0].reward: expected',
    '"rewards"?',
  ],
];
