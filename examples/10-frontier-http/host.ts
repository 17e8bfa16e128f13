/**
 * The host: between the policies and an inference engine and a trainer. It may be killed at any moment, and another one
 * goes on from what is on disk.
 */
import { create, type PolicyOf, rolloutPipe } from 'rollflex';
import { Durable } from './durable.ts';
import {
  bootAfter,
  type HostOptions,
  type HostState,
  type Left,
  type Measured,
  newJob,
  prefixOf,
  stepKey,
  trainKey,
} from './host-state.ts';
import { carryOut, failuresOf, idOf, type Outside, type Report, type Task, type TaskOf } from './tasks.ts';
import type { TrainingGroup } from './trainer.ts';

/** One host, from its start to the end of the last round. */
export class Host {
  readonly #options: HostOptions;
  readonly #outside: Outside;
  readonly #job: PolicyOf<typeof rolloutPipe>;
  readonly #durable: Durable<HostState, Task>;
  readonly #boot: number;
  readonly #idPrefix: string;
  readonly #trainable: Map<string, TrainingGroup>;
  readonly #measured: Measured[];
  #opened: number;
  /** Updates that may begin as soon as the optimizer has stepped on the one before. */
  readonly #next = new Map<string, TaskOf<'train'>>();
  readonly #ended: Promise<void>;
  #end!: { done(): void; failed(error: unknown): void };

  /** @param path - file of the state */
  constructor(options: HostOptions, path: string, outside: Outside, left: Left) {
    this.#options = options;
    this.#outside = outside;
    this.#boot = bootAfter(left);
    this.#idPrefix = prefixOf(this.#boot);
    this.#opened = left?.state.opened ?? 0;
    this.#trainable = new Map(left?.state.trainable);
    this.#measured = [...(left?.state.measured ?? [])];
    this.#job = left ? create(rolloutPipe, { snapshot: left.state.snapshot }) : newJob(options, this.#idPrefix);
    this.#ended = new Promise((done, failed) => {
      this.#end = { done, failed };
    });
    this.#durable = new Durable(path, {
      capture: () => this.#capture(),
      begin: (key, task) => void this.#begin(key, task),
      settled: () => {
        if (this.#measured.length === options.rounds && this.#durable.tasks.size === 0) this.#end.done();
      },
      failed: (error) => this.#end.failed(error),
    });
    this.#durable.restore(left?.tasks ?? []);
    this.#listen();
  }

  /** Runs to the end of the last round. */
  async run(): Promise<void> {
    const steps = await this.#outside.trainer.attach();
    if (this.#opened === 0) this.#openRound();
    else this.#goOn(steps);
    await this.#ended;
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
    this.#send({ type: 'host.restarted', idPrefix: this.#idPrefix });
  }

  #send(report: Report): void {
    this.#job.send({ ...report, at: Date.now() / 1000 });
    this.#durable.change();
  }

  #openRound(): void {
    const { groups, responses, prompts } = this.#options;
    const own = prompts.slice(this.#opened * groups, (this.#opened + 1) * groups);
    this.#opened += 1;
    const roundId = `round-${this.#opened}`;
    const named = own.map((promptId) => ({ promptId }));
    this.#send({ type: 'round.opened', roundId, kind: 'long', weightVersion: this.#opened, prompts: named });
    for (const promptId of own) {
      for (let index = 0; index < responses; index += 1) {
        const requestId = idOf(this.#idPrefix, { promptId, index, failures: 0 });
        this.#send({ type: 'request.arrived', requestId, promptId, roundId, index });
      }
    }
  }

  /** Decisions become tasks here, and nothing else: they are carried out when they are on disk. */
  #listen(): void {
    const job = this.#job;
    const durable = this.#durable;
    job.on('request.admit', ({ requestId, promptId, roundId, index }) => {
      const place = { roundId, promptId, index, failures: failuresOf(requestId) };
      durable.take(`generate ${requestId}`, { do: 'generate', requestId, ...place });
    });
    job.on('request.abort', ({ requestId }) => durable.take(`abort ${requestId}`, { do: 'abort', requestId }));
    job.on('request.dropped', ({ requestId, promptId, roundId, index, admitted, reason }) => {
      durable.done(`generate ${requestId}`);
      if (admitted) durable.take(`abort ${requestId}`, { do: 'abort', requestId });
      if (reason.code !== 'host_restarted') return;
      const again = idOf(this.#idPrefix, { promptId, index, failures: failuresOf(requestId) });
      this.#send({ type: 'request.arrived', requestId: again, promptId, roundId, index });
    });
    for (const asks of ['response.accepted', 'reward.request'] as const) {
      job.on(asks, ({ requestId }) => durable.take(`reward ${requestId}`, { do: 'reward', requestId }));
    }
    job.on('group.trainable', ({ groupId, order, requestIds, advantages }) => {
      this.#trainable.set(groupId, { groupId, order, requestIds, advantages });
    });
    job.on('train.dispatch', ({ roundId, update, updateId, tokens, groups: named }) => {
      // An update that comes again is stepped on again, under its new id.
      durable.done(stepKey(roundId, update));
      const groups = named.map((groupId) => this.#trainable.get(groupId)!);
      durable.take(trainKey(roundId, update), { do: 'train', roundId, update, updateId, tokens, groups });
    });
    job.on('optimizer.step', ({ roundId, updateId, reason }) => {
      if (reason.code !== 'update_consumed') return;
      const { update } = reason;
      durable.take(stepKey(roundId, update), { do: 'step', roundId, update, updateId });
    });
    job.on('weights.publish', ({ roundId, publicationId, weightVersion: replaced }) =>
      durable.take(`publish ${roundId}`, { do: 'publish', roundId, publicationId, weightVersion: replaced + 1 }),
    );
    job.on('round.trained', ({ groups }) => {
      for (const groupId of groups) this.#trainable.delete(groupId);
      if (this.#opened < this.#options.rounds) this.#openRound();
    });
    job.on('pipeline.measured', (measured) => {
      const { roundId, firstDispatchSeconds, rolloutSeconds, trainEndSeconds, waitSeconds } = measured;
      this.#measured.push({ roundId, firstDispatchSeconds, rolloutSeconds, trainEndSeconds, waitSeconds });
    });
    job.on('listener.error', ({ error }) => this.#end.failed(error));
  }

  async #begin(key: string, task: Task): Promise<void> {
    try {
      if (task.do === 'train' && this.#isBefore(task)) {
        this.#next.set(key, task);
        return;
      }
      const report = await carryOut(task, this.#outside, this.#idPrefix);
      // That it is done, and what came of it, is one change.
      this.#durable.done(key);
      if (report !== undefined) this.#send(report);
      if (task.do === 'step') this.#beginNext(trainKey(task.roundId, task.update + 1));
      if (task.do === 'generate' && report?.type === 'response.failed') this.#tryAgain(task);
    } catch (error) {
      this.#end.failed(error);
    }
  }

  /** Whether the optimizer has yet to step on the update before. */
  #isBefore({ roundId, update }: TaskOf<'train'>): boolean {
    const { tasks } = this.#durable;
    return tasks.has(trainKey(roundId, update - 1)) || tasks.has(stepKey(roundId, update - 1));
  }

  #beginNext(key: string): void {
    const task = this.#next.get(key);
    if (task === undefined) return;
    this.#next.delete(key);
    void this.#begin(key, task);
  }

  #tryAgain({ requestId, promptId, roundId, index, failures: before }: TaskOf<'generate'>): void {
    const failures = before + 1;
    const { tries: budget } = this.#options;
    if (failures < budget) {
      this.#durable.take(`retry ${promptId}/${index}`, { do: 'retry', roundId, promptId, index, failures });
    } else {
      const reason = { code: 'infrastructure', failures, budget } as const;
      this.#send({ type: 'response.abandoned', requestId, promptId, reason });
    }
  }

  #capture(): HostState {
    return {
      snapshot: this.#job.snapshot(),
      boot: this.#boot,
      opened: this.#opened,
      trainable: [...this.#trainable],
      measured: this.#measured,
    };
  }
}
