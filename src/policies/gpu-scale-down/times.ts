/** The times in the future at which the projection looks. */
import { binFloor, binOf } from '../../core/survival.ts';
import type { Loads } from './load.ts';

// A time is an eighth from the next at most, and a sixteenth around the busiest one.
const binsPerTime = 2;
/** Before the first of them, where the cache is fullest early, this is the share from one to the next. */
const early = 2;

/** Times to look at, ascending, from now until the last request has reached the cap. */
export function timesUntil(longest: number, total: Loads): number[] {
  let requests = 0;
  for (let group = 0; group < total.groups; group += 1) requests += total.count(0, group);
  // Before that, the cache cannot grow by more than a 32nd.
  const first = Math.max(1, Math.floor(total.kvTokens(0) / Math.max(1, requests) / 32));
  const times = [0];
  for (let bin = binOf(first); binFloor(bin) < longest; bin += bin < 32 ? 1 : binsPerTime) times.push(binFloor(bin));
  times.push(longest);
  return times;
}

/** The times, and finer ones from half to twice the busiest. */
export function withFiner(times: readonly number[], busiest: number): number[] {
  const all = new Set(times);
  const last = times[times.length - 1]!;
  const first = times[1] ?? 0;
  for (let bin = binOf(Math.floor(busiest / 2)); binFloor(bin) < Math.min(last, 2 * busiest); bin += 1) {
    if (binFloor(bin) > first) all.add(binFloor(bin));
  }
  if (busiest <= first) for (let at = 1; at < first; at = Math.max(at + 1, Math.floor(at * early))) all.add(at);
  return [...all].sort((a, b) => a - b);
}
