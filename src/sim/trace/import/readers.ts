/** The known dump formats, the most specific first. */
import type { DumpReader } from './dump.ts';
import { nemoRlDump } from './nemo-rl.ts';
import { rollBoard, rollDump } from './roll.ts';
import { slimeDump } from './slime.ts';
import { tableDump } from './table.ts';
import { tauAirline } from './tau-airline.ts';
import { trajectoryDump } from './trajectory.ts';
import { verlDump } from './verl.ts';

/** The known dump formats, the most specific first. */
export const dumpReaders: readonly DumpReader[] = Object.freeze([
  nemoRlDump,
  rollBoard,
  slimeDump,
  rollDump,
  verlDump,
  tauAirline,
  trajectoryDump,
  tableDump,
]);
