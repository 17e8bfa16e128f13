import { describe, expect, test } from 'vitest';
import { create, tailBatching, watchdog } from '../../../src/index.ts';
import type { WatchdogDecision, WatchdogInput } from '../../../src/policies/watchdog/index.ts';
import { Session } from '../../support/sessions/session.ts';

type Owes = Extract<WatchdogDecision, { type: 'host.owes' }>;

/** A watchdog whose timer fires when it should, and that is restored before each event. */
class Dog extends Session {
  now = 0;
  fireAt = Number.POSITIVE_INFINITY;
  readonly notices: Owes[] = [];

  constructor(config: WatchdogInput = {}) {
    super(create(watchdog, config) as never);
  }

  say(type: string, fields: object): Owes[] {
    return this.#heard(this.send({ type, at: this.now, ...fields } as never));
  }

  launch(requestId: string, engineId?: string) {
    const where = engineId === undefined ? {} : { engineId };
    const reason = { code: 'planned', inFlight: 1 };
    const of = { requestId, promptId: 'p', roundId: 'r', index: 0, weightVersion: 0 };
    return this.say('request.launch', { ...of, ...where, reason });
  }

  override complete(requestId: string): never[] {
    return this.say('response.completed', { requestId, tokens: 1 }) as never[];
  }

  /** Lets time pass, and returns what is said meanwhile, in brief. */
  wait(seconds: number): string[] {
    const until = this.now + seconds;
    const from = this.notices.length;
    while (this.fireAt <= until) {
      this.now = Math.max(this.now, this.fireAt);
      this.fireAt = Number.POSITIVE_INFINITY;
      this.notices.push(...this.say('timer.fired', { timerId: 'watchdog/check' }));
    }
    this.now = until;
    return this.notices.slice(from).map(({ reason, sender, by, event, ids, count }) => {
      const one = Object.values(ids).join(' ');
      return `${reason.code}: ${sender}${by === undefined ? '' : ` ${by}`}, ${count} of ${event} ${one}`;
    });
  }

  /** Teaches how long responses take. */
  learn(count: number, seconds: number, engineId = 'e0') {
    for (let index = 0; index < count; index += 1) {
      this.launch(`l${this.now}/${index}`, engineId);
      this.wait(seconds);
      this.complete(`l${this.now - seconds}/${index}`);
    }
  }

  #heard(decisions: readonly { readonly type: string }[]): Owes[] {
    for (const one of decisions as readonly WatchdogDecision[]) {
      if (one.type === 'timer.set') this.fireAt = one.fireAtSeconds;
    }
    return (decisions as readonly WatchdogDecision[]).filter((one) => one.type === 'host.owes');
  }
}

describe('when an answer is overdue', () => {
  test('after startSeconds while little is known, then after a multiple of the usual, and never before the floor', () => {
    const dog = new Dog();
    dog.launch('a', 'e0');
    expect(dog.wait(1799)).toEqual([]);
    expect(dog.wait(2)).toEqual(['silent: engine e0, 1 of response.completed a']);
    const taught = new Dog();
    taught.learn(10, 100);
    taught.launch('a', 'e0');
    // Three times the upper bound of the bin of 100 s.
    expect(taught.wait(300)).toEqual([]);
    expect(taught.wait(60)).toEqual(['silent: engine e0, 1 of response.completed a']);
    const quick = new Dog();
    quick.learn(10, 1);
    quick.launch('a', 'e0');
    expect(quick.wait(59)).toEqual([]);
    expect(quick.wait(2)).toHaveLength(1);
  });

  test('a response is awaited although its turns are reported, where nobody asks for turns', () => {
    const dog = new Dog();
    dog.launch('a', 'e0');
    dog.say('turn.finished', { requestId: 'a', tokens: 5 });
    expect(dog.wait(1900)).toEqual(['silent: engine e0, 1 of response.completed a']);
  });

  test('a response that is aborted teaches how long it ran', () => {
    const dog = new Dog();
    dog.learn(10, 1);
    for (let index = 0; index < 10; index += 1) {
      dog.launch(`x${index}`, 'e0');
      dog.wait(50);
      const reason = { code: 'round_completed', counted: 1 };
      dog.say('request.abort', { requestId: `x${index}`, promptId: 'p', engineId: 'e0', reason });
      dog.say('request.aborted', { requestId: `x${index}` });
    }
    dog.launch('a', 'e0');
    expect(dog.wait(149)).toEqual([]);
    expect(dog.wait(60)).toHaveLength(1);
  });

  test('the numbers are in the reason', () => {
    const dog = new Dog({ floorSeconds: 10 });
    dog.learn(10, 1);
    dog.launch('a', 'e0');
    dog.wait(15);
    const [owes] = dog.notices;
    expect(owes).toMatchObject({ sinceSeconds: 10, reason: { limitSeconds: 10, waitedSeconds: 10, answers: 10 } });
    expect((owes!.reason as { usualSeconds: number }).usualSeconds).toBeCloseTo(1.1, 0);
  });
});

test('groups of an asynchronous trainer are awaited until they are complete, rejected or dropped', () => {
  const dog = new Dog({ startSeconds: 100 });
  const allowed = { code: 'within_staleness', groups: 1, allowed: 4 };
  const ids = (groupId: string) => ({ roundId: 'r', groupId, launchId: `launch#${groupId}` });
  for (const id of 'abcd') dog.say('group.launch', { ...ids(id), weightVersion: 0, reason: allowed });
  dog.say('group.completed', { ...ids('a'), samples: 2, tokens: 9 });
  dog.say('group.rejected', { ...ids('b'), cause: 'filtered' });
  const skipped = { code: 'version_skipped', startVersion: 0, weightVersion: 3, maxStaleness: 1, tokens: 0 };
  dog.say('group.drop', { ...ids('c'), reason: skipped });
  expect(dog.wait(200)).toEqual(['silent: host, 1 of group.completed r d launch#d']);
});

describe('who is named', () => {
  const quick = () => {
    const dog = new Dog();
    dog.learn(10, 1, 'e0');
    return dog;
  };

  test('one request, while others come from its engine', () => {
    const dog = quick();
    dog.launch('lost', 'e0');
    const said = Array.from({ length: 10 }, (_, index) => {
      dog.launch(`b${index}`, 'e0');
      const heard = dog.wait(10);
      dog.complete(`b${index}`);
      return heard;
    });
    expect(said.flat()).toEqual(['overdue: engine e0, 1 of response.completed lost']);
    dog.complete('lost');
  });

  test('an engine once, and not its 400 requests; when it is back, they are given time anew', () => {
    const dog = quick();
    for (let index = 0; index < 400; index += 1) dog.launch(`x${index}`, 'e1');
    dog.launch('other', 'e0');
    dog.wait(30);
    dog.complete('other');
    expect(dog.wait(500)).toEqual(['silent: engine e1, 400 of response.completed x0']);
    dog.complete('x0');
    expect(dog.wait(59)).toEqual([]);
    for (let index = 1; index < 399; index += 1) dog.complete(`x${index}`);
    expect(dog.wait(400)).toEqual(['overdue: engine e1, 1 of response.completed x399']);
  });

  test('many requests of an engine from which others come are one notice', () => {
    const dog = quick();
    for (let index = 0; index < 20; index += 1) dog.launch(`x${index}`, 'e0');
    dog.wait(40);
    dog.launch('y', 'e0');
    dog.complete('y');
    expect(dog.wait(30)).toEqual(['overdue: engine e0, 20 of response.completed x0']);
    expect(dog.wait(30)).toEqual([]);
  });

  test('the host, if nothing comes of all that several owe', () => {
    const dog = quick();
    for (const engine of ['e0', 'e1', 'e2']) dog.launch(`of ${engine}`, engine);
    expect(dog.wait(3600)).toEqual(['nothing_comes: host, 3 of response.completed of e0']);
    dog.complete('of e0');
    // Two are left, and nothing comes again.
    expect(dog.wait(3600)).toEqual(['nothing_comes: host, 2 of response.completed of e1']);
  });

  test('rewards that nobody asked for, once the host is known to send them', () => {
    const accept = (dog: Dog, requestId: string) =>
      dog.say('response.accepted', { requestId, promptId: 'p', reason: { code: 'held', held: 1, needed: 2 } });
    const dog = new Dog();
    accept(dog, 'never');
    expect(dog.wait(10_000)).toEqual([]);
    for (let index = 0; index < 8; index += 1) {
      accept(dog, `x${index}`);
      dog.say('reward.ready', { requestId: `x${index}`, reward: 1 });
    }
    accept(dog, 'late');
    const reason = { code: 'round_completed', held: 1, needed: 2 };
    const dropped = [{ requestId: 'never', tokens: 1, cause: 'failed' }];
    dog.say('prompt.deferred', { prompt: { promptId: 'p' }, roundId: 'r', dropped, reason });
    expect(dog.wait(200)).toEqual(['silent: host, 1 of reward.ready late']);
  });

  test('nobody, for what is gone: a lost engine, a restarted host, a request that expired', () => {
    const dog = quick();
    dog.launch('a', 'e0');
    dog.launch('b', 'e1');
    dog.say('engine.lost', { engineId: 'e0' });
    dog.say('request.abort', {
      requestId: 'b',
      promptId: 'p',
      engineId: 'e1',
      reason: { code: 'round_completed', counted: 1 },
    });
    dog.say('request.expired', {
      requestId: 'b',
      promptId: 'p',
      reason: { code: 'abort_unconfirmed', graceSeconds: 30 },
    });
    expect(dog.wait(3600)).toEqual([]);
    dog.launch('c', 'e0');
    dog.say('host.restarted', { idPrefix: 'h' });
    expect(dog.wait(3600)).toEqual([]);
  });

  test('a timer that the host does not fire', () => {
    const dog = quick();
    const timer = { timerId: 't', fireAtSeconds: dog.now + 500, reason: { code: 'abort_grace', graceSeconds: 500 } };
    dog.say('timer.set', timer);
    expect(dog.wait(500 + 59)).toEqual([]);
    expect(dog.wait(60)).toEqual(['silent: timer, 1 of timer.fired t']);
  });

  test('the timer of a policy that ends late responses, and not the responses', () => {
    const dog = quick();
    dog.launch('a', 'e0');
    const reason = { code: 'response_timeout', limitSeconds: 600 };
    dog.say('timer.set', { timerId: 't', fireAtSeconds: dog.now + 600, reason });
    expect(dog.wait(660)).toEqual(['silent: timer, 1 of timer.fired t']);
    dog.say('timer.fired', { timerId: 't' });
    expect(dog.wait(120)).toEqual(['silent: engine e0, 1 of response.completed a']);
  });

  test('the tool that a response waits for, and the response only while it generates', () => {
    const dog = quick();
    dog.launch('a', 'e0');
    dog.say('tool.started', { requestId: 'a', tool: 'bash' });
    expect(dog.wait(1860)).toEqual(['silent: environment, 1 of tool.finished a']);
    dog.say('tool.finished', { requestId: 'a', outcome: 'success' });
    expect(dog.wait(3600)).toEqual([]);
    const resumed = { requestId: 'a', promptId: 'p', engineId: 'e0' };
    dog.say('request.resume', { ...resumed, reason: { code: 'tool_finished', inFlight: 1 } });
    expect(dog.wait(120)).toEqual(['silent: engine e0, 1 of response.completed a']);
  });

  test('the engine on which a request runs now, and none once that engine is lost', () => {
    const dog = quick();
    dog.launch('a');
    dog.launch('b');
    dog.say('request.started', { requestId: 'b', engineId: 'e1' });
    dog.say('request.started', { requestId: 'a', engineId: 'e0' });
    dog.say('request.started', { requestId: 'b', engineId: 'e0' });
    dog.say('engine.lost', { engineId: 'e1' });
    expect(dog.wait(120)).toEqual(['silent: engine e0, 2 of response.completed a']);
    dog.say('request.abort', {
      requestId: 'a',
      promptId: 'p',
      reason: { code: 'prompt_collected', held: 1, needed: 1 },
    });
    dog.say('engine.lost', { engineId: 'e0' });
    expect(dog.wait(3600)).toEqual([]);
  });

  test('the replica and the node that are there, and no others', () => {
    const dog = new Dog();
    const gradients = { gradientSync: false, optimizerLoaded: false, groups: ['g'], samples: 1, tokens: 1 };
    const reason = { code: 'probe', waitingGroups: 1 };
    for (const replica of ['a', 'b'])
      dog.say('train.fetch', { roundId: 'r', fetchId: `${replica}#0`, replica, ...gradients, reason });
    dog.say('replica.lost', { replica: 'a' });
    expect(dog.wait(3600)).toEqual(['silent: trainer b, 1 of train.consumed b#0']);
    dog.say('replica.lost', { replica: 'b' });
    const sample = {
      sampleId: 'x',
      stepId: 's',
      kind: 'image',
      path: '/x',
      frames: 1,
      resolution: { width: 1, height: 1 },
      bytes: 1,
    };
    for (const nodeId of ['m', 'n']) {
      const asked = { preprocessId: `preprocess/${nodeId}`, nodeId, ...sample };
      dog.say('sample.preprocess', { ...asked, reason: { code: 'drawn', queuedBytes: 0, queued: 0, freeBytes: 1 } });
    }
    dog.say('node.lost', { nodeId: 'm' });
    expect(dog.wait(3600)).toEqual(['silent: loader n, 1 of sample.preprocessed preprocess/n n']);
    dog.say('node.lost', { nodeId: 'n' });
    expect(dog.wait(3600)).toEqual([]);
  });

  test('the data source, for the prompts that a portion did not bring', () => {
    const dog = new Dog();
    dog.say('prompts.request', { roundId: 'r', count: 3, reason: { code: 'round_opened', target: 3, known: 0 } });
    dog.wait(1000);
    dog.say('prompts.supplied', { roundId: 'r', prompts: [{ promptId: 'a' }, { promptId: 'b' }] });
    expect(dog.wait(1700)).toEqual([]);
    expect(dog.wait(200)).toEqual(['silent: data source, 1 of prompts.supplied r']);
    dog.say('prompts.supplied', { roundId: 'r', prompts: [{ promptId: 'c' }] });
    expect(dog.wait(3600)).toEqual([]);
  });

  test('the host for the next round, after one that it began, and only once nothing else is owed', () => {
    const dog = new Dog();
    const drained = () => dog.say('round.drained', { roundId: 'r', reason: { code: 'all_ended', afterSeconds: 0 } });
    drained();
    expect(dog.wait(3600)).toEqual([]);
    dog.say('round.requested', { roundId: 'r2', weightVersion: 1 });
    drained();
    dog.launch('a', 'e0');
    expect(dog.wait(1860)).toEqual(['silent: engine e0, 1 of response.completed a']);
    dog.complete('a');
    dog.say('host.restarted', { idPrefix: 'h' });
    expect(dog.wait(120)).toEqual(['silent: host, 1 of round.requested ']);
  });
});

describe('what is owed', () => {
  const countsOf = (dog: Dog) => {
    const { state, config } = dog.policy.snapshot() as { state: never; config: never };
    const { owed } = watchdog.load(state, config);
    return Object.fromEntries(owed.causes.counts(owed.isHostNamed));
  };

  test('is named 32 at a time, and the rest after a second', () => {
    const dog = new Dog();
    dog.learn(10, 1);
    for (let index = 0; index < 40; index += 1) dog.launch(`x${index}`, `e${index}`);
    dog.say('prompts.request', { roundId: 'r', count: 3, reason: { code: 'round_opened', target: 3, known: 0 } });
    expect(dog.wait(60)).toHaveLength(32);
    expect(dog.wait(1)).toHaveLength(8);
  });

  test('is at most maxOwed, and the oldest are forgotten', () => {
    const dog = new Dog({ maxOwed: 3, startSeconds: 60 });
    for (const id of ['a', 'b', 'c']) dog.launch(id, id);
    expect(countsOf(dog)).toEqual({ 'response.completed': { owed: 3, overdue: 0 } });
    dog.launch('d', 'd');
    expect(dog.wait(120)).toEqual(['nothing_comes: host, 3 of response.completed b']);
  });

  test('a floor may be the start, and not above it', () => {
    expect(create(watchdog, { floorSeconds: 60, startSeconds: 60 }).config.floorSeconds).toBe(60);
    expect(() => create(watchdog, { floorSeconds: 61, startSeconds: 60 })).toThrow(/floorSeconds/);
  });
});

test('it takes the events and decisions of tail batching as they are', () => {
  const tail = create(tailBatching, { promptsPerRound: 2, responsesPerPrompt: 2 });
  const dog = create(watchdog, {});
  tail.observe((event, decisions) => {
    for (const message of [event, ...decisions]) if (dog.takes(message)) dog.send(message);
  });
  tail.send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 });
  tail.send({
    type: 'prompts.supplied',
    at: 1,
    roundId: 'r',
    prompts: [{ promptId: 'a' }, { promptId: 'b' }, { promptId: 'c' }],
  });
  const [owes] = dog.send({ type: 'timer.fired', at: 2000, timerId: 'watchdog/check' });
  expect(owes).toMatchObject({ type: 'host.owes', sender: 'engine', event: 'response.completed', count: 9 });
});
