/** GPUs: what their data sheets say, and their names as users, tools and vendors write them. */
import { describe, expect, it, test } from 'vitest';
import { gpuOf, gpus } from '../../../../src/sim/silicon/gpus.ts';
import { refusal } from '../../../support/basics/refusal.ts';

describe('the table', () => {
  it('has what the data sheets say', () => {
    expect(gpuOf('h100')).toMatchObject({ bandwidthGbps: 3350, tflops: 989, fp8Tflops: 1979, linkGbps: 450 });
    expect(gpuOf('h200')).toMatchObject({ memoryGb: 141, bandwidthGbps: 4800, tflops: 989, linkGbps: 450 });
    expect(gpuOf('h800')).toMatchObject({ memoryGb: 80, bandwidthGbps: 3350, linkGbps: 200 });
    expect(gpuOf('b200')).toMatchObject({ bandwidthGbps: 7700, tflops: 2250, fp4Tflops: 9000, linkGbps: 900 });
    expect(gpuOf('gb200')).toMatchObject({ bandwidthGbps: 8000, tflops: 2500, linkGbps: 900, gpusPerDomain: 72 });
    expect(gpuOf('a100')).toMatchObject({ memoryGb: 80, bandwidthGbps: 2039, tflops: 312, fp8Tflops: undefined });
  });

  it.each(gpus)('$id is whole, and cannot be changed', (gpu) => {
    expect(Object.isFrozen(gpu)).toBe(true);
    for (const number of [gpu.memoryGb, gpu.bandwidthGbps, gpu.tflops, gpu.linkGbps, gpu.gpusPerDomain]) {
      expect(number).toBeGreaterThan(0);
    }
    // Half the bits are computed at least nearly twice as fast.
    if (gpu.fp8Tflops !== undefined) expect(gpu.fp8Tflops / gpu.tflops).toBeGreaterThan(1.9);
    if (gpu.fp4Tflops !== undefined) expect(gpu.fp4Tflops / gpu.fp8Tflops!).toBeGreaterThan(1.9);
    expect(gpu.source).toMatch(/^data sheet of (NVIDIA|AMD) /);
    for (const name of [gpu.id, gpu.label, gpu.id.toUpperCase(), gpu.id.replaceAll('-', '_'), `nvidia ${gpu.id}`]) {
      expect(gpuOf(name).id).toBe(gpu.id);
    }
  });
});

test.each([
  ['h100_sxm', 'h100-sxm'],
  ['H100-SXM5-80GB', 'h100-sxm'],
  ['NVIDIA H100 80GB HBM3', 'h100-sxm'],
  ['H100 PCIe', 'h100-pcie'],
  ['NVIDIA H100 NVL', 'h100-nvl'],
  ['NVIDIA A100-SXM4-40GB', 'a100-40gb-sxm'],
  ['NVIDIA A100-SXM4-80GB', 'a100-80gb-sxm'],
  ['NVIDIA A100 80GB PCIe', 'a100-pcie'],
  ['b200_sxm', 'b200-sxm'],
  ['NVIDIA B300 SXM6 AC', 'b300-sxm'],
  ['B200 192GB', 'b200-sxm'],
  ['NVIDIA GB200 NVL72', 'gb200'],
  ['NVIDIA RTX PRO 6000 Blackwell Server Edition', 'rtx-pro-6000'],
  ['NVIDIA L4 PCIe', 'l4'],
  ['AMD Instinct MI300X OAM', 'mi300x'],
])('%s is %s', (name, id) => {
  expect(gpuOf(name).id).toBe(id);
});

test.each([
  ['h300', 'did you mean "h100-sxm"?'],
  ['mi355', 'did you mean "mi355x"?'],
  // A GPU that is known, with a memory that it does not have.
  ['H100 64GB', 'did you mean "h100-sxm"?'],
  ['', 'one of a100-40gb-sxm, '],
])('%j is refused, with what may be meant', (name, hint) => {
  const { expected, ...error } = refusal(() => gpuOf(name, 'options.gpu'));
  expect(error).toMatchObject({ code: 'unknown_id', path: 'options.gpu', got: JSON.stringify(name) });
  expect(expected).toContain(hint);
});
