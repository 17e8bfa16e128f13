/** Schedulers of a step: they choose the placement of sequences, and the loader of visual inputs. */
import { runPlanner } from '../../core/machine/start.ts';
import { refuse } from '../../errors.ts';
import { type FlexUlyssesPlan, flexUlysses } from '../../planners/flex-ulysses/index.ts';
import type { LoaderId } from './loading.ts';
import { vlmModel } from './models.ts';
import type { VlmJob } from './settings.ts';
import { lengthOf, type VlmSample } from './workload/sample.ts';

/** A way to place the sequences of a batch. */
export type VlmPlacement = 'bucketing' | 'ulysses' | 'flex-ulysses';

/** One way to schedule a step. */
export interface VlmScheduler {
  /** Id in kebab case, as in results. */
  readonly id: string;
  /** Label for readers, in tables and charts. */
  readonly label: string;
  /** The way sequences are placed on devices. */
  readonly placement: VlmPlacement;
  /** The degree for `ulysses`; 1 for other placements, which ignore it. */
  readonly degree: number;
  /** The loader that brings visual inputs to the devices. */
  readonly loader: LoaderId;
}

const one = (id: string, label: string, placement: VlmPlacement, loader: LoaderId, degree = 1): VlmScheduler =>
  Object.freeze({ id, label, placement, degree, loader });

/** veRL with bucketing: every sequence is on one device, and one controller loads the data. */
export const verlBucketing = one('verl-bucketing', 'veRL bucketing', 'bucketing', 'centralized');

/** FlexRL: FlexUlysses and ShadowLoader. */
export const flexrlScheduler = one('flexrl', 'FlexRL', 'flex-ulysses', 'shadow-loader');

/** Returns Ulysses with the same degree for every sequence. */
export function fixedUlysses(degree: number, loader: LoaderId = 'centralized'): VlmScheduler {
  const shadow = loader === 'shadow-loader';
  const id = `ulysses-${degree}${shadow ? '-shadow' : ''}`;
  return one(id, `Ulysses SP ${degree}${shadow ? ' + SL' : ''}`, 'ulysses', loader, degree);
}

/** The baselines of FlexRL's Figures 5 to 7, its two parts alone, and both together: SL is ShadowLoader, FU is FlexUlysses. */
export const vlmSchedulers: readonly VlmScheduler[] = Object.freeze([
  verlBucketing,
  fixedUlysses(4),
  one('verl-shadow', 'veRL + SL', 'bucketing', 'shadow-loader'),
  one('verl-flex-ulysses', 'veRL + FU', 'flex-ulysses', 'centralized'),
  fixedUlysses(2, 'shadow-loader'),
  fixedUlysses(4, 'shadow-loader'),
  fixedUlysses(8, 'shadow-loader'),
  flexrlScheduler,
]);

/** Largest degree of FlexUlysses (FlexRL §5.1). */
const maxDegree = 8;

/**
 * Places a batch.
 *
 * @throws PolicyError `infeasible` for a fixed degree that is no power of two, or does not divide the GPUs and the heads
 */
export function placeBatch(scheduler: VlmScheduler, batch: readonly VlmSample[], job: VlmJob): FlexUlyssesPlan {
  const { attentionHeads, kvHeads } = vlmModel(job.model);
  const { placement, degree } = scheduler;
  const shape = { lengths: batch.map(lengthOf), devices: job.gpus, devicesPerNode: job.gpusPerNode };
  switch (placement) {
    case 'bucketing':
      return runPlanner(flexUlysses, { ...shape, strategy: 'bucketing', maxDegree: 1 });
    case 'flex-ulysses':
      return runPlanner(flexUlysses, {
        ...shape,
        strategy: 'search',
        maxDegree,
        attentionHeads,
        kvHeads,
        frames: batch.map((one) => one.frames),
      });
    case 'ulysses': {
      checkDegree(degree, job, scheduler.id);
      const input = { ...shape, strategy: 'ulysses', maxDegree: degree, ulyssesDegree: degree } as const;
      return runPlanner(flexUlysses, { ...input, attentionHeads, kvHeads });
    }
  }
}

/** Refuses a fixed degree that the job cannot use. Throws `PolicyError` `infeasible` with the given path. */
export function checkDegree(degree: number, { gpus, model }: VlmJob, path: string): void {
  const { attentionHeads } = vlmModel(model);
  if (Number.isInteger(Math.log2(degree)) && gpus % degree === 0 && attentionHeads % degree === 0) return;
  const expected = `a power of two that divides ${gpus} GPUs and ${attentionHeads} heads`;
  refuse('infeasible', path, expected, degree);
}
