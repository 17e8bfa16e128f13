/** `checkHost` passes a right adapter, and finds those that do not carry out or report what they must. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { VocabularyDecision, VocabularyEvent } from '../../src/schemas/index.ts';
import * as kit from '../../src/testing/index.ts';

// What waits in real time waits for a clock that these tests move.
beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterAll(() => void vi.useRealTimers());
/** The check, with all the time that it may take. */
const checkHost: typeof kit.checkHost = async (connect, options = {}) => {
  const checked = Promise.allSettled([kit.checkHost(connect, options)]);
  await vi.advanceTimersByTimeAsync(1000 * ((options.limitSeconds ?? 10) + 1));
  const [outcome] = await checked;
  if (outcome.status === 'rejected') throw outcome.reason;
};

type Report = (event: VocabularyEvent) => void;

/** An adapter of engines that answer in milliseconds. A wrong one overrides what it does wrong. */
class Adapter {
  readonly report: Report;
  readonly running = new Map<string, NodeJS.Timeout>();
  readonly timers = new Map<string, NodeJS.Timeout>();
  #prompts = 0;

  constructor(report: Report) {
    this.report = report;
  }

  now(): number {
    return Date.now() / 1000;
  }

  carryOut(decision: VocabularyDecision): void | Promise<void> {
    const at = this.now();
    switch (decision.type) {
      case 'prompts.request': {
        const prompts = Array.from({ length: decision.count }, () => ({ promptId: `p${++this.#prompts}` }));
        return this.report({ type: 'prompts.supplied', at, roundId: decision.roundId, prompts });
      }
      case 'request.launch':
        return this.launch(decision.requestId);
      case 'request.abort':
        return this.abort(decision.requestId);
      case 'timer.set':
        return this.setTimer(decision.timerId, decision.fireAtSeconds);
    }
  }

  launch(requestId: string): void {
    // No two take the same time.
    const milliseconds = 5 + 3 * this.running.size;
    const done = setTimeout(() => this.complete(requestId), milliseconds);
    this.running.set(requestId, done);
  }

  complete(requestId: string): void {
    this.running.delete(requestId);
    this.report({ type: 'response.completed', at: this.now(), requestId, tokens: 3 });
  }

  abort(requestId: string): void {
    clearTimeout(this.running.get(requestId));
    this.running.delete(requestId);
    this.report({ type: 'request.aborted', at: this.now(), requestId });
  }

  setTimer(timerId: string, due: number): void {
    clearTimeout(this.timers.get(timerId));
    // A timer of the machine may be early by less than a millisecond.
    const fire = () => this.report({ type: 'timer.fired', at: Math.max(due, this.now()), timerId });
    this.timers.set(timerId, setTimeout(fire, 1000 * (due - this.now())));
  }

  close(): void {
    for (const one of [...this.running.values(), ...this.timers.values()]) clearTimeout(one);
  }
}

test('a right adapter passes, one that reports while it is told as well as one that waits', async () => {
  await checkHost((report) => new Adapter(report));
  await checkHost(async (report) => {
    const adapter = new Adapter((event) => queueMicrotask(() => report(event)));
    return { carryOut: async (decision) => adapter.carryOut(decision), close: () => adapter.close() };
  });
});

test('the functions that a host gives to `handle` are checked in the same way', async () => {
  const connect = (report: Report) => {
    const adapter = new Adapter(report);
    const carryOut = (decision: VocabularyDecision) => adapter.carryOut(decision);
    const handlers = {
      'prompts.request': carryOut,
      'request.launch': carryOut,
      'request.abort': carryOut,
      'request.resume': carryOut,
      'reward.request': carryOut,
      'judgement.request': carryOut,
      'timer.set': carryOut,
    };
    return { handlers, close: () => adapter.close() };
  };
  await checkHost(connect);
  await expect(
    checkHost(
      (report) => {
        const { handlers, close } = connect(report);
        return { handlers: { ...handlers, 'request.launch': () => undefined }, close };
      },
      { limitSeconds: 0.3 },
    ),
  ).rejects.toThrow('was launched and has not ended');
  await expect(checkHost(() => ({}))).rejects.toThrow('a host with `carryOut` or `handlers`');
});

interface Wrong {
  readonly title: string;
  readonly says: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly make: (report: Report) => Adapter;
}

const wrong: readonly Wrong[] = [
  {
    title: 'drops an abort',
    says: 'was not answered: no request.aborted',
    make: (report) =>
      new (class extends Adapter {
        override abort(requestId: string): void {
          clearTimeout(this.running.get(requestId));
        }
      })(report),
  },
  {
    title: 'reports a response twice',
    says: 'ends twice: response.completed, response.completed',
    make: (report) =>
      new (class extends Adapter {
        override complete(requestId: string): void {
          super.complete(requestId);
          super.complete(requestId);
        }
      })(report),
  },
  {
    title: 'confirms an abort twice',
    says: 'ends twice: request.aborted, request.aborted',
    make: (report) =>
      new (class extends Adapter {
        override abort(requestId: string): void {
          super.abort(requestId);
          super.abort(requestId);
        }
      })(report),
  },
  {
    title: 'forgets a timer',
    says: 'and has not fired',
    make: (report) =>
      new (class extends Adapter {
        override setTimer(): void {}
      })(report),
  },
  {
    title: 'fires a timer at once',
    says: 'abort-grace fires at',
    make: (report) =>
      new (class extends Adapter {
        override setTimer(timerId: string): void {
          this.report({ type: 'timer.fired', at: this.now(), timerId });
        }
      })(report),
  },
  {
    title: 'loses a request',
    says: 'was launched and has not ended',
    // Without speculation nothing is aborted: all that is launched is awaited.
    config: { promptSpeculation: 1, responseSpeculation: 1 },
    make: (report) =>
      new (class extends Adapter {
        override launch(requestId: string): void {
          if (!requestId.endsWith('/0#0')) super.launch(requestId);
        }
      })(report),
  },
  {
    title: 'reports the id of its engine in place of that of the request',
    says: 'response.completed of engine-7, which was never launched',
    make: (report) =>
      new (class extends Adapter {
        override complete(): void {
          super.complete('engine-7');
        }
      })(report),
  },
  {
    title: 'reports what does not fit the schema',
    says: 'is refused: tokens',
    make: (report) =>
      new (class extends Adapter {
        override complete(requestId: string): void {
          report({ type: 'response.completed', at: this.now(), requestId, tokens: 2.5 });
        }
      })(report),
  },
  {
    title: 'never answers a request for prompts',
    says: 'check-1 asked for 3 prompts: none came',
    make: (report) => new Adapter((event) => void (event.type === 'prompts.supplied' || report(event))),
  },
  {
    title: 'fails on a command',
    says: 'carryOut fails on request.launch: Error: no engine',
    make: (report) =>
      new (class extends Adapter {
        override launch(): void {
          throw new Error('no engine');
        }
      })(report),
  },
];

test.each(wrong)('an adapter that $title is found', async ({ make, says, config = {} }) => {
  await expect(checkHost(make, { limitSeconds: 10, config })).rejects.toThrow(says);
});
