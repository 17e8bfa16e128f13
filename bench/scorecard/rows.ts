/** All rows of all papers. The code that fits reads those whose use is `fitted`, and no others. */
import { flexrlOutside, flexrlRows } from './flexrl.ts';
import { rolloutpipeOutside, rolloutpipeRows } from './rolloutpipe.ts';
import { rollpackerOutside, rollpackerRows } from './rollpacker.ts';
import type { Row } from './row.ts';

export const rows: readonly Row[] = [...rollpackerRows, ...rolloutpipeRows, ...flexrlRows];

/** What papers print and the simulator cannot, with the reason. */
export const outside = { RollPacker: rollpackerOutside, RolloutPipe: rolloutpipeOutside, FlexRL: flexrlOutside };
