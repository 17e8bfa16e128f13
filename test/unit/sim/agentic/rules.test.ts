/** Static rules for agentic rollouts, each on loads that are made by hand. */
import { describe, expect, it } from 'vitest';
import type { AnyEvent } from '../../../../src/core/machine/definition.ts';
import { simulateAgentic } from '../../../../src/sim/agentic/driver.ts';
import { agenticPreset } from '../../../../src/sim/agentic/presets.ts';
import { agenticRules } from '../../../../src/sim/agentic/rules/index.ts';
import { consistentHash, dualThreshold, leastInFlight, margin } from '../../../../src/sim/agentic/rules/static.ts';
import { thunderAgent } from '../../../../src/sim/agentic/rules/thunder-agent.ts';
import type { AgenticScheduler } from '../../../../src/sim/agentic/scheduler.ts';
import type { AgenticJob } from '../../../../src/sim/agentic/settings.ts';
import { agenticWorkload } from '../../../../src/sim/agentic/shape.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const job = agenticPreset('swe-long').job;

/** A scheduler, its engines, and what it decided, in brief. */
class Play {
  at = 0;
  readonly #policy: ReturnType<AgenticScheduler['create']>;
  readonly #generated = new Map<string, number>();

  constructor(scheduler: AgenticScheduler, engines: readonly string[], capacity = 1000) {
    const cost = { ...job.cost, kvCapacityTokens: capacity };
    this.#policy = scheduler.create({ ...job, cost } as AgenticJob, { seed: 1 } as never);
    for (const engineId of engines) this.send('engine.added', { engineId });
  }

  send(type: string, fields: object = {}): string[] {
    return this.#policy
      .send({ type, at: this.at, ...fields } as unknown as AnyEvent)
      .filter((one) => one.type !== 'timer.set')
      .map((one) => {
        const { requestId, engineId = '' } = one as unknown as { requestId: string; engineId?: string };
        return [one.type.split('.')[1], requestId, engineId].join(' ').trim();
      });
  }

  /** Opens a program and asks for its first turn. */
  open(requestId: string, contextTokens = 10, promptId = requestId): string[] {
    return [...this.send('program.opened', { requestId, promptId }), ...this.ask(requestId, contextTokens)];
  }

  ask(requestId: string, contextTokens = 10): string[] {
    return this.send('turn.requested', { requestId, contextTokens });
  }

  /** Ends a turn, after which the tool begins. */
  end(requestId: string, tokens = 0): string[] {
    const all = (this.#generated.get(requestId) ?? 0) + tokens;
    this.#generated.set(requestId, all);
    const decided = this.send('turn.finished', { requestId, tokens: all });
    return [...decided, ...this.send('tool.started', { requestId, tool: 't' })];
  }

  check(at: number): string[] {
    this.at = at;
    return this.send('timer.fired', { timerId: 'thunder-agent' });
  }
}

describe.each(agenticRules)('$id', (scheduler) => {
  it('runs every turn of a workload for which the KV cache is scarce', () => {
    const [shape] = agenticPreset('swe-scarce-kv').shapes;
    const few = { ...shape!, prompts: 6, samples: 4, turns: { median: 6, sigma: 0.5 } };
    const workload = agenticWorkload([few], { name: 'few', source: 'test', seed: 1 });
    const turns = workload.programs.reduce((sum, one) => sum + one.turns.length, 0);
    const scarce = { ...job, engines: 3, cost: { ...job.cost, kvCapacityTokens: 16_000 } };
    const run = simulateAgentic(scarce, scheduler, workload);
    expect(run).toMatchObject({ programs: 24, turns });
    expect(simulateAgentic(scarce, scheduler, workload)).toEqual(run);
    // What is paused is resumed at the next check that has room: minutes, not the bound of 1,800 s.
    expect(run.longestPauseSeconds).toBeLessThan(300);
    expect(run.pauses > 0).toBe(scheduler.id.startsWith('thunder-agent'));
  });
});

it('rules have ids that differ', () => {
  expect(new Set(agenticRules.map(({ id }) => id)).size).toBe(agenticRules.length);
});

describe('least in flight', () => {
  it('takes the engine with the fewest turns, the first of several', () => {
    const play = new Play(leastInFlight, ['a', 'b', 'c']);
    expect([play.open('1'), play.open('2'), play.open('3'), play.open('4')].flat()).toEqual([
      'route 1 a',
      'route 2 b',
      'route 3 c',
      'route 4 a',
    ]);
    play.end('2');
    expect(play.ask('2')).toEqual(['route 2 b']);
    play.end('4');
    play.end('1');
    expect(play.ask('4')).toEqual(['route 4 a']);
  });
});

describe('consistent hash', () => {
  const engines = Array.from({ length: 8 }, (_, at) => `engine-${at}`);
  const ids = Array.from({ length: 2000 }, (_, at) => `swe-${at >> 3}/${at & 7}#0`);
  const placed = (among: readonly string[]): Map<string, string> => {
    const play = new Play(consistentHash, among);
    return new Map(ids.map((id) => [id, play.open(id)[0]!.split(' ')[2]!]));
  };

  it('keeps a program on its engine, however busy it is', () => {
    const play = new Play(consistentHash, engines);
    const [first] = play.open('x');
    for (let at = 0; at < 5; at += 1) {
      play.end('x');
      expect(play.ask('x')).toEqual([first]);
    }
  });

  it('moves only the programs of an engine that leaves, and spreads programs about evenly', () => {
    const [all, fewer] = [placed(engines), placed(engines.filter((one) => one !== 'engine-3'))];
    const moved = ids.filter((id) => all.get(id) !== fewer.get(id));
    expect(moved.every((id) => all.get(id) === 'engine-3')).toBe(true);
    const counts = engines.map((engine) => [...all.values()].filter((one) => one === engine).length);
    expect(Math.max(...counts)).toBeLessThan(250 * 1.35);
    expect(Math.min(...counts)).toBeGreaterThan(250 * 0.65);
  });

  it('does not depend on the order in which engines came', () => {
    expect(placed([...engines].reverse())).toEqual(placed(engines));
  });
});

describe('margin', () => {
  it('leaves an engine that has so many turns more than the least, and none before', () => {
    const play = new Play(margin(2), ['a', 'b']);
    for (const id of ['x', 'y']) play.open(id);
    for (const id of ['x', 'y']) play.end(id);
    expect(['1', '2'].flatMap((id) => play.open(id))).toEqual(['route 1 a', 'route 2 b']);
    play.end('2');
    expect(play.ask('x')).toEqual(['route x a']);
    play.end('x');
    expect(['3', '4'].flatMap((id) => play.open(id))).toEqual(['route 3 b', 'route 4 a']);
    play.end('3');
    expect(play.ask('x')).toEqual(['route x b']);
  });

  it('refuses a margin that is no whole number >= 1', () => {
    for (const bad of [0, 1.5, Number.NaN]) {
      expect(refusal(() => margin(bad))).toMatchObject({ code: 'invalid_input', path: 'turns' });
    }
  });
});

describe('dual threshold', () => {
  /** Engine a has so many turns more than b, when x, whose last turn was on a, asks again. */
  const routed = (scheduler: AgenticScheduler, turns: number, more: number): string => {
    const play = new Play(scheduler, ['a', 'b']);
    play.open('x');
    play.open('y');
    play.end('y');
    play.end('x');
    // Siblings of x stay on its engine while the engines are in balance; what is beyond is put there one by one.
    for (let at = 0; at < turns; at += 1) {
      play.open(`a${at}`, 10, 'x');
      play.open(`b${at}`, 10, 'y');
    }
    for (let at = 0; at < more; at += 1) play.open(`m${at}`, 10, 'x');
    return play.ask('x')[0]!;
  };

  it('follows the cache until the difference exceeds the absolute threshold', () => {
    expect(routed(dualThreshold(4, 1.1), 1, 4)).toBe('route x a');
    expect(routed(dualThreshold(4, 1.1), 1, 5)).toBe('route x b');
    expect(routed(dualThreshold(32, 1.5), 1, 32)).toBe('route x a');
    expect(routed(dualThreshold(32, 1.5), 1, 33)).toBe('route x b');
  });

  it('and the relative one, too', () => {
    expect(routed(dualThreshold(4, 1.5), 20, 10)).toBe('route x a');
    expect(routed(dualThreshold(4, 1.5), 20, 11)).toBe('route x b');
  });

  it('sends the first turns of a prompt where the prompt was last', () => {
    const play = new Play(dualThreshold(4, 1.1), ['a', 'b']);
    const first = ['1', '2', '3', '4', '5', '6', '7'].map((id) => play.open(id, 10, 'p')[0]!.split(' ')[2]);
    expect(first).toEqual(['a', 'a', 'a', 'a', 'a', 'b', 'b']);
  });

  it('refuses thresholds that mean nothing', () => {
    expect(refusal(() => dualThreshold(-1, 2)).path).toBe('balanceAbs');
    expect(refusal(() => dualThreshold(1, 0.5)).path).toBe('balanceRel');
  });
});

describe('ThunderAgent', () => {
  const full = thunderAgent({ decays: false, reservedTokens: 0 });

  it('places a new program on the engine with the fewest tokens, and lets it wait where none has room', () => {
    const play = new Play(full, ['a', 'b']);
    expect(play.open('1', 300)).toEqual(['route 1 a']);
    expect(play.open('2', 900)).toEqual(['route 2 b']);
    expect(play.open('3', 600)).toEqual(['route 3 a']);
    expect(play.open('4', 200)).toEqual([]);
    // Nothing overtakes what waits, even if it would fit.
    expect(play.open('5', 50)).toEqual([]);
    play.end('2');
    play.send('program.closed', { requestId: '2' });
    expect(play.check(5)).toEqual(['route 4 b', 'route 5 b']);
  });

  it('keeps programs on their engine while it has room', () => {
    const play = new Play(full, ['a', 'b']);
    play.open('1', 300);
    play.open('2', 400);
    play.end('1', 50);
    expect(play.check(5)).toEqual([]);
    expect(play.ask('1', 500)).toEqual(['route 1 a']);
  });

  it('over its budget pauses programs in tools first, the smallest first', () => {
    const play = new Play(full, ['a']);
    for (const [id, tokens] of [
      ['1', 100],
      ['2', 200],
      ['3', 300],
      ['4', 300],
    ] as const)
      play.open(id, tokens);
    play.end('3');
    play.end('2');
    play.end('4', 180);
    // 100 runs, 200, 300 and 480 are in tools: 80 over.
    expect(play.check(5)).toEqual(['pause 2']);
    expect(play.ask('2', 220)).toEqual([]);
    play.end('1');
    expect(play.ask('3', 300)).toEqual(['route 3 a']);
  });

  it('then marks programs that reason, which pause at the end of their turn', () => {
    const play = new Play(full, ['a']);
    play.open('1', 100);
    play.open('2', 200);
    play.open('3', 300);
    play.end('3', 10);
    expect(play.ask('3', 800)).toEqual(['route 3 a']);
    expect(play.check(5)).toEqual([]);
    expect(play.end('2', 20)).toEqual([]);
    expect(play.end('1', 20)).toEqual(['pause 1']);
    expect(play.check(10)).toEqual(['pause 2']);
  });

  it('resumes what waits for a turn before new programs and those in tools, and places the longest on the widest room', () => {
    const play = new Play(full, ['a', 'b']);
    for (const [id, tokens] of [
      ['big', 900],
      ['old', 500],
      ['tool', 400],
    ] as const)
      play.open(id, tokens);
    expect(play.open('new', 300)).toEqual([]);
    play.end('old', 150);
    play.end('tool');
    expect(play.check(5)).toEqual(['pause tool']);
    play.ask('old', 990);
    play.end('old', 60);
    expect(play.check(10)).toEqual(['pause old']);
    expect(play.ask('old', 700)).toEqual([]);
    // 100 tokens are left on a, 1,000 on b: enough for old and new.
    expect(play.check(15)).toEqual(['resume old', 'route old b', 'route new b']);
    play.end('big');
    play.send('program.closed', { requestId: 'big' });
    expect(play.check(20)).toEqual(['resume tool']);
    expect(play.ask('tool', 400)).toEqual(['route tool a']);
  });

  it('forces a program that has waited for 1,800 s', () => {
    const play = new Play(full, ['a']);
    play.open('1', 900);
    play.at = 10;
    expect(play.open('2', 200)).toEqual([]);
    expect(play.check(1809)).toEqual([]);
    expect(play.check(1810)).toEqual(['route 2 a']);
  });

  it('counts programs in tools less and less, unless told otherwise', () => {
    const decaying = new Play(thunderAgent({ reservedTokens: 0 }), ['a']);
    const full = new Play(thunderAgent({ decays: false, reservedTokens: 0 }), ['a']);
    for (const play of [decaying, full]) {
      play.open('1', 900);
      play.open('2', 150);
      play.end('1');
    }
    expect(full.check(5)).toEqual([]);
    expect(decaying.check(5)).toEqual(['route 2 a']);
  });

  it('places the programs of a lost engine again, at the next check', () => {
    const play = new Play(full, ['a', 'b']);
    play.open('1', 300);
    play.open('2', 400);
    expect(play.send('engine.lost', { engineId: 'a' })).toEqual([]);
    expect(play.check(5)).toEqual(['route 1 b']);
  });
});
