/** Chooses how many and which devices share each sequence of a batch (FlexRL §3 and Appendix A). See README.md. */
import { definePlanner, type PlannerDefinition, type PlanRun } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type { FlexUlyssesInput, FlexUlyssesPlan, FlexUlyssesSettings } from '../../generated/settings/flex-ulysses.ts';
import { communicationBound, computeBound } from './bounds.ts';
import { fewestSharded } from './counting.ts';
import { executionOf } from './execution/execution.ts';
import { instanceOf, type Placement } from './instance.ts';
import { assignmentsOf, metricsOf } from './placement.ts';
import { flexUlyssesPlan } from './plan-schema.ts';
import { flexUlyssesInput } from './schema.ts';
import { placeBySearch } from './search/search.ts';
import { placeByBucketing } from './strategies/bucketing.ts';
import { placeByKarmarkarKarp } from './strategies/karmarkar-karp.ts';
import { placeByPaper } from './strategies/paper/paper.ts';
import { placeByUlysses } from './strategies/ulysses.ts';
import type { Placed, Strategy } from './strategy.ts';

const strategies: Readonly<Record<FlexUlyssesSettings['strategy'], Strategy>> = {
  search: placeBySearch,
  paper: placeByPaper,
  bucketing: placeByBucketing,
  'karmarkar-karp': placeByKarmarkarKarp,
  ulysses: placeByUlysses,
};

/**
 * Limit on the devices that sharding adds, summed over the sequences (degree − 1 each): a larger plan is refused before it is
 * written.
 */
const mostAddedDevices = 1_000_000;

/**
 * Refuses a plan that is too large, before it is written: if each sequence is on many devices, even a few sequences make a large
 * plan.
 */
function checkSize({ level }: Placement): void {
  let addedDevices = 0;
  for (const one of level) addedDevices += 2 ** one - 1;
  if (addedDevices <= mostAddedDevices) return;
  const expected = `degrees that add up to at most ${mostAddedDevices}, less one for each sequence`;
  refuse('limit_exceeded', 'maxDegree', expected, addedDevices);
}

/** Refuses a plan that exceeds a given cap. */
function checkCap({ memoryCapTokens, overCap }: FlexUlyssesSettings, mostTokens: number): void {
  if (memoryCapTokens === undefined || overCap === 'allow' || mostTokens <= memoryCapTokens) return;
  const expected = `a plan with at most ${memoryCapTokens} tokens on a device (or \`overCap: allow\`)`;
  refuse('infeasible', 'memoryCapTokens', expected, mostTokens);
}

/** Says which parts of a search were cut short; nothing if none was. */
function cutOf({ cut }: Placed): Pick<FlexUlyssesPlan, 'cut'> {
  const parts = (['balance', 'communication'] as const).filter((part) => cut?.[part] !== undefined);
  if (parts.length === 0) return {};
  return { cut: { by: parts.some((part) => cut![part] === 'deadline') ? 'deadline' : 'steps', parts } };
}

function compute(settings: FlexUlyssesSettings, { isLate }: PlanRun = {}): FlexUlyssesPlan {
  const instance = instanceOf(settings);
  const placed = strategies[settings.strategy](instance, settings, isLate);
  checkSize(placed.placement);
  const metrics = metricsOf(instance, placed.placement);
  checkCap(settings, metrics.maxMemoryTokens);
  const memoryTokens = placed.memoryCap ?? Math.max(instance.memoryCap, metrics.maxMemoryTokens);
  const computeLimit = placed.computeLimit ?? metrics.maxCompute;
  const assignments = assignmentsOf(placed.placement);
  const { movedFrames, ...execution } = executionOf(instance, placed.placement, assignments, settings);
  return {
    assignments,
    bounds: {
      compute: placed.computeBound ?? computeBound(instance, memoryTokens),
      communication: Math.max(
        communicationBound(instance, computeLimit, memoryTokens),
        fewestSharded(instance, computeLimit, memoryTokens).communication,
      ),
    },
    limits: { compute: computeLimit, memoryTokens },
    metrics: { ...metrics, ...movedFrames },
    ...execution,
    memoryRelaxed: metrics.maxMemoryTokens > instance.memoryCap,
    ...cutOf(placed),
  };
}

/** Chooses how many devices share each sequence of a batch, and which, so that compute is balanced and communication is low. */
export const flexUlysses: PlannerDefinition<FlexUlyssesInput, FlexUlyssesSettings, FlexUlyssesPlan, 'flex-ulysses'> =
  definePlanner({
    id: 'flex-ulysses',
    version: 1,
    summary: 'How many devices share each sequence of a batch, and which, so that compute is even and little is sent.',
    source: 'FlexRL §3, Appendix A',
    input: flexUlyssesInput,
    plan: flexUlyssesPlan,
    compute,
  });
