import { describe, expect, test } from 'vitest';
import { create, programScheduling } from '../../../src/index.ts';
import type { ProgramSchedulingInput } from '../../../src/policies/program-scheduling/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { bothWays, only, Session } from '../../support/sessions/session.ts';

/** A session with short ways to report what programs do. */
class Programs extends Session {
  constructor(config: ProgramSchedulingInput = {}, engines = ['e0', 'e1']) {
    super(create(programScheduling, config) as never);
    for (const engineId of engines) this.send({ type: 'engine.added', engineId });
  }

  /** Opens a program that asks for its first turn. */
  begin(requestId: string, contextTokens: number, prompt: { promptId?: string; promptTokens?: number } = {}) {
    this.send({ type: 'program.opened', requestId, ...prompt });
    return this.ask(requestId, contextTokens);
  }

  ask(requestId: string, contextTokens: number) {
    return this.send({ type: 'turn.requested', requestId, contextTokens });
  }

  finish(requestId: string, tokens: number, cachedTokens?: number) {
    return this.send({
      type: 'turn.finished',
      requestId,
      tokens,
      ...(cachedTokens === undefined ? {} : { cachedTokens }),
    });
  }

  /** Ends a turn, and starts a tool. */
  call(requestId: string, tokens: number, tool = 'bash', more: { expectedSeconds?: number } = {}) {
    return [...this.finish(requestId, tokens), ...this.send({ type: 'tool.started', requestId, tool, ...more })];
  }

  answer(requestId: string) {
    return this.send({ type: 'tool.finished', requestId, outcome: 'success' });
  }

  close(requestId: string) {
    return this.send({ type: 'program.closed', requestId });
  }

  lose(engineId: string) {
    return this.send({ type: 'engine.lost', engineId });
  }

  fire() {
    return this.send({ type: 'timer.fired', timerId: 'program-scheduling/waits' });
  }
}

const routes = (decisions: readonly VocabularyDecision[]) =>
  only(decisions, 'turn.route').map(({ requestId, engineId }) => `${requestId} ${engineId}`);
const reasons = (decisions: readonly VocabularyDecision[]) =>
  decisions.map(({ type, reason }) => `${type} ${reason.code}`);

describe.each(bothWays<ProgramSchedulingInput, Programs>((config) => new Programs(config)))('%s', (_, make) => {
  test('a first turn goes where the least is to do, and later ones where their context is cached', () => {
    const session = make();
    expect(routes(session.begin('a', 5000))).toEqual(['a e0']);
    expect(routes(session.begin('b', 5000))).toEqual(['b e1']);
    session.call('a', 100);
    session.at = 2;
    session.answer('a');
    const [route] = only(session.ask('a', 5300), 'turn.route');
    expect(route).toMatchObject({ engineId: 'e0', reason: { code: 'cached', cachedTokens: 5100 } });
  });

  test('programs of a prompt run where its tokens are cached', () => {
    const session = make();
    const prompt = { promptId: 'p', promptTokens: 20_000 };
    for (const id of ['a', 'b', 'c', 'd']) session.begin(id, 20_000, prompt);
    const [route] = only(session.begin('e', 20_000, prompt), 'turn.route');
    expect(route).toMatchObject({ engineId: 'e0', reason: { code: 'first', cachedTokens: 20_000 } });
  });

  test('what fits no engine is held back, and begins when there is room, prompt by prompt', () => {
    const session = make({ kvCapacityTokens: 10_000 });
    session.begin('a', 8000);
    session.begin('b', 8000);
    expect(only(session.begin('c', 3000, { promptId: 'p' }), 'turn.route')).toEqual([]);
    session.begin('d', 6000, { promptId: 'q' });
    session.begin('e', 3000, { promptId: 'p' });
    expect(session.why('c')[0]).toContain('is held back');
    session.at = 5;
    const ended = session.close('a');
    expect(reasons(ended)).toEqual(['program.ended closed', 'turn.route first', 'turn.route first']);
    expect(routes(ended)).toEqual(['c e0', 'e e0']);
    expect(only(ended, 'turn.route')[0]!.reason).toMatchObject({ waitedSeconds: 5 });
  });

  test('a turn that is asked for again runs anew', () => {
    const session = make();
    session.begin('a', 1000);
    expect(routes(session.ask('a', 1000))).toEqual(['a e0']);
    expect(reasons(session.finish('a', 50))).toEqual([]);
    expect(reasons(session.finish('a', 50))).toEqual(['program.late out_of_turn']);
  });

  test('late reports are harmless, and unknown programs are refused', () => {
    const session = make();
    session.begin('a', 1000);
    session.close('a');
    for (const late of [session.close('a'), session.ask('a', 5), session.finish('a', 5), session.answer('a')])
      expect(reasons(late)).toEqual(['program.late already_ended']);
    session.refuses({ type: 'program.closed', at: 0, requestId: 'b' }, 'unknown_id', 'requestId');
    session.refuses({ type: 'program.opened', at: 0, requestId: 'a' }, 'duplicate_id', 'requestId');
    session.refuses({ type: 'engine.lost', at: 0, engineId: 'e7' }, 'unknown_id', 'engineId');
  });

  test('after a restart of the host, turns are routed again and other programs are named', () => {
    const session = make();
    session.begin('a', 1000);
    session.begin('b', 1000);
    session.call('b', 10);
    const restarted = session.send({ type: 'host.restarted', idPrefix: 'again-' });
    expect(reasons(restarted)).toEqual(['program.awaited host_restarted', 'turn.route host_restarted']);
    expect(restarted[0]).toMatchObject({ requestId: 'b', reason: { turns: 1, contextTokens: 1010, tool: 'bash' } });
  });

  describe('incidents', () => {
    test('thresholds too tight (NeMo-Gym 3345): some more turns are no reason to read a long context again', () => {
      const session = make();
      session.begin('long', 50_000);
      session.call('long', 100);
      session.at = 60;
      for (let index = 0; index < 12; index += 1) {
        session.begin(`e1-${index}`, 500);
        session.send({ type: 'engine.reported', engineId: 'e0', ...load, waiting: 0 });
      }
      session.at = 61;
      session.answer('long');
      expect(routes(session.ask('long', 50_400))).toEqual(['long e0']);
    });

    test('a sticky spiral (prime-rl 3255): a long queue is a reason to leave', () => {
      const session = make();
      session.begin('a', 2000);
      session.begin('x', 2000);
      session.at = 2;
      session.call('a', 100);
      session.finish('x', 100);
      session.close('x');
      session.send({ type: 'engine.drained', engineId: 'e1' });
      for (let index = 0; index < 10; index += 1) session.begin(`b${index}`, 30_000);
      session.send({ type: 'engine.added', engineId: 'e1' });
      session.answer('a');
      const [route] = only(session.ask('a', 2200), 'turn.route');
      expect(route).toMatchObject({ engineId: 'e1', reason: { code: 'moved', cachedTokens: 0 } });
      const { seconds, stayingSeconds } = route!.reason as { seconds: number; stayingSeconds: number };
      expect(stayingSeconds).toBeGreaterThan(10 * seconds);
    });

    test('a tool that never answers: its program does not keep room from others', () => {
      const session = new Programs({ kvCapacityTokens: 10_000, prefillTokensPerSecond: 1000 }, ['e0']);
      session.begin('stuck', 7000);
      const [retain] = only(session.call('stuck', 100, 'sandbox'), 'kv.retain');
      expect(retain).toMatchObject({ engineId: 'e0', reason: { code: 'tool_time', answers: 0 } });
      const [timer] = only(session.begin('next', 3000), 'timer.set');
      expect(timer!.fireAtSeconds).toBe(retain!.seconds);
      session.at = timer!.fireAtSeconds;
      expect(routes(session.fire())).toEqual(['next e0']);
      expect(session.why('stuck')[0]).toContain('waits for its tool sandbox');
    });

    test('slow tools: a cache is not kept for a tool that takes longer than the room is worth', () => {
      const session = new Programs({ kvCapacityTokens: 10_000, prefillTokensPerSecond: 1000 }, ['e0']);
      session.begin('a', 1000);
      for (let turn = 1; turn <= 9; turn += 1) {
        const [retain] = only(session.call('a', 10 * turn, turn % 2 === 0 ? 'slow' : 'fast'), 'kv.retain');
        session.at += turn % 2 === 0 ? 300 : 0.5;
        session.answer('a');
        session.ask('a', 1000 + 20 * turn);
        expect(retain!.seconds).toBeGreaterThan(0);
      }
      for (let turn = 10; turn <= 26; turn += 1) {
        session.call('a', 10 * turn, turn % 2 === 0 ? 'slow' : 'fast');
        session.at += turn % 2 === 0 ? 300 : 0.5;
        session.answer('a');
        session.ask('a', 1000 + 20 * turn);
      }
      const kept = (tokens: number, tool: string) => only(session.call('a', tokens, tool), 'kv.retain')[0]!;
      expect(kept(300, 'slow').seconds).toBe(0);
      session.answer('a');
      session.ask('a', 2000);
      const fast = kept(310, 'fast');
      expect(fast.seconds).toBeGreaterThanOrEqual(0.5);
      expect(fast.seconds).toBeLessThan(1);
      expect(fast.reason).toMatchObject({ answers: 13 });
    });

    test('an engine that restarts with an empty cache: what was used before is not believed cached any more', () => {
      const session = make();
      session.send({ type: 'engine.drained', engineId: 'e1' });
      for (const id of ['old', 'new']) {
        session.begin(id, 9000);
        session.call(id, 100);
      }
      session.at = 10;
      session.answer('new');
      session.ask('new', 9500);
      // The engine has computed all of it.
      session.finish('new', 200, 0);
      session.answer('old');
      expect(only(session.ask('old', 9500), 'turn.route')[0]!.reason).toMatchObject({ cachedTokens: 0 });
      session.finish('old', 200);
      session.send({ type: 'engine.reported', engineId: 'e0', ...load, preemptions: 3 });
      session.send({ type: 'engine.reported', engineId: 'e0', ...load, preemptions: 0 });
      expect(only(session.ask('new', 9900), 'turn.route')[0]!.reason).toMatchObject({ cachedTokens: 0 });
    });

    test('a program that grows past the cache of an engine waits until it can run alone, and no longer than the limit', () => {
      const session = new Programs({ kvCapacityTokens: 10_000, maxPauseSeconds: 100 }, ['e0']);
      session.begin('big', 2000);
      session.begin('b', 2000);
      session.begin('c', 2000);
      session.at = 1;
      session.call('b', 10);
      session.finish('big', 10);
      expect(reasons(session.ask('big', 30_000))).toEqual([
        'turn.route cached',
        'program.pause over_budget',
        'timer.set program_waits',
      ]);
      session.at = 20;
      const [pause, resume] = session.finish('big', 20);
      expect(pause).toMatchObject({ type: 'program.pause', requestId: 'big', reason: { usedTokens: 32_010 } });
      expect(resume).toMatchObject({ type: 'program.resume', requestId: 'b', reason: { pausedSeconds: 19 } });
      expect(routes(session.ask('big', 30_100))).toEqual([]);
      session.close('b');
      expect(routes(session.close('c'))).toEqual(['big e0']);
      // Others wait while it runs.
      session.begin('d', 100);
      session.at = 120;
      expect(routes(session.fire())).toEqual(['d e0']);
    });

    test('what was let in because it had waited too long is the last to pause', () => {
      const session = new Programs({ kvCapacityTokens: 10_000, maxPauseSeconds: 100 }, ['e0']);
      session.begin('a', 4000);
      session.begin('b', 4000);
      session.begin('big', 8000);
      session.at = 100;
      expect(routes(session.fire())).toEqual(['big e0']);
      session.at = 110;
      expect(only(session.call('big', 10), 'program.pause')).toEqual([]);
      expect(only(session.call('a', 10), 'program.pause')).toHaveLength(1);
      expect(only(session.call('b', 10), 'program.pause')).toHaveLength(1);
      session.answer('big');
      expect(routes(session.ask('big', 8100))).toEqual(['big e0']);
    });

    test('an engine that dies: its turns run elsewhere, and an end that still comes counts', () => {
      const session = make();
      session.begin('a', 5000);
      session.begin('b', 5000);
      session.begin('c', 5000);
      session.call('c', 10);
      const lost = session.lose('e0');
      expect(reasons(lost)).toEqual(['turn.route engine_lost']);
      expect(routes(lost)).toEqual(['a e1']);
      session.answer('c');
      expect(routes(session.ask('c', 5100))).toEqual(['c e1']);
      session.lose('e1');
      expect(session.why('a')[0]).toContain('has asked');
      // The turn had ended before its engine was lost.
      expect(session.finish('a', 70)).toEqual([]);
      session.send({ type: 'engine.added', engineId: 'e2' });
      expect(routes(session.ask('a', 5200))).toEqual(['a e2']);
    });
  });

  test('nothing is paused for longer than the limit', () => {
    const session = make({ kvCapacityTokens: 10_000, maxPauseSeconds: 100 });
    session.send({ type: 'engine.drained', engineId: 'e1' });
    session.begin('big', 8500);
    const [timer] = only(session.begin('small', 5000), 'timer.set');
    expect(timer).toMatchObject({ fireAtSeconds: 100, reason: { limitSeconds: 100 } });
    session.at = 100;
    expect(routes(session.fire())).toEqual(['small e0']);
    // One of the two has to leave at the end of its turn: the one that is ahead.
    expect(reasons(session.call('big', 10))).toEqual(['program.pause over_budget', 'timer.set program_waits']);
    session.at = 200;
    expect(reasons(session.fire())).toEqual(['program.resume paused_longest']);
  });

  describe('the tail is packed onto few engines', () => {
    const freed = (decisions: readonly VocabularyDecision[]) =>
      only(decisions, 'engine.freed').map(({ engineId }) => engineId);
    /** Programs with contexts of 1000 tokens, one after the other on each engine. */
    function full(config: ProgramSchedulingInput, programs: number, engines = 3) {
      const session = make(config);
      for (let index = 2; index < engines; index += 1) session.send({ type: 'engine.added', engineId: `e${index}` });
      for (let index = 0; index < programs; index += 1) session.begin(`p${index}`, 1000);
      return session;
    }

    test('no engine is freed where it is not asked for', () => {
      const session = full({}, 6);
      for (let index = 0; index < 6; index += 1) expect(freed(session.close(`p${index}`))).toEqual([]);
    });

    test('an engine is freed when its last turn has ended, and its program goes on elsewhere', () => {
      const session = full({ tailSlowdown: 1 }, 3);
      expect(freed(session.close('p0'))).toEqual(['e0']);
      expect(freed(session.close('p1'))).toEqual(['e1']);
      const left = full({ tailSlowdown: 1 }, 4);
      for (const id of ['p1', 'p2']) expect(freed(left.close(id))).toEqual(['e1'].slice(Number(id === 'p1')));
      // Two programs are left on e0, and none on e2.
      expect(routes(left.ask('p0', 1100))).toEqual(['p0 e2']);
    });

    test('turns that run are not cut short', () => {
      // Each further turn on an engine makes turns 3.5 % slower: four on one are too many.
      const session = full({ tailSlowdown: 1.1 }, 9);
      expect(freed(session.close('p0'))).toEqual([]);
      expect(freed(session.close('p3'))).toEqual([]);
      const [engine] = only(session.finish('p6', 100), 'engine.freed');
      expect(engine).toMatchObject({ engineId: 'e0', reason: { code: 'packed', programs: 7, engines: 2 } });
      const [route] = only(session.ask('p6', 1200), 'turn.route');
      expect(route).toMatchObject({ reason: { code: 'moved' } });
      expect(route!.engineId).not.toBe('e0');
    });

    test('contexts have to fit twice as long as they are', () => {
      const fits = full({ tailSlowdown: 100, kvCapacityTokens: 4300 }, 3, 2);
      fits.close('p0');
      expect(freed(fits.finish('p2', 0))).toEqual(['e0']);
      const grown = full({ tailSlowdown: 100, kvCapacityTokens: 4200 }, 3, 2);
      grown.close('p0');
      expect(freed(grown.finish('p2', 0))).toEqual([]);
    });

    test('what waits, or makes turns slow, brings engines back', () => {
      const session = full({ tailSlowdown: 1.1, kvCapacityTokens: 10_000 }, 3);
      session.close('p0');
      expect(freed(session.close('p1'))).toEqual(['e1']);
      // It has no room beside the other one.
      expect(routes(session.begin('big', 9000))).toEqual(['big e0']);
      session.close('big');
      const routed = new Set<string>();
      for (let index = 0; index < 12; index += 1)
        for (const route of routes(session.begin(`n${index}`, 100))) routed.add(route.slice(-2));
      expect([...routed].sort()).toEqual(['e0', 'e1', 'e2']);
    });

    test('turns are slow where the others read much', () => {
      const session = full({ tailSlowdown: 1.1, prefillTokensPerSecond: 100 }, 3);
      expect(freed(session.close('p0'))).toEqual(['e0']);
      expect(freed(session.finish('p1', 100))).toEqual([]);
      expect(freed(session.finish('p2', 100))).toEqual([]);
    });

    test('while something waits for room, programs stay where they are', () => {
      const session = full({ tailSlowdown: 100, kvCapacityTokens: 10_000 }, 3, 2);
      session.begin('big', 9000);
      session.finish('p1', 10);
      session.finish('p0', 0);
      session.close('p2');
      // It counts on its engine, so its context is kept there.
      expect(only(session.send({ type: 'tool.started', requestId: 'p0', tool: 'bash' }), 'kv.retain')).toHaveLength(1);
    });

    test('an engine that the host has taken is used again when it is added again', () => {
      const session = full({ tailSlowdown: 2 }, 2, 2);
      expect(freed(session.close('p0'))).toEqual(['e0']);
      // That it is still there is no reason to use it.
      session.send({ type: 'engine.added', engineId: 'e0' });
      expect(routes(session.begin('new', 100))).toEqual(['new e1']);
      session.send({ type: 'engine.drained', engineId: 'e0' });
      expect(routes(session.begin('newer', 100))).toEqual(['newer e1']);
      session.send({ type: 'engine.added', engineId: 'e0' });
      expect(routes(session.begin('newest', 100))).toEqual(['newest e0']);
    });

    test('a freed engine takes the turns of all others when they are lost', () => {
      const session = full({ tailSlowdown: 1 }, 2, 2);
      expect(freed(session.close('p0'))).toEqual(['e0']);
      expect(routes(session.lose('e1'))).toEqual(['p1 e0']);
    });
  });

  test('a drained engine finishes its turns, and its programs move', () => {
    const session = make();
    session.begin('a', 5000);
    session.begin('b', 5000);
    session.send({ type: 'engine.drained', engineId: 'e0' });
    expect(session.finish('a', 10)).toEqual([]);
    const [route] = only(session.ask('a', 5100), 'turn.route');
    expect(route).toMatchObject({ engineId: 'e1', reason: { code: 'moved' } });
    expect(route!.reason).not.toHaveProperty('stayingSeconds');
  });
});

const load = { kvCapacityTokens: 400_000, kvUsedTokens: 0, running: 1, waiting: 1, preemptions: 0 };

test('what programs of a prompt share is what the first of them has said, before and after a restore', () => {
  const routes = (isRestored: boolean) => {
    const job = new Session(create(programScheduling, { kvCapacityTokens: 1000 }) as never);
    job.send({ type: 'engine.added', engineId: 'e0' });
    job.send({ type: 'program.opened', requestId: 'a', promptId: 'p' });
    job.send({ type: 'program.opened', requestId: 'b', promptId: 'p', promptTokens: 136 });
    for (const requestId of ['b', 'a']) job.send({ type: 'turn.requested', requestId, contextTokens: 150 });
    if (isRestored) job.restore();
    job.send({ type: 'turn.requested', requestId: 'a', contextTokens: 150 });
    return job.send({ type: 'turn.requested', requestId: 'a', contextTokens: 1900 });
  };
  expect(routes(true)).toEqual(routes(false));
});

test('a timer that never fires is set again by the next event', () => {
  const job = new Session(create(programScheduling, { kvCapacityTokens: 1000, maxPauseSeconds: 100 }) as never);
  job.send({ type: 'engine.added', engineId: 'e0' });
  const ask = (requestId: string) => {
    job.send({ type: 'program.opened', requestId });
    return only(job.send({ type: 'turn.requested', requestId, contextTokens: 900 }), 'timer.set');
  };
  ask('a');
  job.at = 10;
  const [first] = ask('b');
  job.at = first!.fireAtSeconds + 5;
  job.send({ type: 'turn.finished', requestId: 'b', tokens: 1 });
  expect(ask('c').map(({ fireAtSeconds }) => fireAtSeconds > job.at)).toEqual([true]);
});

test('a turn leaves its cache, if there it would slow others down by more than reading takes', () => {
  const decode = { stepSeconds: 0.01, sequenceSeconds: 0, contextTokenSeconds: 1e-6 };
  const job = new Programs({ decode });
  const ask = (requestId: string, contextTokens: number) =>
    only(job.send({ type: 'turn.requested', requestId, contextTokens }), 'turn.route').map((one) => one.engineId);
  for (const requestId of ['a', 'b']) job.send({ type: 'program.opened', requestId });
  expect(ask('a', 10_000)).toEqual(['e0']);
  // A second for reading, and 200 steps of 0.02 s.
  job.at = 5;
  job.send({ type: 'turn.finished', requestId: 'a', tokens: 200 });
  expect(ask('b', 10)).toEqual(['e0']);
  // Here 200 steps of 0.02 s, each 0.01 s longer for b, or on e1 the same steps, and a second for reading.
  expect(ask('a', 10_200)).toEqual(['e1']);
});

test('before an engine is freed, contexts count as twice as long', () => {
  const freed = (tailSlowdown: number): number => {
    const decode = { stepSeconds: 0.01, sequenceSeconds: 0, contextTokenSeconds: 1e-6 };
    const job = new Programs({ decode, tailSlowdown });
    for (const requestId of ['a', 'b', 'c']) {
      job.send({ type: 'program.opened', requestId });
      job.send({ type: 'turn.requested', requestId, contextTokens: 5000 });
    }
    // A step of two turns takes 0.02 s, and with twice the contexts 0.03 s; one alone 0.015 s, and 0.02 s.
    return only(job.send({ type: 'program.closed', requestId: 'c' }), 'engine.freed').length + emptying(job);
  };
  const emptying = (job: Programs): number => {
    const { engines } = (job.policy.snapshot() as { state: { engines: { status: string }[] } }).state;
    return engines.filter(({ status }) => status === 'emptying').length;
  };
  expect([freed(1.4), freed(1.6)]).toEqual([0, 1]);
});
