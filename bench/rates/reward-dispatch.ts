/**
 * Shows events a second of reward-dispatch, against bare emits of eventemitter3 in the same process, and the cost of an
 * event with 1,000 responses waiting against that with 100,000. There are 64 workers with 16 slots each; as one
 * response is scored another is asked for.
 */
import { fileURLToPath } from 'node:url';
import { machine } from '../support.ts';
import { printGrowth, printRates } from './print.ts';
import { eventsPerSecond } from './reward-load.ts';

console.log(machine());
printRates(eventsPerSecond(false, 1000, 200_000), eventsPerSecond(true, 1000, 200_000));
printGrowth(
  fileURLToPath(new URL('reward-load.ts', import.meta.url)),
  [1000, 100_000].map((size) => [size, `${String(size).padStart(7)} waiting`]),
);
