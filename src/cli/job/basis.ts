/** What a job rests on, as the commands say it: in the first line, and in the first keys of JSON. */
import { oneLine } from '../../core/ids/printable.ts';
import { basisLine, type JobBasis } from '../../sim/colocated/basis.ts';
import { look } from '../terminal/output.ts';
import { prose } from '../terminal/plain-table.ts';

/** Returns the first line of an answer, wrapped. */
export const basisText = (basis: JobBasis): string => look('dim', prose(oneLine(basisLine(basis))));

/** Returns the first keys of an answer. */
export const basisJson = ({ assumed, outside }: Omit<JobBasis, 'name'>) => ({ assumed, outside });
