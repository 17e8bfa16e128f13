/** The timeline of a forward pass: the shards on each device, with their times. */
import type { FlexUlyssesPlan } from '../../planners/flex-ulysses/index.ts';
import { vlmModel } from './models.ts';
import type { PlanPicture, Shard } from './result.ts';
import type { VlmPlacement } from './scheduler.ts';
import type { VlmJob } from './settings.ts';
import { type DeviceLoad, overlaps, towerFirst } from './stage.ts';
import { attentionSeconds, linearSeconds } from './timing.ts';
import { lengthOf, type VlmSample } from './workload/sample.ts';

/** Returns the seconds of all-to-alls that attention does not hide. */
function openAllToAll({ attentionSeconds: attention, allToAllSeconds: sent }: DeviceLoad, hidden: boolean): number {
  return hidden ? Math.max(0, sent - attention) : sent;
}

/**
 * Returns the timeline of a plan. The vision tower comes first. Then come shards by degree (descending), group and index; each
 * starts when all devices of its group are free, which they are at the same time. Last comes the part of the all-to-alls that
 * attention does not hide.
 */
export function pictureOf(
  plan: FlexUlyssesPlan,
  batch: readonly VlmSample[],
  loads: readonly DeviceLoad[],
  job: VlmJob,
  placement: VlmPlacement,
): PlanPicture {
  const model = vlmModel(job.model);
  const shards: Shard[] = [];
  const free = new Array<number>(job.gpus).fill(0);
  const add = (device: number, seconds: number, activity: Shard['activity'], sequence?: number): void => {
    if (seconds === 0) return;
    const startSeconds = free[device]!;
    free[device] = startSeconds + seconds;
    const of = sequence === undefined ? {} : { sequence };
    shards.push({ device, startSeconds, endSeconds: startSeconds + seconds, ...of, activity });
  };
  loads.forEach((load, device) => {
    add(device, load.visionSeconds, 'vision');
  });
  if (towerFirst(placement)) free.fill(Math.max(...free));
  const order = [...plan.assignments].sort(
    (a, b) => b.degree - a.degree || a.devices[0]! - b.devices[0]! || a.sequence - b.sequence,
  );
  for (const { sequence, degree, devices } of order) {
    const length = lengthOf(batch[sequence]!);
    const attention = attentionSeconds(model.attentionHeads, length ** 2 / degree, length / degree);
    const seconds = linearSeconds(model, job.gpu, length / degree) + model.layers * attention;
    const start = Math.max(...devices.map((device) => free[device]!));
    for (const device of devices) {
      free[device] = start;
      add(device, seconds, 'shard', sequence);
    }
  }
  loads.forEach((load, device) => {
    add(device, openAllToAll(load, overlaps(placement)), 'all-to-all');
  });
  const degrees = plan.assignments.map((one) => one.degree);
  return { seconds: Math.max(...free), shards, degrees };
}
