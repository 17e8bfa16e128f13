/**
 * Shows events a second of speculative-admission, against bare emits of eventemitter3 in the same process, and how the
 * cost of an event grows with what is in flight. P0 = 128, R0 = 8, eta = 1.25; distinct completions of open requests in
 * complete rounds count. Opening rounds, confirming aborts and the host's own bookkeeping are in the time, and not in
 * the count.
 */

import { fileURLToPath } from 'node:url';
import { machine } from '../support.ts';
import { completionsPerSecond } from './admission-rounds.ts';
import { printGrowth, printRates } from './print.ts';

console.log(machine());
printRates(completionsPerSecond(false, 200), completionsPerSecond(true, 200));
// ceil(eta · P0) prompts with 10 responses each: 1,000, 10,000 and 100,000 requests in flight as a round begins.
const growth = fileURLToPath(new URL('admission-growth.ts', import.meta.url));
printGrowth(
  growth,
  [80, 800, 8000].map((size) => [size, `${String(size * 1.25 * 10).padStart(7)} in flight`]),
);
