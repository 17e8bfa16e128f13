import { describe, expect, test } from 'vitest';
import { agenticRollout, create } from '../../../src/index.ts';
import type { AgenticRolloutInput } from '../../../src/recipes/agentic-rollout/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { only, prompts, Session } from '../../support/sessions/session.ts';

const settings: AgenticRolloutInput = {
  promptsPerRound: 2,
  responsesPerPrompt: 2,
  promptSpeculation: 1,
  responseSpeculation: 1,
  environment: 'box',
  slots: { box: 4 },
};

/** Turns of every trajectory. */
const turns = 3;

/** A host with the loop of each trajectory. What it has of finished turns outlives it, and nothing else. */
class Host extends Session {
  /** Finished turns of each trajectory, in a store of its own. */
  readonly kept = new Map<string, number>();
  /** Turns that engines have generated, for each trajectory. */
  readonly generated = new Map<string, number>();
  readonly completed: VocabularyDecision[] = [];
  readonly drained: VocabularyDecision[] = [];
  /** Whether a tool of this trajectory answers. */
  answers = (_requestId: string): boolean => true;
  #todo: object[] = [];
  #known = new Set<string>();
  #housed = new Set<string>();
  #busy = new Set<string>();

  constructor(config: Partial<AgenticRolloutInput> = {}) {
    super(create(agenticRollout, { ...settings, ...config }) as never);
    this.restoresFirst = true;
    this.tell({ type: 'engine.added', engineId: 'e0' });
  }

  round(): void {
    const roundId = `r${this.rounds++}`;
    this.tell({ type: 'round.requested', roundId, weightVersion: this.rounds });
    this.tell({ type: 'prompts.supplied', roundId, prompts: prompts('a', 'b') });
  }

  /** Does up to so many of the things that are to be done. */
  work(most = 400): this {
    for (let done = 0; done < most && this.#todo.length > 0; done += 1) {
      this.at += 1;
      this.tell(this.#todo.shift()!);
    }
    return this;
  }

  /** Begins anew with nothing but the store. */
  restart(idPrefix = 'again-'): void {
    this.#todo = [];
    for (const all of [this.#known, this.#housed, this.#busy]) all.clear();
    this.tell({ type: 'host.restarted', idPrefix });
  }

  tell(event: object): VocabularyDecision[] {
    const told = this.send(event as never);
    for (const one of told) this.#heed(one);
    return told;
  }

  #heed(one: VocabularyDecision): void {
    switch (one.type) {
      case 'slot.prewarm':
        this.#todo.push({ type: 'slot.ready', slotId: one.slotId });
        return;
      case 'slot.reclaim':
        this.#todo.push({ type: 'slot.released', slotId: one.slotId });
        if (one.reason.code === 'tool_timeout') this.#forget(one.requestId!);
        return;
      case 'slot.assign':
        this.#housed.add(one.requestId);
        return this.#goOn(one.requestId);
      case 'request.launch':
      case 'request.resume':
        this.#known.add(one.requestId);
        return this.#goOn(one.requestId);
      case 'request.abort':
        this.#forget(one.requestId);
        this.#todo.push({ type: 'request.aborted', requestId: one.requestId });
        return;
      case 'turn.route': {
        const { requestId } = one;
        this.#busy.add(requestId);
        const finished = (this.kept.get(requestId) ?? 0) + 1;
        this.#todo.push({ type: 'turn.finished', requestId, tokens: 10 * finished });
        return;
      }
      case 'round.completed':
        this.completed.push(one);
        return;
      case 'round.drained':
        this.drained.push(one);
    }
  }

  #forget(requestId: string): void {
    this.#known.delete(requestId);
    this.#todo = this.#todo.filter((one) => (one as { requestId?: string }).requestId !== requestId);
  }

  /** Asks for the next turn of a trajectory that is here, and has its environment. */
  #goOn(requestId: string): void {
    if (!this.#known.has(requestId) || !this.#housed.has(requestId) || this.#busy.has(requestId)) return;
    this.#busy.add(requestId);
    const finished = this.kept.get(requestId) ?? 0;
    if (finished === turns) this.#todo.push({ type: 'response.completed', requestId, tokens: 10 * turns });
    else this.#todo.push({ type: 'turn.requested', requestId, contextTokens: 50 + 20 * finished });
  }

  override send(event: never): VocabularyDecision[] {
    const { type, requestId } = event as { type: string; requestId: string };
    const told = super.send(event);
    if (type === 'turn.finished') {
      const finished = (this.kept.get(requestId) ?? 0) + 1;
      this.kept.set(requestId, finished);
      this.generated.set(requestId, (this.generated.get(requestId) ?? 0) + 1);
      if (finished === turns) this.#todo.push({ type: 'response.completed', requestId, tokens: 10 * turns });
      else {
        this.#todo.push({ type: 'tool.started', requestId, tool: 'bash' });
        if (this.answers(requestId)) this.#todo.push({ type: 'tool.finished', requestId, outcome: 'success' });
      }
    } else if (type === 'tool.finished') {
      this.#busy.delete(requestId);
      this.#goOn(requestId);
    }
    return told;
  }

  /** Requests in the parts: of the admission, of the programs, and of the environments. */
  held() {
    const { parts } = (this.policy.snapshot() as { state: { parts: Record<string, { state: never }> } }).state;
    const of = (part: string): { requestId: string }[] => (parts[part]!.state as { programs: never }).programs;
    return { programs: of('programs').map((one) => one.requestId), slots: of('slots').map((one) => one.requestId) };
  }
}

describe('a round', () => {
  test('runs its trajectories turn by turn, each in an environment, and nothing is left', () => {
    const host = new Host();
    host.round();
    host.work();
    expect(host.completed).toMatchObject([{ roundId: 'r0', prompts: [{ promptId: 'a' }, { promptId: 'b' }] }]);
    expect(host.drained).toHaveLength(1);
    expect([...host.generated.values()]).toEqual([turns, turns, turns, turns]);
    expect(host.held()).toEqual({ programs: [], slots: [] });
  });

  test('composes rounds, where that is wanted', () => {
    const host = new Host({ composition: true, windowRounds: 1 });
    host.round();
    host.work();
    expect(host.completed).toHaveLength(1);
  });

  test('aborts end the program and the environment at once, before they are confirmed', () => {
    const host = new Host({ responseSpeculation: 1.5, slots: { box: 6 } });
    host.round();
    for (let events = 0; events < 200 && host.completed.length === 0; events += 1) host.work(1);
    expect(host.held()).toEqual({ programs: [], slots: [] });
    host.work();
    expect(host.drained).toHaveLength(1);
  });
});

describe('a failure of the environment', () => {
  test('is another try of the trajectory, and no reward: the host says that the slot has failed', () => {
    const host = new Host();
    host.round();
    host.work(6);
    const [first] = host.held().slots;
    const told = host.tell({ type: 'slot.failed', slotId: 'slot/0' });
    expect(only(told, 'slot.denied')).toMatchObject([
      { requestId: first, reason: { code: 'failed', failures: 1, budget: 0 } },
    ]);
    expect(only(told, 'request.launch')).toMatchObject([{ reason: { code: 'retry_environment', attempt: 1 } }]);
    expect(only(told, 'program.ended')).toMatchObject([{ requestId: first }]);
    // The trajectory that failed is over, whatever else is said of it.
    expect(only(host.tell({ type: 'response.completed', requestId: first, tokens: 9 }), 'response.late')).toHaveLength(
      1,
    );
    host.work();
    const trained = (host.completed[0] as { prompts: { responses: { requestId: string }[] }[] }).prompts;
    expect(trained.flatMap(({ responses }) => responses.map((one) => one.requestId))).not.toContain(first);
  });

  test('a tool that never answers is another try, too', () => {
    const host = new Host({ maxToolTimeoutSeconds: 100 });
    let hung: string | undefined;
    host.answers = (requestId) => (hung ??= requestId) !== requestId;
    host.round();
    host.work();
    expect(host.completed).toEqual([]);
    host.at += 200;
    const told = host.tell({ type: 'timer.fired', timerId: 'environment-slots/due' });
    expect(only(told, 'slot.reclaim')).toMatchObject([
      { requestId: hung, reason: { code: 'tool_timeout', tool: 'bash' } },
    ]);
    expect(only(told, 'request.launch')).toMatchObject([{ reason: { code: 'retry_environment' } }]);
    host.work();
    expect(host.completed).toHaveLength(1);
  });

  test('a broken image gives up no trajectory until the limit of the host, and then by name', () => {
    const host = new Host({ suspendAfter: 2, retry: { environment: 1, giveUpSeconds: 600 } });
    host.round();
    const seen: VocabularyDecision[] = [];
    for (let tries = 0; tries < 200 && only(seen, 'prompt.failed').length === 0; tries += 1) {
      const { state } = (host.policy.snapshot() as { state: { parts: { slots: { state: never } } } }).state.parts.slots;
      const { slots, timerAt } = state as { slots: { id: string; status: string }[]; timerAt: number };
      const [starting] = slots.filter(({ status }) => status === 'starting');
      if (starting !== undefined) seen.push(...host.tell({ type: 'slot.failed', slotId: starting.id }));
      else {
        host.at = Math.max(host.at, timerAt);
        seen.push(...host.tell({ type: 'timer.fired', timerId: 'environment-slots/due' }));
      }
    }
    expect(only(seen, 'slots.suspended').length).toBeGreaterThan(1);
    expect(only(seen, 'prompt.failed')[0]).toMatchObject({ reason: { code: 'not_compared', limitSeconds: 600 } });
  });

  test('environments that the host asks for itself are given to requests alone, and not after their end', () => {
    const host = new Host({ environment: undefined });
    host.round();
    host.refuses({ type: 'slot.requested', at: 0, requestId: 'nobody', environment: 'box' }, 'unknown_id', 'requestId');
    expect(
      only(host.tell({ type: 'slot.requested', requestId: 'a/0#0', environment: 'box' }), 'slot.prewarm'),
    ).toHaveLength(1);
    host.tell({ type: 'response.failed', requestId: 'a/1#0', kind: 'infrastructure' });
    expect(host.tell({ type: 'slot.requested', requestId: 'a/1#0', environment: 'box' })).toMatchObject([
      { type: 'slot.denied', reason: { code: 'closed' } },
    ]);
    expect(host.held().programs).toContain('a/1#1');
  });
});

describe('a host that restarts', () => {
  test('without memory, whenever it does, goes on at the last finished turn, and generates none of them again', () => {
    for (let count = 0; count < 48; count += 2) {
      const host = new Host();
      host.restoresFirst = count === 20;
      host.round();
      host.work(count);
      host.restart();
      host.work();
      expect([count, host.completed.length, host.drained.length]).toEqual([count, 1, 1]);
      expect([...host.generated.values()]).toEqual([turns, turns, turns, turns]);
      expect(host.held()).toEqual({ programs: [], slots: [] });
    }
  });

  test('twice, and that has lost an environment, charges no budget', () => {
    const host = new Host({ retry: { environment: 0, infrastructure: 0, data: 0 } });
    host.round();
    host.work(12);
    host.restart();
    const told = host.tell({ type: 'slot.failed', slotId: 'slot/0' });
    expect(only(told, 'slot.denied')).toEqual([]);
    host.restart('third-');
    host.work();
    expect(host.completed).toHaveLength(1);
  });
});

test('retries keep away from an engine that refuses every turn, and no prompt is given up for it', () => {
  const config = { promptsPerRound: 2, responsesPerPrompt: 2, responseSpeculation: 1, promptSpeculation: 1 };
  const session = new Session(create(agenticRollout, config) as never);
  for (const engineId of ['e0', 'e1']) session.send({ type: 'engine.added', engineId });
  session.send({ type: 'round.requested', roundId: 'r', weightVersion: 0 });
  const all: VocabularyDecision[] = [];
  let todo: object[] = [{ type: 'prompts.supplied', roundId: 'r', prompts: prompts('a', 'b') }];
  for (let step = 0; step < 400 && todo.length > 0; step += 1) {
    const next = todo.shift()! as { at?: number };
    session.at = Math.max(session.at, next.at ?? 0);
    const told = session.send({ ...next, at: session.at } as never);
    all.push(...told);
    for (const one of told) {
      if (one.type === 'request.launch')
        todo.push({ type: 'turn.requested', requestId: one.requestId, contextTokens: 100 });
      if (one.type === 'timer.set') todo.push({ type: 'timer.fired', timerId: one.timerId, at: one.fireAtSeconds });
      if (one.type !== 'turn.route') continue;
      const { requestId, engineId } = one;
      todo.push(
        engineId === 'e1'
          ? { type: 'response.failed', requestId, kind: 'infrastructure', at: session.at + 0.02 }
          : { type: 'response.completed', requestId, tokens: 10, at: session.at + 10 },
      );
    }
    todo = todo.sort((one, other) => ((one as { at?: number }).at ?? 0) - ((other as { at?: number }).at ?? 0));
  }
  expect(only(all, 'round.completed')).toHaveLength(1);
  expect([...only(all, 'prompt.failed'), ...only(all, 'response.abandoned')]).toEqual([]);
  // The admission knows no engines: what it suspends is all of them.
  expect(only(all, 'tries.suspended').flatMap(({ id }) => id ?? [])).toEqual(['e1']);
});

test('programs of a prompt share its tokens, where the host has given them', () => {
  const routes = (promptTokens: { promptTokens?: number }): number => {
    const { environment: _, slots: _slots, ...rounds } = settings;
    const job = new Session(
      create(agenticRollout, { ...rounds, promptsPerRound: 1, kvCapacityTokens: 10_000 }) as never,
    );
    job.send({ type: 'engine.added', engineId: 'e0' });
    job.send({ type: 'round.requested', roundId: 'r', weightVersion: 0 });
    const launched = only(
      job.send({ type: 'prompts.supplied', roundId: 'r', prompts: [{ promptId: 'a', ...promptTokens }] }),
      'request.launch',
    );
    const ask = (requestId: string) => job.send({ type: 'turn.requested', requestId, contextTokens: 6100 });
    return launched.flatMap(({ requestId }) => only(ask(requestId), 'turn.route')).length;
  };
  expect(routes({ promptTokens: 6000 })).toBe(2);
  expect(routes({})).toBe(1);
});

describe('an environment', () => {
  const begin = () => {
    const job = new Session(create(agenticRollout, { ...settings, promptsPerRound: 1 }) as never);
    job.restoresFirst = true;
    job.send({ type: 'engine.added', engineId: 'e0' });
    job.send({ type: 'round.requested', roundId: 'r', weightVersion: 0 });
    job.send({ type: 'prompts.supplied', roundId: 'r', prompts: prompts('a') });
    job.send({ type: 'slot.ready', slotId: 'slot/0' });
    job.send({ type: 'tool.started', requestId: 'a/0#0', tool: 'bash' });
    return job;
  };

  test('stays with a trajectory that asks for its next turn without a report of its tool', () => {
    const job = begin();
    job.at = 10;
    job.send({ type: 'turn.requested', requestId: 'a/0#0', contextTokens: 10 });
    job.send({ type: 'turn.finished', requestId: 'a/0#0', tokens: 5 });
    job.send({ type: 'tool.started', requestId: 'a/0#0', tool: 'bash' });
    job.send({ type: 'turn.requested', requestId: 'a/0#0', contextTokens: 20 });
    job.at = 5000;
    const told = job.send({ type: 'timer.fired', timerId: 'environment-slots/due' });
    expect(only(told, 'slot.reclaim').filter(({ reason }) => reason.code === 'tool_timeout')).toEqual([]);
  });

  test('is not given to a trajectory that is over because its tool never answered', () => {
    const job = begin();
    job.at = 5000;
    const told = job.send({ type: 'timer.fired', timerId: 'environment-slots/due' });
    expect(only(told, 'request.launch').map(({ requestId }) => requestId)).toEqual(['a/0#1']);
    const again = job.send({ type: 'slot.requested', requestId: 'a/0#0', environment: 'box' });
    expect(only(again, 'slot.denied').map(({ reason }) => reason.code)).toEqual(['closed']);
  });

  test('needs a number of its kind, whatever the name of the kind', () => {
    const make = () => create(agenticRollout, { ...settings, environment: 'constructor' });
    expect(refusal(make)).toMatchObject({ code: 'invalid_config', path: 'slots' });
  });
});
