/** The watchdog beside program-scheduling, environment-slots and agentic-rollout: who owes a turn, a tool or an environment, and who does not. */
import { describe, expect, test } from 'vitest';
import { agenticRollout, create, environmentSlots, programScheduling, watchdog } from '../../../src/index.ts';
import type { WatchdogDecision } from '../../../src/policies/watchdog/index.ts';
import type { AgenticRolloutInput } from '../../../src/recipes/agentic-rollout/index.ts';

interface Decision {
  readonly type: string;
  readonly at: number;
  readonly timerId?: string;
  readonly fireAtSeconds?: number;
}
interface Sent {
  readonly type: string;
  readonly [field: string]: unknown;
}
interface Some {
  takes(message: object): boolean;
  send(event: never): readonly object[];
}

/** A policy with a watchdog beside it, and the timers of both. */
class Followed {
  now = 0;
  readonly said: string[] = [];
  readonly #policy: Some;
  readonly #dog = create(watchdog, {}) as unknown as Some;
  readonly #timers = new Map<string, number>();

  constructor(policy: unknown) {
    this.#policy = policy as Some;
  }

  send(event: Sent): Decision[] {
    const given = { at: this.now, ...event };
    const decisions = this.#policy.send(given as never) as Decision[];
    for (const one of decisions) if (one.type === 'timer.set') this.#timers.set(one.timerId!, one.fireAtSeconds!);
    for (const message of [given, ...decisions]) this.#hear(message);
    return decisions;
  }

  #hear(message: object): void {
    if (!this.#dog.takes(message)) return;
    for (const one of this.#dog.send({ ...message, at: this.now } as never) as readonly WatchdogDecision[]) {
      if (one.type === 'timer.set') this.#timers.set(one.timerId, one.fireAtSeconds);
      else if (one.type === 'host.owes') {
        const by = one.by === undefined ? '' : ` ${one.by}`;
        this.said.push(`${one.sender}${by} owes ${one.event} ${Object.values(one.ids).join(' ')}`);
      }
    }
  }

  /** Lets time pass; returns what the watchdog says meanwhile. */
  wait(seconds: number): string[] {
    const until = this.now + seconds;
    const from = this.said.length;
    for (;;) {
      const [timerId, at] = [...this.#timers].sort((a, b) => a[1] - b[1])[0] ?? ['', Number.POSITIVE_INFINITY];
      if (at > until) break;
      this.#timers.delete(timerId);
      this.now = Math.max(this.now, at);
      const fired = { type: 'timer.fired', timerId };
      if (timerId.startsWith('watchdog/')) this.#hear(fired);
      else this.send(fired);
    }
    this.now = until;
    return this.said.slice(from);
  }
}

describe('of a program', () => {
  /** Two engines, and programs whose turns take a second and whose tools as long, ten of each. */
  function taught() {
    const one = new Followed(create(programScheduling, { kvCapacityTokens: 10_000 }));
    for (const engineId of ['e0', 'e1']) one.send({ type: 'engine.added', engineId });
    for (const requestId of ['a', 'b']) one.send({ type: 'program.opened', requestId });
    for (let turn = 1; turn <= 10; turn += 1) {
      for (const requestId of ['a', 'b']) one.send({ type: 'turn.requested', requestId, contextTokens: 1000 });
      one.wait(1);
      for (const requestId of ['a', 'b']) {
        one.send({ type: 'turn.finished', requestId, tokens: turn });
        one.send({ type: 'tool.started', requestId, tool: 'bash' });
      }
      one.wait(1);
      for (const requestId of ['a', 'b']) one.send({ type: 'tool.finished', requestId, outcome: 'success' });
    }
    return one;
  }
  const ask = (one: Followed, requestId: string, contextTokens = 1000) =>
    one.send({ type: 'turn.requested', requestId, contextTokens });

  test('an engine that never answers a turn is named, and none whose turns come', () => {
    const one = taught();
    ask(one, 'a');
    ask(one, 'b');
    one.wait(1);
    one.send({ type: 'turn.finished', requestId: 'b', tokens: 11 });
    one.send({ type: 'program.closed', requestId: 'b' });
    expect(one.wait(120)).toEqual(['engine e0 owes turn.finished a']);
  });

  test('so are a tool that never answers, and a host that asks for no next turn', () => {
    const one = taught();
    ask(one, 'a');
    one.send({ type: 'turn.finished', requestId: 'a', tokens: 11 });
    one.send({ type: 'tool.started', requestId: 'a', tool: 'bash' });
    one.send({ type: 'program.opened', requestId: 'c' });
    for (let turn = 1; turn <= 120; turn += 1) {
      ask(one, 'c');
      one.wait(1);
      one.send({ type: 'turn.finished', requestId: 'c', tokens: turn });
    }
    expect(one.said.sort()).toEqual(['environment owes tool.finished a', 'host owes turn.requested b']);
  });

  test('a program that is paused owes no turn', () => {
    const one = taught();
    one.send({ type: 'engine.drained', engineId: 'e1' });
    ask(one, 'b', 4000);
    one.send({ type: 'turn.finished', requestId: 'b', tokens: 11 });
    expect(ask(one, 'a', 9000).map(({ type }) => type)).toContain('program.pause');
    for (let turn = 11; turn <= 150; turn += 1) {
      one.wait(1);
      one.send({ type: 'turn.finished', requestId: 'a', tokens: turn });
      ask(one, 'a', 9000);
    }
    expect(one.said).toEqual([]);
  });

  test('nobody is named for what the policy holds back, for what is over, or for late reports', () => {
    const one = taught();
    ask(one, 'b', 9000);
    one.send({ type: 'engine.drained', engineId: 'e0' });
    // It has no room beside the other one.
    expect(ask(one, 'a', 9000).map(({ type }) => type)).not.toContain('turn.route');
    one.send({ type: 'turn.finished', requestId: 'a', tokens: 10 });
    expect(one.wait(50)).toEqual([]);
    one.send({ type: 'program.closed', requestId: 'b' });
    one.send({ type: 'program.closed', requestId: 'a' });
    one.send({ type: 'turn.finished', requestId: 'a', tokens: 12 });
    one.send({ type: 'tool.finished', requestId: 'b', outcome: 'success' });
    expect(one.wait(2000)).toEqual([]);
  });
});

describe('of an environment', () => {
  test('one that is never ready is named before the policy gives it up, and not after it', () => {
    const one = new Followed(create(environmentSlots, { slots: { box: 10 } }));
    const started = Array.from({ length: 10 }, (_, index) => {
      const decisions = one.send({ type: 'slot.requested', requestId: `p${index}`, environment: 'box' });
      return (decisions.find(({ type }) => type === 'slot.prewarm') as unknown as { slotId: string }).slotId;
    });
    one.wait(25);
    for (const slotId of started.slice(1)) one.send({ type: 'slot.ready', slotId });
    expect(one.wait(74)).toEqual([`environment owes slot.ready ${started[0]}`]);
    // The policy ends it, and after a minute it does not wait for its end any more.
    for (let index = 0; index < 10; index += 1) one.send({ type: 'program.closed', requestId: `p${index}` });
    for (const slotId of started.slice(1)) one.send({ type: 'slot.released', slotId });
    expect(one.wait(4000)).toEqual([]);
  });

  test('a tool that its environment has cut short is owed no more', () => {
    const one = new Followed(create(environmentSlots, { slots: { box: 1 }, maxToolTimeoutSeconds: 100 }));
    one.send({ type: 'slot.requested', requestId: 'x', environment: 'box' });
    one.send({ type: 'slot.ready', slotId: 'slot/0' });
    one.send({ type: 'tool.started', requestId: 'x', tool: 'bash' });
    one.wait(101);
    one.send({ type: 'slot.released', slotId: 'slot/0' });
    expect(one.wait(4000)).toEqual([]);
  });

  test('one that does not end is named', () => {
    const one = new Followed(create(environmentSlots, { slots: { box: 20 }, endGraceSeconds: 4000 }));
    one.send({ type: 'slot.requested', requestId: 'x', environment: 'box' });
    one.send({ type: 'slot.ready', slotId: 'slot/0' });
    one.send({ type: 'program.closed', requestId: 'x' });
    expect(one.wait(1900)).toEqual(['environment owes slot.released slot/0']);
  });
});

describe('of a trajectory of a round', () => {
  function begun(slots: number, more: Partial<AgenticRolloutInput> = {}) {
    const settings = {
      promptSpeculation: 1,
      responseSpeculation: 1,
      environment: 'box',
      slots: { box: slots },
      ...more,
    };
    const one = new Followed(create(agenticRollout, { promptsPerRound: 2, responsesPerPrompt: 2, ...settings }));
    one.send({ type: 'engine.added', engineId: 'e0' });
    one.send({ type: 'round.requested', roundId: 'r', weightVersion: 0 });
    one.send({ type: 'prompts.supplied', roundId: 'r', prompts: [{ promptId: 'a' }, { promptId: 'b' }] });
    return one;
  }
  /** Runs a turn of a second, and then a tool. */
  function turn(one: Followed, requestId: string, tokens: number) {
    one.send({ type: 'turn.requested', requestId, contextTokens: 100 });
    one.wait(1);
    one.send({ type: 'turn.finished', requestId, tokens });
    one.send({ type: 'tool.started', requestId, tool: 'bash' });
  }

  test('it may wait for its environment, and turns may go on, longer than any answer takes', () => {
    const one = begun(1);
    one.send({ type: 'slot.ready', slotId: 'slot/0' });
    // It is tried again, and waits, too.
    const again = one.send({ type: 'response.failed', requestId: 'b/0#0', kind: 'infrastructure' });
    expect(again.some(({ type }) => type === 'request.launch')).toBe(true);
    for (let index = 1; index <= 400; index += 1) {
      turn(one, 'a/0#0', index);
      one.wait(4);
      one.send({ type: 'tool.finished', requestId: 'a/0#0', outcome: 'success' });
    }
    expect(one.said).toEqual([]);
    one.send({ type: 'response.completed', requestId: 'a/0#0', tokens: 400 });
    one.send({ type: 'slot.ready', slotId: 'slot/0' });
    // The next one has its environment, and its host does not begin.
    expect(one.wait(2000)).toEqual(['engine owes response.completed a/1#0']);
  });

  test('it may wait for room on an engine', () => {
    const one = begun(4, { kvCapacityTokens: 10_000, maxPauseSeconds: 10_000 });
    for (let index = 0; index < 4; index += 1) one.send({ type: 'slot.ready', slotId: `slot/${index}` });
    for (const requestId of ['a/0#0', 'a/1#0', 'b/0#0', 'b/1#0'])
      one.send({ type: 'turn.requested', requestId, contextTokens: 9000 });
    one.send({ type: 'turn.finished', requestId: 'a/0#0', tokens: 1 });
    for (let index = 2; index <= 400; index += 1) {
      one.send({ type: 'turn.requested', requestId: 'a/0#0', contextTokens: 9000 });
      one.wait(6);
      one.send({ type: 'turn.finished', requestId: 'a/0#0', tokens: index });
    }
    expect(one.said).toEqual([]);
  });

  test('a tool that its environment has cut short is owed no more', () => {
    const one = begun(4);
    for (let index = 0; index < 4; index += 1) one.send({ type: 'slot.ready', slotId: `slot/${index}` });
    turn(one, 'a/0#0', 1);
    for (const requestId of ['a/1#0', 'b/0#0', 'b/1#0']) {
      turn(one, requestId, 1);
      one.send({ type: 'response.completed', requestId, tokens: 1 });
      one.send({ type: 'reward.ready', requestId, reward: 1 });
    }
    one.wait(1790);
    one.send({ type: 'slot.released', slotId: 'slot/1' });
    one.send({ type: 'slot.released', slotId: 'slot/2' });
    one.send({ type: 'slot.released', slotId: 'slot/3' });
    one.said.length = 0;
    one.wait(20);
    const about = (id: string) => one.said.filter((line) => line.endsWith(id));
    one.wait(3600);
    expect(about('a/0#0')).toEqual([]);
  });

  test('neither is what runs for a trajectory that has lost its environment', () => {
    const one = begun(4);
    for (let index = 0; index < 4; index += 1) one.send({ type: 'slot.ready', slotId: `slot/${index}` });
    for (const requestId of ['a/0#0', 'a/1#0', 'b/0#0', 'b/1#0'])
      one.send({ type: 'turn.requested', requestId, contextTokens: 100 });
    const lost = one.send({ type: 'slot.failed', slotId: 'slot/0', message: 'its node is gone' });
    expect(lost.some(({ type }) => type === 'slot.denied')).toBe(true);
    one.wait(2000);
    expect(one.said.length).toBeGreaterThan(0);
    expect(one.said.filter((line) => line.endsWith('a/0#0'))).toEqual([]);
  });

  test('an abort is awaited although the turn has ended', () => {
    const one = begun(4, { abortGraceSeconds: 10_000 });
    for (let index = 0; index < 4; index += 1) one.send({ type: 'slot.ready', slotId: `slot/${index}` });
    turn(one, 'a/0#0', 1);
    one.send({ type: 'tool.finished', requestId: 'a/0#0', outcome: 'success' });
    one.send({ type: 'turn.requested', requestId: 'a/0#0', contextTokens: 200 });
    one.send({ type: 'round.failed', roundId: 'r' });
    one.send({ type: 'turn.finished', requestId: 'a/0#0', tokens: 2 });
    for (const requestId of ['a/1#0', 'b/0#0', 'b/1#0']) one.send({ type: 'request.aborted', requestId });
    for (let index = 0; index < 4; index += 1) one.send({ type: 'slot.released', slotId: `slot/${index}` });
    expect(one.wait(1900)).toEqual(['engine owes request.aborted a/0#0']);
  });

  test('what an abort has ended leads to nothing more', () => {
    const one = begun(4);
    for (let index = 0; index < 4; index += 1) one.send({ type: 'slot.ready', slotId: `slot/${index}` });
    turn(one, 'a/0#0', 1);
    one.send({ type: 'tool.finished', requestId: 'a/0#0', outcome: 'success' });
    one.send({ type: 'turn.requested', requestId: 'a/0#0', contextTokens: 200 });
    const failed = one.send({ type: 'round.failed', roundId: 'r' });
    expect(failed.some(({ type }) => type === 'request.abort')).toBe(true);
    one.send({ type: 'turn.finished', requestId: 'a/0#0', tokens: 2 });
    one.wait(10);
    for (const requestId of ['a/0#0', 'a/1#0', 'b/0#0', 'b/1#0']) one.send({ type: 'request.aborted', requestId });
    for (let index = 0; index < 4; index += 1) one.send({ type: 'slot.released', slotId: `slot/${index}` });
    expect(one.wait(1700)).toEqual([]);
  });
});
