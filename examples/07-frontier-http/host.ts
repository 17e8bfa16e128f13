/**
 * The host: between the policies and an inference engine and a trainer that speak HTTP. It may be killed at any moment,
 * and another one goes on from what is on disk.
 */
import { join } from 'node:path';
import { SglangClient } from '../http-engine/client.ts';
import { Durable, readSaved, type Saved } from './durable.ts';
import { type HostEvent, type Job, resumeJob, startJob } from './job.ts';
import { Records, readRecords } from './records.ts';
import { type Body, carryOut, type Outside, type Report, type Task } from './tasks.ts';
import { TrainerClient, type TrainingGroup } from './trainer.ts';

/** What is to be done. */
export interface HostOptions {
  readonly rounds: number;
  /** R: groups of a round. */
  readonly groups: number;
  /** K: responses of a group. */
  readonly responses: number;
  /** U: groups of an update. */
  readonly groupsPerUpdate: number;
  /** F_w: groups in service at once. */
  readonly width: number;
  readonly pipelining: boolean;
  /** Most tokens of a response. */
  readonly maxNewTokens: number;
  /** Prompts, in the order in which they are trained on. */
  readonly prompts: readonly string[];
}

/** What a round was like, as the policy has measured it. */
export interface Measured {
  readonly roundId: string;
  readonly rolloutSeconds: number;
  readonly firstDispatchSeconds: number;
  readonly trainEndSeconds: number;
  readonly waitSeconds: number;
}

/** Everything that a host knows, beside its tasks. */
export interface HostState {
  readonly snapshot: unknown;
  /** How often a host has begun: each has its own prefix for ids. */
  readonly boots: number;
  /** Rounds that were opened. */
  readonly opened: number;
  /** What the trainer will want to know of the groups that it has not trained on. */
  readonly trainable: readonly (readonly [groupId: string, group: TrainingGroup])[];
  readonly measured: readonly Measured[];
}

/** Its files in a folder. */
export const filesOf = (folder: string): { state: string; bodies: string } => ({
  state: join(folder, 'host.json'),
  bodies: join(folder, 'responses.jsonl'),
});

/** Which host this is, from 1: one more than the last one that has written anything. */
export const bootOf = (earlier: Earlier | undefined): number => (earlier?.state.boots ?? 0) + 1;

/** Runs a host on what is in the folder, to the end of the last round. */
export async function runHost(options: HostOptions, { folder, engineUrl, trainerUrl }: Surroundings): Promise<void> {
  const files = filesOf(folder);
  const earlier = readSaved<HostState, Task>(files.state);
  const texts = new Map(readRecords<Body>(files.bodies).map((one) => [one.requestId, one.text]));
  const bodies = await Records.open<Body>(files.bodies);
  const outside: Outside = {
    engine: new SglangClient(engineUrl),
    trainer: new TrainerClient(trainerUrl, bootOf(earlier)),
    bodies: {
      append: (body) => {
        texts.set(body.requestId, body.text);
        return bodies.append(body);
      },
    },
    textOf: (requestId) => texts.get(requestId)!,
    maxNewTokens: options.maxNewTokens,
  };
  await new Host(options, files.state, outside, earlier).run();
  await bodies.close();
}

/** Where a host works. */
export interface Surroundings {
  readonly folder: string;
  readonly engineUrl: string;
  readonly trainerUrl: string;
}

type Earlier = Saved<HostState, Task>;

/** One host, from its start to the end of the last round. */
export class Host {
  readonly #options: HostOptions;
  readonly #outside: Outside;
  readonly #job: Job;
  readonly #durable: Durable<HostState, Task>;
  readonly #trainable: Map<string, TrainingGroup>;
  readonly #measured: Measured[];
  readonly #boots: number;
  #opened: number;
  #end!: { done(): void; failed(error: unknown): void };
  readonly #ended: Promise<void>;

  constructor(options: HostOptions, path: string, outside: Outside, earlier: Earlier | undefined) {
    this.#options = options;
    this.#outside = outside;
    this.#ended = new Promise((done, failed) => {
      this.#end = { done, failed };
    });
    this.#durable = new Durable(path, {
      capture: () => this.#capture(),
      begin: (key, task) => void this.#begin(key, task),
      settled: () => {
        const isOver = this.#measured.length === options.rounds && this.#durable.tasks.size === 0;
        if (isOver) this.#end.done();
      },
      failed: this.#end.failed,
    });
    const state = earlier?.state;
    this.#boots = bootOf(earlier);
    this.#opened = state?.opened ?? 0;
    this.#trainable = new Map(state?.trainable);
    this.#measured = [...(state?.measured ?? [])];
    this.#job = state === undefined ? this.#newJob() : resumeJob(state.snapshot);
    this.#durable.restore(earlier?.tasks ?? []);
    this.#listen();
  }

  /** Runs to the end of the last round. */
  async run(): Promise<void> {
    const steps = await this.#outside.trainer.attach();
    if (this.#opened === 0) this.#openRound();
    else this.#goOn(steps);
    await this.#ended;
  }

  #newJob(): Job {
    const { groups, responses, groupsPerUpdate, width, pipelining } = this.#options;
    return startJob({
      promptsPerRound: groups,
      responsesPerPrompt: responses,
      globalBatchSamples: groupsPerUpdate * responses,
      width,
      pipelining,
    });
  }

  /**
   * First what happened while no host listened: a step may have been made whose news was lost. Then that all that was in
   * flight is gone. Nothing is awaited between the two, so both are in one write.
   */
  #goOn(steps: Readonly<Record<string, number>>): void {
    for (const [key, task] of this.#durable.tasks) {
      if (task.do !== 'step' || (steps[task.roundId] ?? 0) <= task.update) continue;
      this.#durable.done(key);
      this.#send({ type: 'optimizer.stepped', roundId: task.roundId, updateId: task.updateId });
    }
    this.#job.send({ type: 'host.restarted', at: now(), idPrefix: `boot-${this.#boots}:` });
    this.#durable.change();
  }

  #send(event: Report): void {
    this.#job.send({ ...event, at: now() } as HostEvent);
    this.#durable.change();
  }

  #openRound(): void {
    const { groups, prompts } = this.#options;
    const from = this.#opened * groups;
    this.#opened += 1;
    this.#send({
      type: 'round.opened',
      roundId: `round-${this.#opened}`,
      kind: 'long',
      weightVersion: this.#opened,
      prompts: prompts.slice(from, from + groups).map((promptId) => ({ promptId })),
    } as never);
  }

  /** Decisions become tasks here, and nothing else: they are carried out when they are on disk. */
  #listen(): void {
    const job = this.#job;
    const durable = this.#durable;
    job.on('request.admit', ({ requestId, promptId, index }) =>
      durable.take(`generate ${requestId}`, { do: 'generate', requestId, promptId, index }),
    );
    job.on('request.abort', ({ requestId }) => durable.take(`abort ${requestId}`, { do: 'abort', requestId }));
    job.on('request.dropped', ({ requestId, admitted }) => {
      durable.done(`generate ${requestId}`);
      if (admitted) durable.take(`abort ${requestId}`, { do: 'abort', requestId });
    });
    job.on('response.accepted', ({ requestId }) => durable.take(`reward ${requestId}`, { do: 'reward', requestId }));
    job.on('group.trainable', ({ groupId, order, requestIds, advantages }) => {
      this.#trainable.set(groupId, { groupId, order, requestIds, advantages });
    });
    job.on('train.dispatch', ({ roundId, update, updateId, tokens, groups }) => {
      // An update that comes again is stepped on again, under its new id.
      durable.done(`step ${roundId} ${update}`);
      const bodies = groups.map((groupId) => this.#trainable.get(groupId)!);
      durable.take(`train ${roundId} ${update}`, { do: 'train', roundId, update, updateId, tokens, groups: bodies });
    });
    job.on('optimizer.step', ({ roundId, updateId, reason }) => {
      if (reason.code !== 'update_consumed') return;
      const { update } = reason;
      durable.take(`step ${roundId} ${update}`, { do: 'step', roundId, update, updateId: updateId! });
    });
    job.on('weights.publish', ({ roundId, weightVersion }) =>
      durable.take(`publish ${roundId}`, { do: 'publish', roundId, weightVersion: weightVersion + 1 }),
    );
    job.on('round.trained', ({ groups }) => {
      for (const groupId of groups) this.#trainable.delete(groupId);
      if (this.#opened < this.#options.rounds) this.#openRound();
    });
    job.on('pipeline.measured', (measured) => {
      const { roundId, rolloutSeconds, firstDispatchSeconds, trainEndSeconds, waitSeconds } = measured;
      this.#measured.push({ roundId, rolloutSeconds, firstDispatchSeconds, trainEndSeconds, waitSeconds });
    });
    job.on('listener.error', ({ error }) => this.#end.failed(error));
  }

  async #begin(key: string, task: Task): Promise<void> {
    try {
      const report = await carryOut(task, this.#outside);
      // That it is done, and what came of it, is one change.
      this.#durable.done(key);
      if (report !== undefined) this.#send(report);
    } catch (error) {
      this.#end.failed(error);
    }
  }

  #capture(): HostState {
    return {
      snapshot: this.#job.snapshot(),
      boots: this.#boots,
      opened: this.#opened,
      trainable: [...this.#trainable],
      measured: this.#measured,
    };
  }
}

const now = (): number => Date.now() / 1000;
