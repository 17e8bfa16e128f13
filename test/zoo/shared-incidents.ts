/** What is behind each log of an outage, a collapse or a skew: a thread in public, and what has to be named. */

/** An incident in which nobody owes anything, and nothing is gained. */
export interface SharedIncident {
  /** Name of the log: a file of `logs`. */
  readonly log: string;
  readonly policy: string;
  readonly project: string;
  readonly link: string;
  /** What is known of it. */
  readonly fact: string;
  /** What `rollflex explain` has to say of it. */
  readonly verdict: 'suspended' | 'stalled';
  /** What it has to name. */
  readonly names: string;
}

const github = (path: string): string => `https://github.com/${path}`;

/** Every incident, by what is shared. */
export const sharedIncidents: readonly SharedIncident[] = [
  {
    log: 'slime-1148',
    policy: 'tail-batching',
    project: 'slime',
    link: github('THUDM/slime/issues/1148'),
    fact: 'Requests are sent before the engines are ready, and each of them gets a 503: there are no workers.',
    verdict: 'suspended',
    names: 'all engines',
  },
  {
    log: 'prime-rl-1622',
    policy: 'lossless-tail',
    project: 'prime-rl',
    link: github('PrimeIntellect-ai/prime-rl/pull/1622'),
    fact: 'Names are not resolved and connections fail, so that a batch is empty.',
    verdict: 'suspended',
    names: 'all engines',
  },
  {
    log: 'rllm-176',
    policy: 'tail-batching',
    project: 'rllm',
    link: github('rllm-org/rllm/issues/176'),
    fact: 'No environment can be made without a configuration of Kubernetes, and no trajectory completes.',
    verdict: 'suspended',
    names: 'all environments',
  },
  {
    log: 'sandboxfusion-67',
    policy: 'lossless-tail',
    project: 'SandboxFusion',
    link: github('bytedance/SandboxFusion/issues/67'),
    fact: 'After a while in training each request to the sandbox times out, though its server looks normal.',
    verdict: 'suspended',
    names: 'all environments',
  },
  {
    log: 'gym-1351',
    policy: 'reward-dispatch',
    project: 'NeMo Gym',
    link: github('NVIDIA-NeMo/Gym/issues/1351'),
    fact: 'The model server of an environment becomes unavailable; training goes on with rewards that mean nothing.',
    verdict: 'suspended',
    names: 'reward',
  },
  {
    log: 'gym-3070',
    policy: 'tail-batching',
    project: 'NeMo Gym',
    link: github('NVIDIA-NeMo/Gym/pull/3070'),
    fact: 'A failure of the judge scores 0 without a word (in review). Here it is reported, for all responses.',
    verdict: 'suspended',
    names: 'all rewards',
  },
  {
    log: 'verl-953',
    policy: 'tail-batching',
    project: 'verl',
    link: github('verl-project/verl/issues/953'),
    fact: 'All responses of a prompt get the same reward, the groups are filtered, and the batch is never full.',
    verdict: 'stalled',
    names: 'prompts',
  },
  {
    log: 'dapo-28',
    policy: 'lossless-tail',
    project: 'DAPO',
    link: github('BytedTsinghua-SIA/DAPO/issues/28'),
    fact: 'A small model solves none of the prompts: ten batches are generated, and no group is left of them.',
    verdict: 'stalled',
    names: 'prompts',
  },
  {
    log: 'marin-1829',
    policy: 'tail-batching',
    project: 'marin',
    link: github('marin-community/marin/pull/1829'),
    fact: 'Rollout workers go on with the first checkpoint, and all that they make is stale at once.',
    verdict: 'suspended',
    names: 'weights that are too old',
  },
  {
    log: 'miles-1724',
    policy: 'lossless-tail',
    project: 'miles',
    link: github('radixark/miles/issues/1724'),
    fact: 'A recovered engine gets requests before it has the weights of the trainer. Here all engines are such.',
    verdict: 'suspended',
    names: 'weights that are too old',
  },
];
