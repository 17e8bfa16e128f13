/** Computes the degrees that a job allows, and the replicas of a degree. */
import type { GpuServer, ReplicaGroup } from '../../schemas/parallelism.ts';

/** A tensor-parallel degree, with the expert-parallel degree inside it if experts are spread. */
export interface Parallelism {
  /** Tensor-parallel degree: GPUs of one replica. */
  readonly tp: number;
  /** Expert-parallel degree inside a replica; divides the TP. */
  readonly ep?: number | undefined;
}

/** Limits that decide which degrees of TP and EP a kind of round may use. */
export interface Bounds {
  /** Servers with their GPUs; a replica does not span two servers. */
  readonly servers: readonly GpuServer[];
  /** KV heads of the model; the TP must divide this number. */
  readonly kvHeads: number;
  /** Bytes of the weights, all shards together. */
  readonly modelBytes: number;
  /** Memory of one GPU, in bytes. */
  readonly gpuMemoryBytes: number;
  /** Share of GPU memory that weights and KV cache may fill, above 0 and at most 1. */
  readonly memoryUtilization: number;
  /** KV bytes of one sequence of full length: every replica must have room for it. */
  readonly sequenceBytes: number;
  /** Least TP, ≥ 1. */
  readonly minTp: number;
  /** Most TP; if absent, the number of GPUs of the largest server. */
  readonly maxTp?: number | undefined;
}

/**
 * Returns the possible TP degrees, ascending. These are powers of two between the bounds. They divide the GPUs of every server (a
 * replica never spans two servers, and no GPU is left over) and the KV heads, and the memory holds the weights and one sequence
 * of full length. The list has no gaps: every power of two from the first to the last is in it.
 */
export function degreesOf(bounds: Bounds): number[] {
  const { servers, kvHeads, minTp, maxTp = Number.POSITIVE_INFINITY } = bounds;
  const degrees: number[] = [];
  for (let tp = 1; tp <= maxTp; tp *= 2) {
    if (kvHeads % tp !== 0 || servers.some(({ gpuIds }) => gpuIds.length % tp !== 0)) break;
    const needed = (bounds.modelBytes + bounds.sequenceBytes) / tp;
    if (tp >= minTp && needed <= bounds.gpuMemoryBytes * bounds.memoryUtilization) degrees.push(tp);
  }
  return degrees;
}

/** Returns the EP degrees of a TP degree, ascending: powers of two that divide it and the experts. Empty without experts. */
export function expertDegreesOf(tp: number, experts: number | undefined): number[] {
  const degrees: number[] = [];
  if (experts === undefined) return degrees;
  for (let ep = 1; ep <= tp && tp % ep === 0 && experts % ep === 0; ep *= 2) degrees.push(ep);
  return degrees;
}

/** Returns a reported parallelism in the form of the policy: with EP only if `experts` is given; an absent EP is then 1. */
export function reported({ tp, ep = 1 }: Parallelism, experts: number | undefined): Parallelism {
  return experts === undefined ? { tp } : { tp, ep };
}

/** Returns the replicas of a degree, in the order of servers and GPUs; each has neighbouring GPUs of one server. */
export function replicasOf(servers: readonly GpuServer[], tp: number): ReplicaGroup[] {
  const replicas: ReplicaGroup[] = [];
  for (const { serverId, gpuIds } of servers) {
    for (let at = 0; at < gpuIds.length; at += tp) {
      replicas.push({ replica: replicas.length, serverId, gpuIds: gpuIds.slice(at, at + tp) });
    }
  }
  return replicas;
}

/** Whether two parallelisms are the same. */
export function isSame(a: Parallelism, b: Parallelism): boolean {
  return a.tp === b.tp && a.ep === b.ep;
}
