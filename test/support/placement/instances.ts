/** The batches of test/fixtures/placement-instances.jsonl; the README beside it says what their fields mean. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FlexUlyssesInput } from '../../../src/planners/flex-ulysses/index.ts';

/** A batch with the best that is known of placing it. */
export interface KnownInstance {
  readonly id: string;
  readonly devices: number;
  readonly maxDegree: number;
  readonly memorySlack: number;
  readonly memoryCapTokens: number;
  readonly computeLowerBound: number;
  readonly bestCompute: number;
  readonly best: readonly {
    readonly tolerance: number;
    readonly communication: number;
    readonly communicationProvenOptimal: boolean;
  }[];
  readonly lengths: readonly number[];
}

/** All of them. */
export const knownInstances: readonly KnownInstance[] = readFileSync(
  fileURLToPath(new URL('../../fixtures/placement-instances.jsonl', import.meta.url)),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

/** What the planner is given. */
export function inputOf({ lengths, devices, maxDegree, memorySlack }: KnownInstance): FlexUlyssesInput {
  return { lengths: [...lengths], devices, maxDegree, memorySlack };
}

/** Communication of a plan relative to the best known at a tolerance; where that is 0, only 0 will do. */
export function communicationRatio(known: KnownInstance, tolerance: number, communication: number): number {
  const best = known.best.find((one) => one.tolerance === tolerance)!.communication;
  if (best === 0) return communication === 0 ? 1 : Number.POSITIVE_INFINITY;
  return communication / best;
}
