/** Which engines gpu-scale-down takes of a large cluster. */
import { expect, test } from 'vitest';
import { create, gpuScaleDown } from '../../../src/index.ts';
import { type Engines, open, type Release, report, untilQuery } from '../../support/oracles/scale-down.ts';

test('a cluster whose replicas lie across many servers is halved: no group is split, as few servers as can be are', () => {
  // Forty servers of four GPUs; each replica has a GPU of four servers that lie far apart.
  const engines: Engines = Array.from({ length: 160 }, (_, index) => ({
    engineId: `e${String(index).padStart(3, '0')}`,
    serverId: `s${String(index % 40).padStart(2, '0')}`,
    gpuIds: [`g${index}`],
    kvCapacityTokens: 1e6,
  }));
  const communicationGroups = Array.from({ length: 40 }, (_, at) =>
    [0, 1, 2, 3].map((k) => `g${40 * k + ((at * (1 + 6 * k)) % 40)}`),
  );
  expect(new Set(communicationGroups.flat()).size).toBeGreaterThan(100);
  const policy = create(gpuScaleDown, {
    promptsPerRound: 10,
    responsesPerPrompt: 2,
    maxResponseTokens: 100,
    engines,
    communicationGroups,
  });
  open(policy, 'r');
  const [release] = report(policy, untilQuery(policy), []) as [Release];
  const gone = new Set(release.release.flatMap((one) => one.gpuIds));
  expect(gone.size).toBe(80);
  for (const group of communicationGroups) {
    expect([0, new Set(group).size]).toContain([...new Set(group)].filter((gpu) => gone.has(gpu)).length);
  }
});
