/** GPUs on which language models are trained and served, by the data sheets of their makers. */
import { nearest } from '../../core/ids/nearest.ts';
import { refuse } from '../../errors.ts';

/** Generation of an architecture. */
export type GpuGeneration = 'ampere' | 'ada' | 'hopper' | 'blackwell' | 'cdna3' | 'cdna4';

/** A GPU. Speeds are those of dense matrices, without sparsity. */
export interface Gpu {
  /** Short name, such as `h100-sxm`. */
  readonly id: string;
  /** Name for readers. */
  readonly label: string;
  /** Generation of its architecture. */
  readonly generation: GpuGeneration;
  /** Memory in GB, as its maker names it. */
  readonly memoryGb: number;
  /** Bandwidth of that memory, in GB/s. */
  readonly bandwidthGbps: number;
  /** Speed in bf16, in TFLOP/s. */
  readonly tflops: number;
  /** Speed in fp8, in TFLOP/s; undefined where it has no such units. */
  readonly fp8Tflops: number | undefined;
  /** Speed in fp4, in TFLOP/s; undefined where it has no such units. */
  readonly fp4Tflops: number | undefined;
  /** Bandwidth of a GPU to the others of its domain, one way, in GB/s: NVLink, Infinity Fabric, or PCIe where it has neither. */
  readonly linkGbps: number;
  /** GPUs of a domain that is linked in this way: a server, or a rack of NVL72. */
  readonly gpusPerDomain: number;
  /** Where the numbers are from. */
  readonly source: string;
}

const row = (
  id: string,
  label: string,
  generation: GpuGeneration,
  [memoryGb, bandwidthGbps]: readonly [memoryGb: number, bandwidthGbps: number],
  [tflops, fp8Tflops, fp4Tflops]: readonly [bf16: number, fp8?: number, fp4?: number],
  [linkGbps, gpusPerDomain]: readonly [linkGbps: number, gpusPerDomain: number],
  sheet: string,
): Gpu =>
  Object.freeze({
    id,
    label,
    generation,
    memoryGb,
    bandwidthGbps,
    tflops,
    fp8Tflops,
    fp4Tflops,
    linkGbps,
    gpusPerDomain,
    source: `data sheet of ${sheet}`,
  });

const h100Speeds = [989, 1979] as const;
const b200Speeds = [2250, 4500, 9000] as const;
const mi300Speeds = [1307, 2615] as const;

/** The GPUs. PCIe 4.0 and 5.0 have 32 and 64 GB/s. */
export const gpus: readonly Gpu[] = Object.freeze([
  row('a100-40gb-sxm', 'A100 40GB SXM', 'ampere', [40, 1555], [312], [300, 8], 'NVIDIA A100'),
  row('a100-80gb-sxm', 'A100 80GB SXM', 'ampere', [80, 2039], [312], [300, 8], 'NVIDIA A100'),
  row('a100-pcie', 'A100 80GB PCIe', 'ampere', [80, 1935], [312], [32, 8], 'NVIDIA A100'),
  row('a800-sxm', 'A800 80GB SXM', 'ampere', [80, 2039], [312], [200, 8], 'NVIDIA A800'),
  row('l4', 'L4', 'ada', [24, 300], [121, 242], [32, 8], 'NVIDIA L4'),
  row('l40s', 'L40S', 'ada', [48, 864], [362, 733], [32, 8], 'NVIDIA L40S'),
  row('h100-sxm', 'H100 SXM', 'hopper', [80, 3350], h100Speeds, [450, 8], 'NVIDIA H100'),
  row('h100-pcie', 'H100 PCIe', 'hopper', [80, 2000], [756, 1513], [64, 8], 'NVIDIA H100'),
  // Bridges link two cards.
  row('h100-nvl', 'H100 NVL', 'hopper', [94, 3900], [835, 1671], [300, 2], 'NVIDIA H100 NVL'),
  row('h200-sxm', 'H200 SXM', 'hopper', [141, 4800], h100Speeds, [450, 8], 'NVIDIA H200'),
  row('h800-sxm', 'H800 SXM', 'hopper', [80, 3350], h100Speeds, [200, 8], 'NVIDIA H800'),
  row('h20', 'H20', 'hopper', [96, 4000], [148, 296], [450, 8], 'NVIDIA H20'),
  row('b200-sxm', 'B200 SXM', 'blackwell', [180, 7700], b200Speeds, [900, 8], 'NVIDIA HGX B200'),
  row('b300-sxm', 'B300 SXM', 'blackwell', [270, 7750], [2250, 4500, 14_000], [900, 8], 'NVIDIA HGX B300'),
  row('gb200', 'GB200 NVL72', 'blackwell', [186, 8000], [2500, 5000, 10_000], [900, 72], 'NVIDIA GB200 NVL72'),
  row('gb300', 'GB300 NVL72', 'blackwell', [279, 8000], [2500, 5000, 15_000], [900, 72], 'NVIDIA GB300 NVL72'),
  row(
    'rtx-pro-6000',
    'RTX PRO 6000',
    'blackwell',
    [96, 1792],
    [503, 1007, 2015],
    [64, 8],
    'NVIDIA RTX PRO 6000 Blackwell',
  ),
  row('mi300x', 'MI300X', 'cdna3', [192, 5300], mi300Speeds, [448, 8], 'AMD Instinct MI300X'),
  row('mi325x', 'MI325X', 'cdna3', [256, 6000], mi300Speeds, [448, 8], 'AMD Instinct MI325X'),
  row('mi355x', 'MI355X', 'cdna4', [288, 8000], [2516, 5033, 10_066], [537, 8], 'AMD Instinct MI355X'),
]);

/** Words that say nothing, or what all GPUs of the name have. */
const noise =
  /nvidia|amd|instinct|tesla|hgx|dgx|tensorcore|blackwell|hopper|server|workstation|edition|gpu|oam|hbm\d?e?|sxm\d?(ac)?|nvl72/g;
/** PCIe is said only of cards that exist otherwise, too. */
const cards = /pcie$/;

/** What is left of a name: its letters and digits, without noise; and the memory that it names, in GB. */
function readName(name: string): { readonly key: string; readonly memoryGb: number | undefined } {
  const text = name.toLowerCase();
  const memory = /(?<![a-z\d])(\d+)\s*gi?b/.exec(text);
  const rest = memory === null ? text : text.replace(memory[0], ' ');
  return {
    key: rest.replace(/[^a-z0-9]+/g, '').replace(noise, ''),
    memoryGb: memory === null ? undefined : Number(memory[1]),
  };
}

/** Whether a GPU has the memory that a name gives; tools report up to a tenth more or less than makers do. */
const hasMemory = (gpu: Gpu, memoryGb: number | undefined): boolean =>
  memoryGb === undefined || Math.abs(memoryGb / gpu.memoryGb - 1) <= 0.1;

/**
 * Finds a GPU by its name. Case, separators, the maker, the socket and the kind of memory do not matter: `h100_sxm`,
 * `H100-SXM5-80GB` and `NVIDIA H100 80GB HBM3` are one. Where the memory decides and is not given, the larger is taken.
 *
 * @param path path of a refusal
 * @throws PolicyError `unknown_id`, with the nearest name
 */
export function gpuOf(name: string, path = 'gpu'): Gpu {
  const { key, memoryGb } = readName(name);
  const same = gpus.filter((gpu) => readName(gpu.id).key === key);
  const alike = same.length > 0 ? same : gpus.filter((gpu) => readName(gpu.id).key === key.replace(cards, ''));
  const found = alike.filter((gpu) => hasMemory(gpu, memoryGb)).at(-1);
  if (found !== undefined) return found;
  const keys = gpus.map((gpu) => readName(gpu.id).key);
  const meant = (alike[0] ?? gpus[keys.indexOf(nearest(key, keys) ?? '')])?.id;
  const hint = meant === undefined ? '' : ` (did you mean "${meant}"?)`;
  refuse('unknown_id', path, `one of ${gpus.map(({ id }) => id).join(', ')}${hint}`, name);
}
