import { describe, expect, test } from 'vitest';
import { create, programScheduling } from '../../../src/index.ts';
import type { ProgramSchedulingInput } from '../../../src/policies/program-scheduling/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { bothWays, only, Session } from '../../support/sessions/session.ts';

/** A session in which turns fail on some engines. */
class Failing extends Session {
  constructor(config: ProgramSchedulingInput = {}, engines = ['e0', 'e1']) {
    super(create(programScheduling, config) as never);
    for (const engineId of engines) this.send({ type: 'engine.added', engineId });
  }

  /** Opens a program that asks for its first turn, and returns where it runs; nowhere if it waits. */
  begin(requestId: string, contextTokens = 100, promptId?: string): string | undefined {
    this.send({ type: 'program.opened', requestId, ...(promptId === undefined ? {} : { promptId }) });
    return routes(this.send({ type: 'turn.requested', requestId, contextTokens })).at(0);
  }

  fail(requestId: string, kind: 'infrastructure' | 'environment' = 'infrastructure') {
    return [
      ...this.send({ type: 'response.failed', requestId, kind }),
      ...this.send({ type: 'program.closed', requestId }),
    ];
  }

  /** Lets programs of different prompts fail on e1, where nothing else runs. */
  failOnOne(...ids: string[]) {
    const decisions = ids.flatMap((id) => {
      expect(this.begin(id)).toBe(`${id} e1`);
      return this.fail(id);
    });
    return only(decisions, 'tries.suspended');
  }

  fire() {
    return this.send({ type: 'timer.fired', timerId: 'program-scheduling/waits' });
  }
}

const routes = (decisions: readonly VocabularyDecision[]) =>
  only(decisions, 'turn.route').map(({ requestId, engineId }) => `${requestId} ${engineId}`);

describe.each(bothWays<ProgramSchedulingInput, Failing>((config) => new Failing(config)))('%s', (_, make) => {
  test('an engine on which turns of different prompts fail gets single turns, until one has finished', () => {
    const session = make();
    session.begin('a', 5000);
    expect(session.failOnOne('b', 'c')).toMatchObject([
      { scope: 'engine', id: 'e1', reason: { code: 'failing', items: 2, failures: 2, retrySeconds: 1 } },
    ]);
    // One more prompt tells most at once, and the next after a pause.
    session.send({ type: 'program.opened', requestId: 'd' });
    const [probe] = only(session.send({ type: 'turn.requested', requestId: 'd', contextTokens: 100 }), 'turn.route');
    expect(probe).toMatchObject({ engineId: 'e1', reason: { code: 'probe', failures: 2, pauseSeconds: 0 } });
    expect(session.begin('e')).toBe('e e0');
    session.fail('d');
    session.at = 0.5;
    expect(session.begin('f')).toBe('f e0');
    session.at = 2;
    expect(session.begin('g')).toBe('g e1');
    // One that has begun loses more: it stays where it was.
    session.send({ type: 'turn.finished', requestId: 'e', tokens: 10 });
    expect(routes(session.send({ type: 'turn.requested', requestId: 'e', contextTokens: 110 }))).toEqual(['e e0']);
    session.at = 4;
    const recovered = session.send({ type: 'turn.finished', requestId: 'g', tokens: 10 });
    expect(recovered).toMatchObject([
      { type: 'tries.recovered', scope: 'engine', id: 'e1', reason: { code: 'succeeded', suspendedSeconds: 4 } },
    ]);
    expect([session.begin('h'), session.begin('i')]).toEqual(['h e1', 'i e1']);
  });

  test('a prompt that has failed on it is not tried there again while another engine takes turns', () => {
    const session = make();
    session.begin('a', 5000);
    for (const promptId of ['b', 'c']) {
      session.begin(promptId, 100, promptId);
      session.fail(promptId);
    }
    session.at = 100;
    expect(session.begin('b2', 100, 'b')).toBe('b2 e0');
    expect(session.begin('d', 100, 'd')).toBe('d e1');
    const [recovered] = session.send({ type: 'response.completed', requestId: 'd', tokens: 3 });
    expect(recovered).toMatchObject({ type: 'tries.recovered', id: 'e1' });
  });

  test('a prompt that fails alone, faults of environments, and failures between successes suspend nothing', () => {
    const session = make();
    session.begin('a', 5000);
    const decisions: VocabularyDecision[] = [];
    for (let index = 0; index < 9; index += 1) {
      expect(session.begin(`b${index}`, 100, 'b')).toBe(`b${index} e1`);
      decisions.push(...session.fail(`b${index}`));
      expect(session.begin(`c${index}`, 100, `c${index}`)).toBe(`c${index} e1`);
      decisions.push(...session.fail(`c${index}`, 'environment'));
    }
    for (let index = 0; index < 4; index += 1) {
      session.begin(`d${index}`, 100);
      decisions.push(...session.send({ type: 'response.completed', requestId: `d${index}`, tokens: 10 }));
      session.send({ type: 'program.closed', requestId: `d${index}` });
      session.begin(`e${index}`, 100);
      decisions.push(...session.fail(`e${index}`));
    }
    expect(only(decisions, 'tries.suspended')).toEqual([]);
  });

  test('where turns fail on all engines, programs wait for the next single turn, and `why` names the timer', () => {
    const session = make();
    session.begin('a', 5000);
    session.failOnOne('b', 'c');
    session.fail('a');
    for (const id of ['d', 'e', 'f']) {
      session.begin(id);
      session.fail(id);
    }
    session.send({ type: 'program.opened', requestId: 'g' });
    const waits = session.send({ type: 'turn.requested', requestId: 'g', contextTokens: 100 });
    expect(waits).toMatchObject([
      { type: 'timer.set', timerId: 'program-scheduling/waits', reason: { code: 'retry_pause' } },
    ]);
    const { fireAtSeconds } = only(waits, 'timer.set')[0]!;
    expect(session.why('g', 'programs').join()).toContain('program-scheduling/waits');
    session.at = fireAtSeconds;
    expect(only(session.fire(), 'turn.route')).toMatchObject([{ requestId: 'g', reason: { code: 'probe' } }]);
  });

  test('an engine that is lost is forgotten, and what ran there goes on elsewhere', () => {
    const session = make();
    session.begin('a', 5000);
    session.failOnOne('b', 'c');
    expect(session.begin('d')).toBe('d e1');
    const lost = session.send({ type: 'engine.lost', engineId: 'e1' });
    expect(lost.map(({ type }) => type).sort()).toEqual(['tries.recovered', 'turn.route']);
    session.send({ type: 'engine.added', engineId: 'e1' });
    expect([session.begin('e'), session.begin('f')]).toEqual(['e e1', 'f e1']);
  });

  test('after a restart of the host an engine is tried again after a second', () => {
    const session = make();
    session.begin('a', 5000);
    session.failOnOne('b', 'c');
    session.begin('d');
    session.fail('d');
    session.begin('e', 9000);
    session.send({ type: 'host.restarted', idPrefix: 'h1-' });
    session.at = 1;
    expect(session.begin('f')).toBe('f e1');
  });
});

test('one engine alone is never suspended: there is nothing to compare it with', () => {
  const session = new Failing({}, ['e0']);
  for (let index = 0; index < 12; index += 1) {
    expect(session.begin(`a${index}`)).toBe(`a${index} e0`);
    expect(only(session.fail(`a${index}`), 'tries.suspended')).toEqual([]);
  }
});

test('a snapshot of version 3 is restored', () => {
  const session = new Failing();
  session.begin('a');
  const { state, ...snapshot } = session.policy.snapshot() as { state: Record<string, unknown> };
  const { faults: _, programs, ...rest } = state as { faults: unknown; programs: object[] };
  const before = programs.map(({ launched: _launched, ...one }: { launched?: number }) => one);
  const old = JSON.parse(JSON.stringify({ ...snapshot, version: 3, state: { ...rest, programs: before } }));
  expect(create(programScheduling, { snapshot: old } as never).snapshot().state).toEqual({
    ...state,
    programs: before.map((one) => ({ ...one, launched: 0 })),
  });
});
