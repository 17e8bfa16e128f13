/** Two mock engines, and the requests that run on them. Their agenda is the clock of everything. */
import { Generation, MockCluster, type MockEngine } from 'rollflex/mock-engine';
import { jobPreset, rollpackerWorkload } from 'rollflex/sim';

const capTokens = 2048;
const refusedSeconds = 0.02;

/** A response to generate. */
export interface Wanted {
  readonly requestId: string;
  readonly promptId: string;
  readonly index: number;
  readonly engineId?: string;
}
/** How it ended: the type of an event, and its fields. */
export type Ended = (type: string, fields: object) => void;

export class Engines {
  readonly cluster = new MockCluster(
    { engines: 2 },
    { cost: jobPreset('qwen2.5-7b-8k').job.cost, workload: rollpackerWorkload(capTokens, 1) },
  );
  readonly #running = new Map<string, MockEngine>();

  /** Generates a response, as far as its engine answers. */
  generate({ requestId, promptId, index, engineId }: Wanted, ended: Ended): void {
    const engine = this.cluster.engines[engineId === undefined ? 0 : Number(engineId.slice(1))]!;
    const failed = (message: string) => ended('response.failed', { kind: 'infrastructure', message });
    if (!engine.isUp) {
      this.cluster.agenda.at(this.cluster.now + refusedSeconds, () => failed('connection refused'));
      return;
    }
    const end = (one: Generation): void => {
      if (!this.#running.delete(requestId)) return;
      if (one.ended === 'lost') return failed('connection reset');
      const versions = one.weightSpans(engine.weightVersion).map(({ version }) => Number(version));
      const weightVersions = versions.length > 0 ? { weightVersions: versions } : {};
      const type = one.ended === 'abort' ? 'request.aborted' : 'response.completed';
      ended(type, { tokens: one.count, ...weightVersions });
    };
    this.#running.set(requestId, engine);
    const prompt = { text: promptId };
    engine.submit(
      new Generation({
        requestId,
        id: this.cluster.mint(requestId),
        prompt,
        planned: this.cluster.book.plan(prompt, index, requestId),
        limits: { maxTokens: capTokens, minTokens: 0, ignoreEos: false },
        priority: 0,
        at: this.cluster.now,
        listener: { ended: end },
      }),
    );
  }

  /** Aborts a request. One that was refused has nothing to stop, and an engine that hangs does not answer. */
  abort(requestId: string): void {
    const engine = this.#running.get(requestId);
    if (engine !== undefined && !engine.isHanging) engine.abort((one) => one.requestId === requestId, 'all');
  }

  /** Aborts all requests of a host that is no more. */
  forget(): void {
    for (const requestId of this.#running.keys()) this.abort(requestId);
    this.#running.clear();
  }
}
