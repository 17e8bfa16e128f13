/** The checker of placements can fail: a check that finds nothing wrong with a broken plan proves nothing. */
import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../../src/index.ts';
import type { FlexUlyssesInput, FlexUlyssesPlan } from '../../../src/planners/flex-ulysses/index.ts';
import { placementProblems } from '../../support/placement/check.ts';

const input: FlexUlyssesInput = { lengths: [900, 700, 40, 0, 300], devices: 4, strategy: 'ulysses', ulyssesDegree: 2 };
const broken = (change: (plan: FlexUlyssesPlan) => void) => {
  const plan = structuredClone(runPlanner(flexUlysses, input));
  change(plan);
  return placementProblems(input, plan);
};

describe('placementProblems', () => {
  test('finds nothing wrong with a valid plan', () => expect(broken(() => {})).toEqual([]));

  test.each<[string, (plan: FlexUlyssesPlan) => void]>([
    ['a sequence is missing', ({ assignments }) => assignments.pop()],
    ['a sequence comes twice', ({ assignments }) => (assignments[1]!.sequence = 0)],
    [
      'a degree is not admissible',
      ({ assignments }) => Object.assign(assignments[0]!, { degree: 3, devices: [0, 1, 2] }),
    ],
    ['a group is not aligned', ({ assignments }) => (assignments[0]!.devices = [1, 2])],
    ['devices are no neighbours', ({ assignments }) => (assignments[0]!.devices = [0, 2])],
    ['a device is not there', ({ assignments }) => (assignments[0]!.devices = [4, 5])],
    ['there are fewer devices than the degree', ({ assignments }) => (assignments[0]!.devices = [0])],
    [
      'an empty sequence is sharded',
      ({ assignments }) => Object.assign(assignments[3]!, { degree: 2, devices: [0, 1] }),
    ],
    ['a sequence lies elsewhere than the metrics say', ({ assignments }) => (assignments[0]!.devices = [2, 3])],
    ['communication is wrong', ({ metrics }) => (metrics.communication -= 1)],
    ['traffic is wrong', ({ metrics }) => (metrics.traffic += 1)],
    ['compute is above its limit', ({ limits }) => (limits.compute /= 2)],
    ['memory is above its limit', ({ limits }) => (limits.memoryTokens /= 2)],
    ['a bound on compute is above the plan', ({ bounds, metrics }) => (bounds.compute = metrics.maxCompute * 1.01)],
    [
      'a bound on communication is above the plan',
      ({ bounds, metrics }) => (bounds.communication = metrics.communication + 1),
    ],
    ['the memory is said to be relaxed', (plan) => (plan.memoryRelaxed = !plan.memoryRelaxed)],
  ])('says so where %s', (_, change) => expect(broken(change)).not.toEqual([]));
});
