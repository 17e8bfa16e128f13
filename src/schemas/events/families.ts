/** The families of events: every word that one of them exports is in the vocabulary. */
export * from './engines.ts';
export * from './frontier.ts';
export * from './gpus.ts';
export * from './loading.ts';
export * from './parallelism.ts';
export * from './pipelining.ts';
export * from './requests.ts';
export * from './reward-workers.ts';
export * from './rewards.ts';
export * from './rounds.ts';
export * from './sandbox.ts';
export * from './session.ts';
export * from './training.ts';
