/**
 * Shows the cost of a step with a state that the policy owns, against a persistent Map (`immutable`) and a copy for
 * each event: a minimal admission (a request completes, another starts) with n in flight. docs/writing-a-policy.md says what was
 * decided.
 */
import { Map as PersistentMap } from 'immutable';
import { machine, median } from '../support.ts';

interface Request {
  readonly prompt: string;
  readonly tokens: number;
}
type Step = (done: string, started: string) => void;

function owned(n: number): Step {
  const requests = new Map<string, Request>();
  for (let index = 0; index < n; index += 1) requests.set(`q${index}`, { prompt: 'p', tokens: index });
  return (done, started) => {
    requests.delete(done);
    requests.set(started, { prompt: 'p', tokens: 1 });
  };
}

function persistent(n: number): Step {
  let requests = PersistentMap<string, Request>().withMutations((map) => {
    for (let index = 0; index < n; index += 1) map.set(`q${index}`, { prompt: 'p', tokens: index });
  });
  return (done, started) => {
    requests = requests.delete(done).set(started, { prompt: 'p', tokens: 1 });
  };
}

function copied(n: number): Step {
  let requests: ReadonlyMap<string, Request> = new Map(
    Array.from({ length: n }, (_, index) => [`q${index}`, { prompt: 'p', tokens: index }]),
  );
  return (done, started) => {
    const next = new Map(requests);
    next.delete(done);
    next.set(started, { prompt: 'p', tokens: 1 });
    requests = next;
  };
}

function nanoseconds(make: (n: number) => Step, n: number, events: number): number {
  const step = make(n);
  const names = Array.from({ length: n + events }, (_, index) => `q${index}`);
  const start = performance.now();
  for (let index = 0; index < events; index += 1) step(names[index]!, names[n + index]!);
  return ((performance.now() - start) * 1e6) / events;
}

console.log(machine());
for (const n of [1000, 10_000, 100_000]) {
  const measure = (make: (n: number) => Step, events: number) =>
    median(Array.from({ length: 5 }, () => nanoseconds(make, n, events)));
  const own = measure(owned, 50_000);
  const kept = measure(persistent, 50_000);
  const copy = measure(copied, Math.max(20, Math.floor(2_000_000 / n)));
  console.log(
    `${String(n).padStart(7)} in flight: owned ${own.toFixed(0)} ns, persistent ${(kept / own).toFixed(1)} ×, copied ${(copy / own).toFixed(0)} ×`,
  );
}
