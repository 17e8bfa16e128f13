/** Log-probabilities and updates: the load of each device under a plan, and the time of the slowest device. */
import type { FlexUlyssesPlan } from '../../planners/flex-ulysses/index.ts';
import { passes } from './constants.ts';
import { vlmModel } from './models.ts';
import type { VlmPlacement } from './scheduler.ts';
import type { VlmJob } from './settings.ts';
import { allToAllSeconds, attentionSeconds, headsSent, linearSeconds, visionSeconds } from './timing.ts';
import { lengthOf, type VlmSample } from './workload/sample.ts';

/** The load of one device in a forward pass: its seconds, and the work on which the balance depends. */
export interface DeviceLoad {
  /** Σ h² ÷ p: the attention work in the balance. */
  squares: number;
  /** Σ h ÷ p. */
  tokens: number;
  /** Visual tokens that the device's vision tower encodes. */
  visualTokens: number;
  /** Seconds of the vision tower. */
  visionSeconds: number;
  /** Seconds of work that is linear in tokens. */
  linearSeconds: number;
  /** Seconds of attention. */
  attentionSeconds: number;
  /** Seconds of exchange with other devices. */
  allToAllSeconds: number;
}

/**
 * Returns the visual tokens of each device. A device encodes its own tokens. In fixed Ulysses, every rank in a group encodes all
 * visual tokens of the group, because sequences are split after the tower. A plan of FlexUlysses distributes images and frames
 * evenly.
 */
function visualTokensOf({ assignments, vision }: FlexUlyssesPlan, batch: readonly VlmSample[], devices: number) {
  const all = new Array<number>(devices).fill(0);
  if (vision === undefined) {
    for (const { sequence, devices: group } of assignments) {
      for (const device of group) all[device]! += batch[sequence]!.visualTokens;
    }
    return all;
  }
  for (const { device, slices } of vision) {
    for (const { sequence, from, to } of slices) {
      const { visualTokens, frames } = batch[sequence]!;
      all[device]! += (visualTokens * (to - from)) / frames;
    }
  }
  return all;
}

/** Returns the seconds of one layer's all-to-alls on each device: one all-to-all per group that shares sequences. */
function allToAllOf(plan: FlexUlyssesPlan, batch: readonly VlmSample[], job: VlmJob): number[] {
  const packs = new Map<string, { devices: readonly number[]; tokens: number }>();
  for (const { sequence, degree, devices } of plan.assignments) {
    if (degree === 1) continue;
    const key = `${degree}/${devices[0]}`;
    const pack = packs.get(key) ?? { devices, tokens: 0 };
    pack.tokens += lengthOf(batch[sequence]!);
    packs.set(key, pack);
  }
  const { gpu, gpusPerNode: devicesPerNode } = job;
  const heads = headsSent(vlmModel(job.model));
  const seconds = new Array<number>(job.gpus).fill(0);
  for (const { devices, tokens } of packs.values()) {
    const one = allToAllSeconds(tokens, devices.length, { gpu, devicesPerNode, heads });
    for (const device of devices) seconds[device]! += one;
  }
  return seconds;
}

/** Returns the load of each device in a forward pass. */
export function deviceLoads(plan: FlexUlyssesPlan, batch: readonly VlmSample[], job: VlmJob): DeviceLoad[] {
  const model = vlmModel(job.model);
  const visual = visualTokensOf(plan, batch, job.gpus);
  const allToAll = allToAllOf(plan, batch, job);
  const loads = visual.map(
    (visualTokens, device): DeviceLoad => ({
      squares: 0,
      tokens: 0,
      visualTokens,
      visionSeconds: visionSeconds(model, job.gpu, visualTokens),
      linearSeconds: 0,
      attentionSeconds: 0,
      allToAllSeconds: model.layers * allToAll[device]!,
    }),
  );
  for (const { sequence, degree, devices } of plan.assignments) {
    const length = lengthOf(batch[sequence]!);
    for (const device of devices) {
      loads[device]!.squares += length ** 2 / degree;
      loads[device]!.tokens += length / degree;
    }
  }
  for (const load of loads) {
    load.linearSeconds = linearSeconds(model, job.gpu, load.tokens);
    load.attentionSeconds = model.layers * attentionSeconds(model.attentionHeads, load.squares, load.tokens);
  }
  return loads;
}

/** Whether all-to-alls are hidden behind the attention of other packs (FlexRL §3.4). */
export const overlaps = (placement: VlmPlacement): boolean => placement === 'flex-ulysses';

/**
 * Whether frames are encoded outside the devices of their sequence, so that no device can begin with the backbone before the last
 * frame is encoded.
 */
export const towerFirst = (placement: VlmPlacement): boolean => placement === 'flex-ulysses';

const most = (values: readonly number[]): number => values.reduce((largest, one) => Math.max(largest, one), 0);

/** Returns the seconds of a stage without its inputs. Parameters are sharded, so every device waits for the slowest. */
export function stageSeconds(loads: readonly DeviceLoad[], placement: VlmPlacement, kind: keyof typeof passes): number {
  const { compute, allToAll } = passes[kind];
  const backbone = loads.map((one) => {
    const [attention, sent] = [compute * one.attentionSeconds, allToAll * one.allToAllSeconds];
    return compute * one.linearSeconds + (overlaps(placement) ? Math.max(attention, sent) : attention + sent);
  });
  const tower = loads.map((one) => compute * one.visionSeconds);
  if (towerFirst(placement)) return most(tower) + most(backbone);
  return most(backbone.map((seconds, device) => seconds + tower[device]!));
}

/** Returns the largest attention work on a device ÷ the mean; 1 without attention work. */
export function balanceOf(loads: readonly DeviceLoad[]): number {
  const total = loads.reduce((sum, one) => sum + one.squares, 0);
  return total === 0 ? 1 : (Math.max(...loads.map((one) => one.squares)) * loads.length) / total;
}
