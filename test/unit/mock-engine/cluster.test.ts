/** Mock engines in simulated time: what becomes of requests when they are aborted, paused, or their engine dies. */
import { describe, expect, test } from 'vitest';
import { pause, resume, updateWeights } from '../../../src/mock-engine/engine/pausing.ts';
import { ask, clusterOf, type Ended } from '../../support/mock-engine/cluster.ts';

const everything = (): boolean => true;

function oneEngine(...given: Parameters<typeof clusterOf>) {
  const cluster = clusterOf(...given);
  return { cluster, engine: cluster.engines[0]!, ended: [] as Ended[] };
}
const brief = (ended: readonly Ended[]) =>
  ended.map(({ requestId, ending, tokens, at }) => [requestId, ending, tokens, at]);

describe('aborts', () => {
  test('take effect after a lag; what ends before ends as if nothing had come', () => {
    const { cluster, engine, ended } = oneEngine({ abortLagSeconds: 3 });
    ask(cluster, engine, 'short', 5, ended);
    ask(cluster, engine, 'long', 50, ended);
    cluster.advanceTo(4);
    engine.abort(everything, 'scheduler');
    expect(engine.load().running, 'it goes on').toBe(2);
    cluster.advanceTo(6.5);
    expect(engine.load().running).toBe(1);
    cluster.advanceTo(100);
    expect(brief(ended)).toEqual([
      ['short', 'stop', 5, 5],
      ['long', 'abort', 7, 7],
    ]);
    expect(engine.counts).toMatchObject({ stop: 1, abort: 1, completedTokens: 5, abortedTokens: 7, inFlight: 0 });
  });

  test('miss what has not reached the scheduler, unless they look everywhere', () => {
    for (const [reach, expected] of [
      ['scheduler', [['a', 'stop', 3, 5]]],
      ['all', [['a', 'abort', 0, 1]]],
    ] as const) {
      const { cluster, engine, ended } = oneEngine({ tokenizeSeconds: 2 });
      ask(cluster, engine, 'a', 3, ended);
      cluster.advanceTo(1);
      engine.abort(everything, reach);
      cluster.advanceTo(100);
      expect(brief(ended)).toEqual(expected);
    }
  });

  test('may be ignored, as many as the fault says', () => {
    const { cluster, engine, ended } = oneEngine();
    cluster.fault({ fault: 'ignore-aborts', count: 2 });
    ask(cluster, engine, 'a', 50, ended);
    for (const at of [2, 3, 4]) {
      cluster.advanceTo(at);
      engine.abort(everything, 'scheduler');
    }
    cluster.advanceTo(100);
    expect(brief(ended)).toEqual([['a', 'abort', 4, 4]]);
  });

  test('say whether the request was in line', () => {
    const { cluster, engine, ended } = oneEngine({}, { maxRunningSequences: 1 });
    const [first, second] = ['a', 'b'].map((requestId) => ask(cluster, engine, requestId, 50, ended));
    cluster.advanceTo(2.5);
    expect(engine.load()).toMatchObject({ running: 1, waiting: 1, usedTokens: 12 });
    engine.abort(everything, 'scheduler');
    cluster.advanceTo(9);
    expect([first!.abortedInQueue, second!.abortedInQueue]).toEqual([false, true]);
    expect(ended.map(({ tokens }) => tokens)).toEqual([3, 0]);
  });
});

describe('pauses', () => {
  test('keep: stands still from the end of the step on, and goes on where it stood', () => {
    const { cluster, engine, ended } = oneEngine();
    ask(cluster, engine, 'a', 5, ended);
    cluster.advanceTo(2.5);
    const told: number[] = [];
    pause(engine, 'pause', 'keep', 'all', () => told.push(cluster.now));
    cluster.advanceTo(10);
    expect(told).toEqual([3]);
    ask(cluster, engine, 'b', 2, ended);
    expect(engine.load()).toMatchObject({ running: 1, waiting: 0, held: 1, usedTokens: 13 });
    cluster.advanceTo(20);
    resume(engine, 'pause');
    cluster.advanceTo(100);
    // Two steps were left of a; b came in with the first of them.
    expect(brief(ended)).toEqual([
      ['a', 'stop', 5, 22],
      ['b', 'stop', 2, 22],
    ]);
  });

  test('keep: an abort meanwhile is carried out at once', () => {
    const { cluster, engine, ended } = oneEngine();
    ask(cluster, engine, 'a', 9, ended);
    cluster.advanceTo(2.5);
    pause(engine, 'pause', 'keep', 'all', () => {});
    cluster.advanceTo(5);
    engine.abort(everything, 'all');
    expect(brief(ended)).toEqual([['a', 'abort', 3, 5]]);
  });

  test('retract: the KV cache is empty, the tokens are kept and prefilled again', () => {
    const { cluster, engine, ended } = oneEngine({}, { prefillSecondsPerToken: 0.5 });
    ask(cluster, engine, 'a', 5, ended);
    cluster.advanceTo(7.5);
    pause(engine, 'pause', 'retract', 'all', () => {});
    cluster.advanceTo(10);
    expect(engine.load()).toMatchObject({ running: 0, waiting: 1, usedTokens: 0 });
    resume(engine, 'pause');
    cluster.advanceTo(100);
    // 13 tokens of prompt and response are prefilled in 6.5 s; two were left.
    expect(brief(ended)).toEqual([['a', 'stop', 5, 18.5]]);
  });

  test('abort: sweeps again until nothing is left, and what comes meanwhile is held', () => {
    const { cluster, engine, ended } = oneEngine({ tokenizeSeconds: 0.5 });
    ask(cluster, engine, 'missed', 90, ended);
    const told: number[] = [];
    pause(engine, 'pause', 'abort', 'scheduler', () => told.push(cluster.now));
    ask(cluster, engine, 'held', 2, ended);
    cluster.advanceTo(30);
    expect(told).toEqual([1.5]);
    expect(brief(ended)).toEqual([['missed', 'abort', 1, 1.5]]);
    resume(engine, 'pause');
    cluster.advanceTo(100);
    expect(brief(ended).slice(1)).toEqual([['held', 'stop', 2, 32.5]]);
  });

  test('wait: is over when the last request is', () => {
    const { cluster, engine, ended } = oneEngine();
    ask(cluster, engine, 'a', 4, ended);
    const told: number[] = [];
    pause(engine, 'pause', 'wait', 'all', () => told.push(cluster.now));
    cluster.advanceTo(9);
    expect([told, ended.length]).toEqual([[4], 1]);
  });

  test('one that ends before it has begun stops nothing', () => {
    const { cluster, engine, ended } = oneEngine();
    ask(cluster, engine, 'a', 4, ended);
    cluster.advanceTo(1.5);
    pause(engine, 'pause', 'keep', 'all', () => {});
    resume(engine, 'pause');
    cluster.advanceTo(9);
    expect(brief(ended)).toEqual([['a', 'stop', 4, 4]]);
  });
});

describe('weights', () => {
  test('wait for the requests that there are; those that come meanwhile wait for the weights', () => {
    const { cluster, engine, ended } = oneEngine();
    ask(cluster, engine, 'before', 4, ended);
    const told: number[] = [];
    updateWeights(engine, { version: '7', seconds: 3, abortAll: false }, () => told.push(cluster.now));
    ask(cluster, engine, 'after', 2, ended);
    cluster.advanceTo(6);
    expect([engine.weightVersion, engine.load().held]).toEqual(['default', 1]);
    cluster.advanceTo(100);
    expect([engine.weightVersion, told]).toEqual(['7', [7]]);
    expect(brief(ended)).toEqual([
      ['before', 'stop', 4, 4],
      ['after', 'stop', 2, 9],
    ]);
  });

  test('do not wait while generation is paused', () => {
    const { cluster, engine, ended } = oneEngine();
    ask(cluster, engine, 'a', 4, ended);
    cluster.advanceTo(1);
    pause(engine, 'pause', 'keep', 'all', () => {});
    updateWeights(engine, { version: '7', seconds: 3, abortAll: false }, () => resume(engine, 'pause'));
    cluster.advanceTo(100);
    expect(brief(ended)).toEqual([['a', 'stop', 4, 7]]);
    expect(engine.weightVersion).toBe('7');
  });
});

describe('faults', () => {
  test('a crash loses everything, also what was held and on its way; a restart begins with nothing', () => {
    const { cluster, engine, ended } = oneEngine({ tokenizeSeconds: 1 });
    ask(cluster, engine, 'running', 50, ended);
    cluster.advanceTo(5.5);
    ask(cluster, engine, 'arriving', 50, ended);
    engine.weightVersion = '3';
    engine.abortAfter(20, everything, 'all');
    cluster.fault({ fault: 'crash', restartAfterSeconds: 10 });
    expect(brief(ended)).toEqual([
      ['running', 'lost', 4, 5.5],
      ['arriving', 'lost', 0, 5.5],
    ]);
    expect(engine.isUp).toBe(false);
    cluster.advanceTo(15.5);
    expect([engine.isUp, engine.weightVersion, engine.size]).toEqual([true, 'default', 0]);
    ask(cluster, engine, 'next', 20, ended);
    cluster.advanceTo(100);
    expect(brief(ended).at(-1), 'the abort of before does not come any more').toEqual(['next', 'stop', 20, 36.5]);
    expect(engine.counts).toMatchObject({ accepted: 3, lost: 2, stop: 1, lostTokens: 4, inFlight: 0 });
  });

  test('one that hangs goes on where it stood', () => {
    const { cluster, engine, ended } = oneEngine();
    ask(cluster, engine, 'a', 5, ended);
    cluster.advanceTo(2.5);
    cluster.fault({ fault: 'hang', seconds: 10 });
    cluster.advanceTo(100);
    expect(brief(ended)).toEqual([['a', 'stop', 5, 15]]);
  });

  test('one that is slow takes so many times as long', () => {
    const { cluster, engine, ended } = oneEngine();
    cluster.fault({ fault: 'slow', factor: 4 });
    ask(cluster, engine, 'a', 5, ended);
    cluster.advanceTo(100);
    expect(brief(ended)).toEqual([['a', 'stop', 5, 20]]);
  });

  test('a smaller KV cache preempts, and the first that was preempted is the first to go on', () => {
    const { cluster, engine, ended } = oneEngine();
    for (const requestId of ['a', 'b', 'c']) ask(cluster, engine, requestId, 20, ended);
    cluster.advanceTo(5);
    cluster.fault({ fault: 'shrink-kv', tokens: 40 });
    cluster.advanceTo(6);
    expect(engine.load()).toMatchObject({ running: 2, waiting: 1, kvCapacityTokens: 40 });
    cluster.advanceTo(100);
    expect(ended.map(({ requestId, tokens }) => [requestId, tokens])).toEqual([
      ['a', 20],
      ['b', 20],
      ['c', 20],
    ]);
  });

  test('a plan is carried out at its times, on the engines that it names', () => {
    const cluster = clusterOf({
      engines: 2,
      faults: [
        { at: 4, fault: 'crash', engine: 1 },
        { at: 9, fault: 'restart', engine: 1 },
      ],
    });
    const up = () => cluster.engines.map(({ isUp }) => isUp);
    const seen = [3.9, 4, 8.9, 9].map((at) => {
      cluster.advanceTo(at);
      return up();
    });
    expect(seen).toEqual([
      [true, true],
      [true, false],
      [true, false],
      [true, true],
    ]);
  });
});

describe('responses', () => {
  test('are as long as the workload says, up to their limit', () => {
    const { cluster, engine, ended } = oneEngine();
    ask(cluster, engine, 'stops', 5, ended, { maxTokens: 6 });
    ask(cluster, engine, 'just fits', 5, ended, { maxTokens: 5 });
    ask(cluster, engine, 'goes on', 5, ended, { maxTokens: 8, ignoreEos: true });
    ask(cluster, engine, 'at least', 5, ended, { minTokens: 7 });
    cluster.advanceTo(100);
    expect(ended.map(({ requestId, ending, tokens }) => [requestId, ending, tokens])).toEqual([
      ['just fits', 'length', 5],
      ['stops', 'stop', 5],
      ['at least', 'stop', 7],
      ['goes on', 'length', 8],
    ]);
  });

  test('of one prompt are numbered by the seed, by the id that rollflex has minted, or by the order of asking', () => {
    const { book } = clusterOf();
    const tokens = (sample: number | undefined, requestId: string) =>
      book.plan({ text: '30' }, sample, requestId).tokens;
    expect([tokens(4, 'x'), tokens(undefined, 'boot-1:30/7#2'), tokens(undefined, '30/7#2.')]).toEqual([34, 37, 37]);
    expect([tokens(undefined, 'x'), tokens(undefined, 'y')]).toEqual([30, 31]);
  });

  test('that were cut short are continued by whoever asks for the prompt with their beginning behind it', () => {
    for (const prompt of [{ text: '40' }, { tokenIds: [4, 5, 6] }]) {
      const { cluster, engine, ended } = oneEngine({ engines: 2 });
      const whole = ask(cluster, engine, 'whole', prompt, ended);
      cluster.advanceTo(1000);
      const cut = ask(cluster, cluster.engines[1]!, 'cut', prompt, ended);
      cluster.advanceTo(1000 + Math.floor(whole.count / 2));
      cluster.engines[1]!.abort(everything, 'all');
      cluster.advanceTo(3000);
      const behind =
        'text' in prompt ? { text: prompt.text + cut.text } : { tokenIds: [...prompt.tokenIds, ...cut.tokenIds] };
      const rest = ask(cluster, engine, 'rest', behind, ended);
      cluster.advanceTo(5000);
      expect(cut.count + rest.count).toBe(whole.count);
      expect(cut.text + rest.text).toBe(whole.text);
      expect(rest.planned.promptTokens).toBe(whole.planned.promptTokens + cut.count);
      expect(rest.ended).toBe('stop');
    }
  });

  test('come in the order of priority and id, not of their connections', () => {
    const order = (requestIds: readonly string[]) => {
      const { cluster, engine, ended } = oneEngine({}, { maxRunningSequences: 1 });
      for (const requestId of requestIds) ask(cluster, engine, requestId, 2, ended);
      cluster.advanceTo(100);
      return ended.map(({ requestId }) => requestId);
    };
    expect(order(['c', 'a', 'b'])).toEqual(['a', 'b', 'c']);
    expect(order(['b', 'c', 'a'])).toEqual(['a', 'b', 'c']);
  });

  test('with priority scheduling, the lowest goes first, whenever it came', () => {
    const { cluster, engine, ended } = oneEngine({ scheduling: 'priority' }, { maxRunningSequences: 1 });
    ask(cluster, engine, 'runs', 4, ended, { priority: 9 });
    cluster.advanceTo(1);
    ask(cluster, engine, 'later', 2, ended, { priority: 5 });
    cluster.advanceTo(2);
    ask(cluster, engine, 'first', 2, ended, { priority: -1 });
    cluster.advanceTo(100);
    expect(ended.map(({ requestId }) => requestId)).toEqual(['runs', 'first', 'later']);
  });

  test('that are streamed are told every so many tokens, and once more at the end', () => {
    const { cluster, engine, ended } = oneEngine({ streamInterval: 3 });
    const told: number[] = [];
    ask(cluster, engine, 'a', 8, ended, { progress: ({ count }) => told.push(count) });
    for (let at = 0; at <= 10; at += 0.5) cluster.advanceTo(at);
    expect(told).toEqual([3, 6]);
    expect(brief(ended)).toEqual([['a', 'stop', 8, 8]]);
  });
});

test('options that do not fit are refused', () => {
  const refused = (options: Parameters<typeof clusterOf>[0]) => () => clusterOf(options);
  expect(refused({ contextTokens: 1001 })).toThrow(/at most the KV cache of 1000 tokens/);
  expect(refused({ faults: [{ fault: 'hang', engine: 1 }] })).toThrow(/an engine from 0 to 0/);
  expect(refused({ faults: [{ fault: 'crush' as 'crash' }] })).toThrow(/faults\[0\].fault.*one of crash, restart/);
  expect(refused({ speed: -1 })).toThrow(/speed/);
  expect(refused({ port: 3 } as never)).toThrow(/no other keys/);
});
