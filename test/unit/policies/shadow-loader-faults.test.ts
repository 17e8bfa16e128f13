/** Faults that nodes share, and faults of a sample: who is dropped, who is tried when, and who is named. */
import { describe, expect, test } from 'vitest';
import { create, registry, shadowLoader } from '../../../src/index.ts';
import type { ShadowLoaderDecision, ShadowLoaderInput } from '../../../src/policies/shadow-loader/index.ts';
import { video } from '../../support/sessions/loader.ts';
import { told } from '../../support/sessions/why.ts';

type DecisionOf<T extends ShadowLoaderDecision['type']> = Extract<ShadowLoaderDecision, { type: T }>;
type Try = DecisionOf<'sample.preprocess' | 'sample.prefetch' | 'sample.materialize'>;

/** Nodes and ranks that answer in time order. A failure takes 20 ms, all else a second. */
class LoaderDay {
  readonly decisions: ShadowLoaderDecision[] = [];
  policy;
  at = 0;
  #agenda: { at: number; order: number; send: () => object | undefined }[] = [];
  #order = 0;
  #timer = 0;
  readonly #fails: (one: Try, at: number) => boolean;
  readonly #restores: boolean;
  #sent = 0;

  constructor(fails: (one: Try, at: number) => boolean, restores: boolean, config: ShadowLoaderInput = {}) {
    this.#fails = fails;
    this.#restores = restores;
    this.policy = create(shadowLoader, config);
    for (const rank of [0, 1, 2, 3]) {
      this.send({ type: 'node.added', nodeId: `n${rank}`, hostMemoryBytes: 10_000, ranks: [rank], slots: 4 });
    }
  }

  /** Draws the samples of a step, and plans a batch for each. */
  draw(stepId: string, count: number): this {
    const ids = Array.from({ length: count }, (_, index) => `${stepId}-${index}`);
    this.send({ type: 'samples.drawn', stepId, samples: ids.map((id) => video(id, 10, { uses: 1 })) });
    ids.forEach((sampleId, index) => {
      const assignments = [{ sequence: 0, degree: 1, ranks: [index % 4], sampleId }];
      this.send({ type: 'batch.run', batchId: `of-${sampleId}`, stepId, assignments, reason: { code: 'host' } });
    });
    return this;
  }

  until(at: number): this {
    for (;;) {
      this.#agenda.sort((a, b) => a.at - b.at || a.order - b.order);
      if (this.#agenda[0] === undefined || this.#agenda[0].at > at) break;
      const next = this.#agenda.shift()!;
      this.at = Math.max(this.at, next.at);
      const event = next.send();
      if (event !== undefined) this.send(event);
    }
    this.at = at;
    return this;
  }

  send(event: object): void {
    if (this.#restores && this.#sent++ % 7 === 0)
      this.policy = registry.restore(JSON.parse(JSON.stringify(this.policy.snapshot()))) as never;
    const sent = this.policy.send({ at: this.at, ...event } as never);
    this.decisions.push(...sent);
    for (const one of sent) this.#told(one);
  }

  #told(one: ShadowLoaderDecision): void {
    if (one.type === 'timer.set') {
      const timer = ++this.#timer;
      const { timerId } = one;
      return this.#plan(one.fireAtSeconds, () =>
        timer === this.#timer ? { type: 'timer.fired', timerId } : undefined,
      );
    }
    if (one.type === 'sample.materialize') {
      const { sliceId, rank, attempt } = one;
      if (!this.#fails(one, this.at))
        return this.#plan(this.at + 1, () => ({ type: 'slice.materialized', sliceId, rank }));
      return this.#plan(this.at + 0.02, () => ({ type: 'slice.failed', sliceId, rank, attempt, kind: 'transfer' }));
    }
    if (one.type !== 'sample.preprocess' && one.type !== 'sample.prefetch') return;
    const { preprocessId, nodeId, bytes } = one;
    if (!this.#fails(one, this.at)) {
      return this.#plan(this.at + 1, () => ({ type: 'sample.preprocessed', preprocessId, nodeId, bytes }));
    }
    const kind = 'infrastructure';
    this.#plan(this.at + 0.02, () => ({ type: 'preprocess.failed', preprocessId, nodeId, kind }));
  }

  #plan(at: number, send: () => object | undefined): void {
    this.#agenda.push({ at, order: this.#order++, send });
  }

  of<T extends ShadowLoaderDecision['type']>(type: T): DecisionOf<T>[] {
    return this.decisions.filter((one) => one.type === type) as DecisionOf<T>[];
  }
}

const isPreprocessing = ({ type }: Try) => type !== 'sample.materialize';

describe.each([false, true])('shadow-loader, restored before every seventh event: %s', (restores) => {
  test.each([
    ['the storage for a minute', 60, isPreprocessing],
    ['the storage for an hour', 3600, isPreprocessing],
    ['all transfers for a minute', 60, (one: Try) => !isPreprocessing(one)],
    ['all for an hour', 3600, () => true],
  ])('an outage of %s: no sample is dropped, and few tries are made meanwhile', (_, seconds, isHit) => {
    const day = new LoaderDay((one, at) => isHit(one) && at >= 1 && at < 1 + seconds, restores);
    day.draw('s', 64).until(1 + seconds);
    const tries = day.of('sample.preprocess').length;
    expect(tries).toBeLessThan(64 + 2 * 16 + 5 * (8 + seconds / 60));
    // Transfers that fail one after the other are made singly as well.
    expect(day.of('sample.materialize').length).toBeLessThan(2 * 64 + 5 * (8 + seconds / 60));
    day.until(seconds + 200);
    expect(day.of('sample.dropped')).toEqual([]);
    expect(day.of('batch.materialized')).toHaveLength(64);
    expect(day.of('tries.recovered').length).toBe(day.of('tries.suspended').length);
  });

  test('poisoned samples: exactly these are dropped, each for failures that are proven', () => {
    const bad = new Set(['s-4', 's-13', 's-40']);
    const day = new LoaderDay((one) => isPreprocessing(one) && bad.has(one.sampleId), restores);
    for (const step of ['s', 't', 'u']) day.draw(step, 64).until(day.at + 20);
    day.until(200);
    expect(new Set(day.of('sample.dropped').map(({ sampleId }) => sampleId))).toEqual(bad);
    for (const { reason } of day.of('sample.dropped')) {
      expect(reason).toEqual({ code: 'infrastructure', failures: 4, budget: 3 });
    }
    expect(day.of('batch.materialized')).toHaveLength(192);
  });

  test('one dead node of four: it gets single tries only, and others take the work', () => {
    const day = new LoaderDay((one) => isPreprocessing(one) && 'nodeId' in one && one.nodeId === 'n1', restores);
    for (let step = 0; step < 60; step += 1) day.draw(`s${step}`, 8).until(day.at + 1);
    day.until(100);
    expect(day.of('sample.dropped')).toEqual([]);
    expect(day.of('tries.suspended').map(({ scope, id }) => `${scope} ${id}`)).toEqual(['loader n1']);
    const there = day.of('sample.preprocess').filter(({ nodeId }) => nodeId === 'n1');
    expect(there.length).toBeLessThan(30);
    expect(there.at(-1)!.reason).toMatchObject({ code: 'probe', scope: 'loader', id: 'n1' });
  });
});

test('transfers that all fail: named apart, tried singly and in turn, and `why` says so', () => {
  const day = new LoaderDay(({ type }) => type === 'sample.materialize', false).draw('s', 16).until(100);
  expect(day.of('tries.suspended').map(({ scope, id }) => `${scope} ${id}`)).toContain('loader transfers');
  const singles = day.of('sample.materialize').filter(({ reason }) => reason.code === 'probe');
  expect(singles.at(-1)!.reason).toMatchObject({ scope: 'loader', id: 'transfers' });
  const lines = Array.from({ length: 16 }, (_, index) => told(day.policy.why(`slice/${index}`, 'slices')).join('\n'));
  for (const one of lines) expect(one).toMatch(/single tries only[\s\S]*timer.fired/);
  expect(day.of('sample.dropped')).toEqual([]);
});

test('a sample that is alone: never dropped but after `giveUpSeconds`, and `why` names the timer', () => {
  const alone = new LoaderDay(() => true, false).draw('s', 1).until(7200);
  expect(alone.of('sample.dropped')).toEqual([]);
  expect(alone.of('sample.preprocess').length).toBeLessThan(130);
  expect(told(alone.policy.why('s-0', 'samples')).join('\n')).toMatch(
    /has failed \d+ times on nodes, and is put off: its failures wait to be compared[\s\S]*timer.fired/,
  );
  const limited = new LoaderDay(() => true, false, { retry: { giveUpSeconds: 100 } }).draw('s', 1).until(7200);
  const [dropped] = limited.of('sample.dropped');
  expect(dropped).toMatchObject({ sampleId: 's-0', reason: { code: 'not_compared', limitSeconds: 100 } });
  expect(dropped!.at).toBeLessThan(110);
});

test('the loss of a node charges nobody; after three losses they are charged to the sample that was on all of these', () => {
  const policy = create(shadowLoader, { retry: { infrastructure: 1 } });
  const send = (event: object) => policy.send({ at: 0, ...event } as never) as ShadowLoaderDecision[];
  send({ type: 'samples.drawn', stepId: 's', samples: [video('poison')] });
  const dropped: number[] = [];
  for (let lost = 1; lost <= 6; lost += 1) {
    send({ type: 'node.added', nodeId: 'n', hostMemoryBytes: 100 });
    if (send({ type: 'node.lost', nodeId: 'n' }).some(({ type }) => type === 'sample.dropped')) dropped.push(lost);
  }
  expect(dropped).toEqual([5]);
});
