/** What is behind each log of the zoo: a thread in public, and who has to act for the run to go on. */
import type { Sender } from '../../src/schemas/senders.ts';

/** An incident, and its log. */
export interface Incident {
  /** Name of the log: a file of `logs`, or a directory of a server's files. */
  readonly log: string;
  readonly policy: string;
  readonly project: string;
  readonly link: string;
  /** What is known of it. */
  readonly fact: string;
  /** What a person would ask about: an option of `rollflex explain`. */
  readonly ask: Partial<Readonly<Record<'prompt' | 'request' | 'round' | 'gpu' | 'id', string>>>;
  readonly cause: {
    /** The event that is missing. */
    readonly event: string;
    /** Who sends it. */
    readonly actor: Sender;
    /** What it would name; any of these where several are missing for the same reason. */
    readonly ids: readonly { readonly [field: string]: string }[];
  };
}

const github = (path: string): string => `https://github.com/${path}`;
const each = (field: string, ...ids: string[]) => ids.map((id) => ({ [field]: id }));

/** Every incident, by project. */
export const incidents: readonly Incident[] = [
  {
    log: 'verl-7155',
    policy: 'tail-batching',
    project: 'verl',
    link: github('verl-project/verl/issues/7155'),
    fact: 'One prompt of 512 never leaves the state "running", and the trainer waits for its batch for ever.',
    ask: { round: 'r3' },
    cause: { event: 'response.completed', actor: 'engine', ids: [{ requestId: 'p14/1#3', engineId: 'e1' }] },
  },
  {
    log: 'verl-6673',
    policy: 'tail-pipelining',
    project: 'verl',
    link: github('verl-project/verl/pull/6673'),
    fact: 'Rewards are computed one after the other without a timeout; one degenerate response stops all of them.',
    ask: { round: 'r2' },
    cause: { event: 'reward.ready', actor: 'host', ids: each('requestId', 'p11/2#2', 'p13/0#2', 'p10/0#2') },
  },
  {
    log: 'verl-5265',
    policy: 'flexrl',
    project: 'verl',
    link: github('verl-project/verl/issues/5265'),
    fact: 'With videos in the data the run stops while a sample is preprocessed, its CPU busy.',
    ask: { id: 'x13' },
    cause: {
      event: 'sample.preprocessed',
      actor: 'loader',
      ids: [{ preprocessId: 'preprocess/13', nodeId: 'n1' }],
    },
  },
  {
    log: 'verl-1303',
    policy: 'stream-training',
    project: 'verl',
    link: github('verl-project/verl/issues/1303'),
    fact: 'One worker of several stops in the backward pass, and the others wait for it.',
    ask: { round: 'r2' },
    cause: { event: 'train.consumed', actor: 'trainer', ids: [{ fetchId: 'da#9', replica: 'da' }] },
  },
  {
    log: 'nemo-rl-3238',
    policy: 'rolloutpipe',
    project: 'NeMo-RL',
    link: github('NVIDIA-NeMo/RL/issues/3238'),
    fact: 'One rollout of a prompt group does not end, so that the group is never buffered and the step never begins.',
    ask: { prompt: 'p7' },
    cause: { event: 'response.completed', actor: 'engine', ids: [{ requestId: 'p7/1#0' }] },
  },
  {
    log: 'nemo-rl-3938',
    policy: 'tail-batching',
    project: 'NeMo-RL',
    link: github('NVIDIA-NeMo/RL/pull/3938'),
    fact: 'An over-long prompt fails at every try; nobody supplies another one for its place, and more than 100 GPUs idle.',
    ask: { round: 'r3' },
    cause: { event: 'prompts.supplied', actor: 'data source', ids: [{ roundId: 'r3' }] },
  },
  {
    log: 'nemo-rl-3488',
    policy: 'lossless-tail',
    project: 'NeMo-RL',
    link: github('NVIDIA-NeMo/RL/issues/3488'),
    fact: 'All engines fail at the first request after a refit, the collector dies of it, and 64 nodes idle for 3.7 hours.',
    ask: { round: 'r3' },
    cause: {
      event: 'response.completed',
      actor: 'engine',
      ids: each('requestId', ...['p12', 'p13', 'p14', 'p15'].flatMap((one) => [`${one}/0#3`, `${one}/1#3`])),
    },
  },
  {
    log: 'nemo-rl-3066',
    policy: 'tail-batching',
    project: 'NeMo-RL',
    link: github('NVIDIA-NeMo/RL/pull/3066'),
    fact: 'After a resume from a checkpoint nobody generates for the next step, which waits without an error.',
    ask: { prompt: 'p14' },
    cause: { event: 'round.requested', actor: 'host', ids: [{}] },
  },
  {
    log: 'nemo-gym-2385',
    policy: 'tail-batching',
    project: 'NeMo Gym (NeMo-RL)',
    link: github('NVIDIA-NeMo/Gym/pull/2385'),
    fact: 'A judge of whole groups waits for episodes that never end, and answers for none.',
    ask: { prompt: 'p13' },
    cause: { event: 'prompt.judged', actor: 'host', ids: [{ promptId: 'p13', roundId: 'r2' }] },
  },
  {
    log: 'skyrl-1173',
    policy: 'tail-pipelining',
    project: 'SkyRL',
    link: github('NovaSky-AI/SkyRL/issues/1173'),
    fact: 'A few generation tasks return nothing; the buffer stays at 125 or 127 groups of 128, once for 29 hours.',
    ask: { round: 'r2' },
    cause: {
      event: 'response.completed',
      actor: 'engine',
      ids: [
        { requestId: 'p9/0#2', engineId: 'e2' },
        { requestId: 'p10/1#2', engineId: 'e1' },
      ],
    },
  },
  {
    log: 'skyrl-1691',
    policy: 'tail-batching',
    project: 'SkyRL',
    link: github('NovaSky-AI/SkyRL/pull/1691'),
    fact: 'An engine dies during generation, the error is swallowed, and the process hangs with idle GPUs.',
    ask: { prompt: 'p15' },
    cause: {
      event: 'response.completed',
      actor: 'engine',
      ids: [
        { requestId: 'p15/0#3', engineId: 'e2' },
        { requestId: 'p13/0#3', engineId: 'e2' },
      ],
    },
  },
  {
    log: 'skyrl-9',
    policy: 'sandbox-timeout',
    project: 'SkyRL',
    link: github('NovaSky-AI/SkyRL/issues/9'),
    fact: 'After several minutes of training the server makes no more sandboxes, and runs of code stay without an answer.',
    ask: { id: 'u50' },
    cause: { event: 'sandbox.finished', actor: 'sandbox', ids: [{ runId: 'u50' }] },
  },
  {
    log: 'prime-rl-1667',
    policy: 'rolloutpipe',
    project: 'prime-rl',
    link: github('PrimeIntellect-ai/prime-rl/pull/1667'),
    fact: 'Trainer and orchestrator wait for different checkpoints, so that a broadcast of the weights never ends.',
    ask: { round: 'r2' },
    cause: { event: 'weights.published', actor: 'trainer', ids: [{ publicationId: 'publication#2' }] },
  },
  {
    log: 'prime-rl-3140',
    policy: 'tail-batching',
    project: 'prime-rl',
    link: github('PrimeIntellect-ai/prime-rl/issues/3140'),
    fact: 'A worker of the environment fails, and the orchestrator waits for its results for ever.',
    ask: { round: 'r3' },
    cause: {
      event: 'tool.finished',
      actor: 'environment',
      ids: each('requestId', 'p12/1#3', 'p13/1#3', 'p14/0#3', 'p14/1#3', 'p15/0#3'),
    },
  },
  {
    log: 'prime-rl-2912',
    policy: 'lossless-tail',
    project: 'prime-rl',
    link: github('PrimeIntellect-ai/prime-rl/issues/2912'),
    fact: 'The dispatcher stays paused for weights that the trainer, which has ended, will not publish: 6 nodes for 2 h 40.',
    ask: { prompt: 'p12' },
    cause: { event: 'round.requested', actor: 'host', ids: [{}] },
  },
  {
    log: 'prime-rl-1713',
    policy: 'tail-batching',
    project: 'prime-rl',
    link: github('PrimeIntellect-ai/prime-rl/issues/1713'),
    fact: 'Runs stop at random with idle GPUs; the event loop of the orchestrator lags by more than 700 s just before.',
    ask: { round: 'r3' },
    cause: {
      event: 'timer.fired',
      actor: 'timer',
      ids: [{ timerId: 'speculative-admission/response-timeout' }],
    },
  },
  {
    log: 'verifiers-1245',
    policy: 'rollpacker',
    project: 'verifiers (prime-rl)',
    link: github('PrimeIntellect-ai/verifiers/pull/1245'),
    fact: 'A sandbox ends in the moment in which its rollout is scored, and the scoring polls it for ever.',
    ask: { round: 'r2' },
    cause: { event: 'reward.finished', actor: 'reward worker', ids: [{ dispatchId: 'reward/21', workerId: 'w0' }] },
  },
  {
    log: 'openrlhf-1123',
    policy: 'reward-dispatch',
    project: 'OpenRLHF',
    link: github('OpenRLHF/OpenRLHF/issues/1123'),
    fact: 'A run with a remote reward model stops.',
    ask: { request: 'p17/1#3' },
    cause: {
      event: 'reward.finished',
      actor: 'reward worker',
      ids: [
        { dispatchId: 'reward/26', workerId: 'w1' },
        { dispatchId: 'reward/28', workerId: 'w1' },
      ],
    },
  },
  {
    log: 'openrlhf-349',
    policy: 'complete-group-pipelining',
    project: 'OpenRLHF',
    link: github('OpenRLHF/OpenRLHF/issues/349'),
    fact: 'The call that trains the actor does not return.',
    ask: { round: 'r2' },
    cause: { event: 'update.consumed', actor: 'trainer', ids: [{ updateId: 'update#5' }] },
  },
  {
    log: 'slime-2176',
    policy: 'reward-dispatch',
    project: 'slime',
    link: github('THUDM/slime/issues/2176'),
    fact: 'Judges of samples that are not needed any more are not stopped, and the next step waits for them.',
    ask: { request: 'p14/0#2' },
    cause: { event: 'reward.finished', actor: 'reward worker', ids: [{ dispatchId: 'reward/19', workerId: 'w0' }] },
  },
  {
    log: 'slime-2340',
    policy: 'tail-batching',
    project: 'slime',
    link: github('THUDM/slime/pull/2340'),
    fact: 'Aborts go to a router that does not know them; the error is ignored, and the requests run on.',
    ask: { round: 'r2' },
    cause: {
      event: 'request.aborted',
      actor: 'engine',
      ids: each('requestId', 'p14/2#2', 'p10/2#2', 'p12/2#2', 'p11/1#2', 'p13/0#2', 'p13/1#2', 'p13/2#2'),
    },
  },
  {
    log: 'miles-1012',
    policy: 'frontier-group-dispatch',
    project: 'miles',
    link: github('radixark/miles/pull/1012'),
    fact: '11 trials without a timeout hold 11 of 32 slots for 7.5 hours.',
    ask: { prompt: 'p15' },
    cause: {
      event: 'response.completed',
      actor: 'engine',
      ids: each('requestId', ...['p12', 'p13', 'p14'].flatMap((one) => [`${one}/0#2`, `${one}/1#2`])),
    },
  },
  {
    log: 'miles-1673',
    policy: 'lossless-tail',
    project: 'miles',
    link: github('radixark/miles/pull/1673'),
    fact: 'Review of a scheduler: where the data source is exhausted it waits for samples that nobody will submit.',
    ask: { round: 'r4' },
    cause: { event: 'prompts.supplied', actor: 'data source', ids: [{ roundId: 'r4' }] },
  },
  {
    log: 'trl-6796',
    policy: 'tail-pipelining',
    project: 'TRL',
    link: github('huggingface/trl/issues/6796'),
    fact: 'A transfer of the weights to the inference server hangs without an error until the job is killed.',
    ask: { round: 'r2' },
    cause: { event: 'weights.published', actor: 'trainer', ids: [{ publicationId: 'publication#2' }] },
  },
  {
    log: 'roll-215',
    policy: 'rollpacker',
    project: 'ROLL',
    link: github('alibaba/ROLL/issues/215'),
    fact: 'Training with a Python tool stops after ten steps; the thread finds no cause. Here the tool does not answer.',
    ask: { prompt: 'p9' },
    cause: { event: 'tool.finished', actor: 'environment', ids: [{ requestId: 'p9/1#2' }] },
  },
  {
    log: 'ms-swift-6962',
    policy: 'gpu-scale-down',
    project: 'ms-swift',
    link: github('modelscope/ms-swift/issues/6962'),
    fact: 'After five hours an engine is put to sleep and never woken again.',
    ask: { gpu: 'g2' },
    cause: { event: 'gpus.returned', actor: 'host', ids: [{ releaseId: 'release-7' }] },
  },
];
