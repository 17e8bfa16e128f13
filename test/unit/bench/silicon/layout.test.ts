/** Layouts as files write them: how many GPUs, and how many ranks of the attention. */
import { describe, expect, test } from 'vitest';
import { type LayoutContext, layoutOf, type Ranks } from '../../../../bench/scorecard/silicon/layout.ts';

const counts = { tensorParallel: 1, pipelineParallel: 1, attentionDataParallel: 1, moeTensorParallel: 1 };
const one: Ranks = { ...counts, moeExpertParallel: 1, concurrency: 16 };
const server: LayoutContext = { gpusPerDomain: 8, isMixture: true, dividesTensorParallel: true };
const vllm: LayoutContext = { ...server, dividesTensorParallel: false };
const rack: LayoutContext = { ...server, gpusPerDomain: 72 };

type Short = readonly [tp: number, dp: number, moeTp: number, ep: number];
function read([tp, dp, moeTp, ep]: Short, context = server): string {
  const found = layoutOf(
    {
      ...one,
      tensorParallel: tp,
      attentionDataParallel: dp,
      moeTensorParallel: moeTp,
      moeExpertParallel: ep,
    },
    context,
  );
  const { gpus, attentionRanks, concurrency } = found;
  return `${gpus} GPUs, ${attentionRanks} ranks, ${concurrency} clients`;
}

describe('a mixture of experts', () => {
  test.each<[string, Short, string]>([
    ['tensor parallelism alone', [8, 1, 8, 1], '8 GPUs, 1 ranks, 16 clients'],
    ['experts apart', [8, 1, 1, 8], '8 GPUs, 1 ranks, 16 clients'],
    ['experts in both ways', [8, 1, 2, 4], '8 GPUs, 1 ranks, 16 clients'],
    ['the same, two by two', [4, 1, 2, 2], '4 GPUs, 1 ranks, 16 clients'],
    ['DP attention: TP 1, DP 8, EP 8', [1, 8, 1, 8], '8 GPUs, 8 ranks, 16 clients'],
    ['EP is TP × DP', [2, 4, 1, 8], '8 GPUs, 4 ranks, 16 clients'],
    ['TP 8, DP 8, EP 8 on a server', [8, 8, 1, 8], '8 GPUs, 8 ranks, 16 clients'],
    ['the same, experts counted twice too', [8, 8, 1, 64], '8 GPUs, 8 ranks, 16 clients'],
    ['DP 16 on two servers', [1, 16, 1, 16], '16 GPUs, 16 ranks, 16 clients'],
    ['the same, with TP', [16, 16, 1, 16], '16 GPUs, 16 ranks, 16 clients'],
    ['TP 16, EP 16 on two servers', [16, 1, 1, 16], '16 GPUs, 1 ranks, 16 clients'],
    ['TP 8 × DP 2 on two servers', [8, 2, 1, 16], '16 GPUs, 2 ranks, 16 clients'],
    ['TP × EP counted twice', [64, 1, 8, 8], '8 GPUs, 1 ranks, 16 clients'],
    ['the same, 4 × 4', [16, 1, 4, 4], '4 GPUs, 1 ranks, 16 clients'],
    ['the same, with fewer ranks of experts than GPUs', [32, 1, 8, 4], '8 GPUs, 1 ranks, 16 clients'],
    ['ranks of the attention counted with them: clients of one rank', [1, 64, 8, 8], '8 GPUs, 8 ranks, 128 clients'],
    ['more ranks of experts than GPUs of TP', [1, 1, 1, 8], '8 GPUs, 8 ranks, 16 clients'],
  ])('%s', (_, short, expected) => {
    expect(read(short)).toBe(expected);
  });

  test('DP divides TP in SGLang and TensorRT-LLM, and multiplies it in vLLM', () => {
    expect(read([8, 2, 1, 8])).toBe('8 GPUs, 2 ranks, 16 clients');
    expect(read([8, 2, 8, 1])).toBe('8 GPUs, 2 ranks, 16 clients');
    expect(read([4, 2, 1, 8], vllm)).toBe('8 GPUs, 2 ranks, 16 clients');
    expect(read([4, 2, 1, 4], vllm)).toBe('8 GPUs, 2 ranks, 16 clients');
  });

  test('a rack holds more GPUs than a server: what fits in it is not counted twice', () => {
    expect(read([32, 1, 8, 4], rack)).toBe('32 GPUs, 1 ranks, 16 clients');
    expect(read([72, 1, 72, 1], rack)).toBe('72 GPUs, 1 ranks, 16 clients');
    expect(read([1, 64, 1, 64], rack)).toBe('64 GPUs, 64 ranks, 16 clients');
  });

  test('there are never fewer GPUs than ranks of the attention, nor a part of one', () => {
    const powers = [1, 2, 4, 8, 16, 32, 64];
    for (const tp of powers) {
      for (const dp of powers) {
        for (const moeTp of powers) {
          for (const ep of powers) {
            const ranks = { ...one, tensorParallel: tp, attentionDataParallel: dp, moeTensorParallel: moeTp };
            for (const context of [server, vllm, rack]) {
              const { gpus, attentionRanks } = layoutOf({ ...ranks, moeExpertParallel: ep }, context);
              expect(gpus % attentionRanks, `${tp} ${dp} ${moeTp} ${ep}`).toBe(0);
            }
          }
        }
      }
    }
  });
});

test('a dense model has no experts to divide: ranks of DP are replicas, over which clients are spread', () => {
  const dense = { ...server, isMixture: false };
  expect(read([4, 1, 4, 1], dense)).toBe('4 GPUs, 1 ranks, 16 clients');
  expect(read([16, 1, 4, 4], dense)).toBe('16 GPUs, 1 ranks, 16 clients');
  expect(read([2, 4, 1, 1], dense)).toBe('2 GPUs, 1 ranks, 4 clients');
});

test('stages of a pipeline stay apart', () => {
  expect(layoutOf({ ...one, tensorParallel: 4, pipelineParallel: 2 }, server)).toMatchObject({ gpus: 4, stages: 2 });
});
