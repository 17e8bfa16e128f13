/** What a job rests on goes with it into every result. */
import { expect, test } from 'vitest';
import { advise } from '../../../../src/sim/advise/advise.ts';
import { basisLine, basisOf } from '../../../../src/sim/colocated/basis.ts';
import { jobPreset } from '../../../../src/sim/models/presets.ts';
import { clusterJob } from '../../../../src/sim/silicon/cluster.ts';
import { readTrace } from '../../../../src/sim/trace/read.ts';

test('a line has the name, what was assumed, and what was not measured', () => {
  const line = (assumed: string[], outside: string[]) => basisLine({ name: 'my job', assumed, outside });
  expect(line([], [])).toBe('my job');
  expect(line(['one', 'two'], [])).toBe('my job. Assumed: one, two');
  expect(line([], ['three'])).toBe('my job. Not measured: three');
  expect(line(['one'], ['three'])).toBe('my job. Assumed: one; not measured: three');
  expect(line(['my job of a paper'], [])).toBe('Assumed: my job of a paper; say yours: --model, --gpu, --gpus');
  expect(basisOf({ ...jobPreset('qwen2.5-7b-8k').job, assumed: undefined })).toMatchObject({
    assumed: [],
    outside: [],
  });
});

test('advise says it of the job of a cluster', () => {
  const { job, capTokens } = clusterJob({
    ...{ model: 'Qwen3-8B', gpu: 'l40s', gpus: 4, promptsPerRound: 4, responsesPerPrompt: 2, capTokens: 2048 },
  });
  const rows = Array.from({ length: 8 }, (_, index) => ({
    responses: [{ tokens: 90 + index }, { tokens: 900 + index }],
  }));
  const trace = readTrace(rows.map((row) => JSON.stringify(row)).join('\n'));
  const effort = { coarseSeeds: 1, semifinalSeeds: 1, finalSeeds: 1, confirmationSeeds: 2, fineRounds: 0 };
  const answer = advise(trace, job, { trainer: 'slime', capTokens, steps: 1, effort });
  expect(answer.assumed).toEqual(job.assumed);
  expect(answer.assumed).toContain('TP 1 (--tp)');
  expect(answer.outside).toEqual(['L40S (not measured: scaled from its data sheet)']);
  expect(answer.sweep.basis).toEqual(basisOf(job));
});
