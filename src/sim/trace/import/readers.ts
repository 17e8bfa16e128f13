/** The known dump formats, the most specific first. */
import { tableDump, trainerDumps } from './dialects.ts';
import type { DumpReader } from './dump.ts';
import { tauAirline } from './tau-airline.ts';
import { trajectoryDump } from './trajectory.ts';

/** The known dump formats, the most specific first. */
export const dumpReaders: readonly DumpReader[] = Object.freeze([
  ...trainerDumps,
  tauAirline,
  trajectoryDump,
  tableDump,
]);
