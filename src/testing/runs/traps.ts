/** Traps clocks, randomness and timers while a policy runs; a deterministic policy uses none of them. */

type Holder = Record<string, unknown>;

const forbidden: readonly (readonly [() => Holder | undefined, string])[] = [
  [() => Date as unknown as Holder, 'now'],
  [() => Math as unknown as Holder, 'random'],
  [() => globalThis.performance as unknown as Holder, 'now'],
  [() => globalThis.crypto as unknown as Holder, 'randomUUID'],
  [() => globalThis.crypto as unknown as Holder, 'getRandomValues'],
  [() => globalThis as unknown as Holder, 'setTimeout'],
  [() => globalThis as unknown as Holder, 'setInterval'],
  [() => globalThis as unknown as Holder, 'queueMicrotask'],
  [() => globalThis as unknown as Holder, 'fetch'],
];

/** Runs a function with all sources of nondeterminism trapped, and returns the names of the sources that it used. */
export function withTraps(run: () => void): string[] {
  const touched: string[] = [];
  const restore: (() => void)[] = [];
  const realDate = globalThis.Date;
  for (const [holderOf, name] of forbidden) {
    const holder = holderOf();
    const real = holder?.[name];
    if (holder === undefined || typeof real !== 'function') continue;
    const own = Object.getOwnPropertyDescriptor(holder, name);
    const trap = function (this: unknown, ...args: unknown[]) {
      touched.push(name);
      return (real as (...all: unknown[]) => unknown).apply(this, args);
    };
    Object.defineProperty(holder, name, { value: trap, configurable: true, writable: true });
    restore.push(() => {
      if (own === undefined) delete holder[name];
      else Object.defineProperty(holder, name, own);
    });
  }
  globalThis.Date = new Proxy(realDate, {
    construct(target, args) {
      if (args.length === 0) touched.push('new Date()');
      return Reflect.construct(target, args);
    },
  });
  try {
    run();
  } finally {
    globalThis.Date = realDate;
    for (const undo of restore) undo();
  }
  return touched;
}
