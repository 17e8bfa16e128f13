/** What a simulated job rests on: it stands in every result, and is the first line of every answer. */
import type { Job } from './job.ts';

/** What a simulated job rests on. */
export interface JobBasis {
  /** Name of the job: its model, GPUs and engine. */
  readonly name: string;
  /** What nobody said about the cluster and was assumed, as phrases. */
  readonly assumed: readonly string[];
  /** What lies outside of the measurements that the time model was fitted to, as phrases. */
  readonly outside: readonly string[];
}

/** Returns what the job of a paper takes from it, as phrases: that of which there is no measurement. */
export function paperAssumed({
  training,
  rewards,
}: {
  readonly training: boolean;
  readonly rewards: boolean;
}): string[] {
  const parts = [...(training ? ['training'] : []), ...(rewards ? ['rewards'] : [])];
  return parts.length === 0 ? [] : [`${parts.join(' and ')} as in RollPacker §6 (--calibrate)`];
}

/** Returns what a job rests on. */
export const basisOf = ({ name, assumed = [], outside = [] }: Job): JobBasis => ({ name, assumed, outside });

/** Returns it as one line. An assumption that begins with the name says all of the job, and how to say another one. */
export function basisLine({ name, assumed, outside }: JobBasis): string {
  const isWhole = assumed[0]?.startsWith(name) === true;
  const said = assumed.length === 0 ? [] : [`Assumed: ${assumed.join(', ')}`];
  const yours = isWhole ? ['say yours: --model, --gpu, --gpus'] : [];
  const beyond = outside.length === 0 ? [] : [`not measured: ${outside.join(', ')}`];
  const all = [...said, ...yours, ...beyond].join('; ');
  return [...(isWhole ? [] : [name]), ...(all === '' ? [] : [capital(all)])].join('. ');
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
