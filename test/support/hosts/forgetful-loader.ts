/**
 * A host of shadow-loader, or of flexrl, that has restarted and forgotten everything: it knows no step, sample or batch
 * but by what is decided from then on. Nodes and ranks do what they are told, with faults now and then.
 */
import { expect } from 'vitest';
import type { Choices } from '../../../src/core/generators/choices.ts';
import type { ShadowLoaderDecision } from '../../../src/policies/shadow-loader/index.ts';

/** What is sent to the policy or the recipe. */
export type Send = (event: object) => ShadowLoaderDecision[];
type DecisionOf<T extends ShadowLoaderDecision['type']> = Extract<ShadowLoaderDecision, { type: T }>;

/** What it does with a step that is named: one batch of all samples, one batch for each, or nothing but its end. */
const ways = ['together', 'one by one', 'not at all'] as const;

export class ForgetfulLoader {
  readonly #send: Send;
  readonly #choices: Choices;
  readonly #isRecipe: boolean;
  readonly #name: string;
  readonly steps: DecisionOf<'step.resumed'>[] = [];
  readonly abandoned: string[] = [];
  /** What is to be answered, in any order. */
  readonly #tasks: ShadowLoaderDecision[] = [];
  /** Samples that are here, as far as it was told. */
  readonly #here = new Set<string>();
  /** Samples that no node can hold, and what they take. */
  readonly #unplaced = new Map<string, number>();
  readonly #open = new Set<string>();
  #batches = 0;
  #nodes = 0;
  /** Faults that are still to come; with fewer than the retry budgets allow nothing is dropped. */
  #faults = 6;

  /** @param name - begins its ids: a host that restarts again makes others */
  constructor(name: string, send: Send, choices: Choices, isRecipe: boolean) {
    this.#name = name;
    this.#send = send;
    this.#choices = choices;
    this.#isRecipe = isRecipe;
  }

  send(event: object): void {
    for (const decision of this.#send({ at: 0, ...event })) this.#told(decision);
  }

  addNode(hostMemoryBytes: number): void {
    this.send({ type: 'node.added', nodeId: `${this.#name}node-${this.#nodes++}`, hostMemoryBytes, ranks: [0, 1] });
  }

  /** Plans a batch for the first step that was named, and answers so many commands: the host stops in the midst of it. */
  begin(answers: number): void {
    const [first] = this.steps;
    if (first !== undefined) this.#plan(first.samples, first.stepId);
    for (let count = 0; count < answers && this.#tasks.length > 0; count += 1) this.#answer();
  }

  /** Ends every step that was named, in their order, and then one of its own. */
  finish(): void {
    while (this.steps.length > 0) this.#end(this.steps.shift()!.stepId, this.#named.shift()!);
    const sampleId = `${this.#name}fresh`;
    const stepId = sampleId;
    const media = { kind: 'image', path: '/fresh', frames: 2, resolution: { width: 2, height: 2 }, bytes: 40 };
    this.#here.add(sampleId);
    this.send({ type: 'samples.drawn', stepId, samples: [{ sampleId, ...media, uses: 1 }] });
    this.#run([sampleId], stepId);
    this.send({ type: 'step.completed', stepId });
    this.#answerAll();
  }

  readonly #named: string[][] = [];
  #timer: DecisionOf<'timer.set'> | undefined;

  #told(decision: ShadowLoaderDecision): void {
    switch (decision.type) {
      case 'timer.set':
        this.#timer = decision;
        return;
      case 'step.resumed':
        this.steps.push(decision);
        this.#named.push([...decision.samples]);
        return;
      case 'sample.placeholder':
        this.#here.add(decision.sampleId);
        return;
      case 'sample.preprocess':
      case 'sample.prefetch':
        this.#unplaced.delete(decision.sampleId);
        this.#tasks.push(decision);
        return;
      case 'sample.materialize':
        this.#tasks.push(decision);
        return;
      case 'sample.unplaced':
        this.#unplaced.set(decision.sampleId, decision.reason.bytes);
        return;
      case 'batch.abandoned':
        this.abandoned.push(decision.batchId);
        this.#open.delete(decision.batchId);
        return;
      case 'batch.materialized':
        expect(this.#open.delete(decision.batchId)).toBe(true);
        return;
      case 'sample.evict':
        if (decision.reason.code === 'last_use' || decision.reason.code === 'step_completed') this.#left(decision);
        return;
      case 'sample.released':
      case 'sample.dropped':
        this.#left(decision);
    }
  }

  #left({ sampleId }: { sampleId: string }): void {
    this.#here.delete(sampleId);
    this.#unplaced.delete(sampleId);
  }

  #end(stepId: string, samples: readonly string[]): void {
    const way = ways[this.#choices.below(ways.length)]!;
    if (way === 'together') this.#run(samples, stepId);
    if (way === 'one by one') for (const sampleId of samples) this.#run([sampleId], stepId);
    this.send({ type: 'step.completed', stepId });
  }

  /** Plans a batch, and brings it to its end. */
  #run(samples: readonly string[], stepId: string): void {
    const { batchId, here } = this.#plan(samples, stepId);
    this.#answerAll();
    if (!this.#open.has(batchId)) return;
    // It can only wait for what it was told that no node can hold.
    const [bytes] = here.flatMap((one) => this.#unplaced.get(one) ?? []);
    expect(bytes, `${batchId} of ${stepId} waits for nothing that was named`).toBeDefined();
    if (this.#choices.below(2) === 0) this.send({ type: 'batch.withdrawn', batchId });
    else this.addNode(200);
    this.#answerAll();
    expect([...this.#open], `${batchId} of ${stepId} does not end`).toEqual([]);
  }

  #plan(samples: readonly string[], stepId: string): { batchId: string; here: string[] } {
    const here = samples.filter((one) => this.#here.has(one));
    const batchId = `${this.#name}batch-${this.#batches++}`;
    this.#open.add(batchId);
    this.send(this.#isRecipe ? ready(batchId, stepId, here) : planned(batchId, stepId, here));
    return { batchId, here };
  }

  #answerAll(): void {
    while (this.#tasks.length > 0 || this.#timer !== undefined) {
      const timer = this.#timer;
      if (this.#tasks.length > 0) this.#answer();
      else if (timer !== undefined) {
        this.#timer = undefined;
        this.send({ type: 'timer.fired', at: timer.fireAtSeconds, timerId: timer.timerId });
      }
    }
  }

  #answer(): void {
    const [task] = this.#tasks.splice(this.#choices.below(this.#tasks.length), 1);
    const fails = this.#faults > 0 && this.#choices.below(9) === 0;
    if (fails) this.#faults -= 1;
    if (task!.type === 'sample.materialize') this.#fetch(task, fails);
    else this.#preprocess(task as DecisionOf<'sample.preprocess'>, fails);
  }

  #fetch({ sliceId, rank, attempt }: DecisionOf<'sample.materialize'>, fails: boolean): void {
    const kind = this.#choices.below(2) === 0 ? 'transfer' : 'missing';
    this.send(
      fails ? { type: 'slice.failed', sliceId, rank, attempt, kind } : { type: 'slice.materialized', sliceId, rank },
    );
  }

  #preprocess({ preprocessId, nodeId, bytes }: DecisionOf<'sample.preprocess'>, fails: boolean): void {
    if (!fails) return this.send({ type: 'sample.preprocessed', preprocessId, nodeId, bytes });
    // The node may be lost as a whole; the host has one more then.
    if (this.#choices.below(3) > 0) {
      return this.send({ type: 'preprocess.failed', preprocessId, nodeId, kind: 'infrastructure' });
    }
    this.send({ type: 'node.lost', nodeId });
    this.addNode(100);
  }
}

function planned(batchId: string, stepId: string, samples: readonly string[]): object {
  const assignments = samples.map((sampleId, sequence) => ({ sequence, sampleId, degree: 2, ranks: [0, 1] }));
  return { type: 'batch.run', batchId, stepId, assignments, reason: { code: 'host' } };
}

function ready(batchId: string, stepId: string, samples: readonly string[]): object {
  return { type: 'batch.ready', batchId, stepId, sequences: samples.map((sampleId) => ({ tokens: 100, sampleId })) };
}
