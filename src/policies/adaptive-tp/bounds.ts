/** The degrees that a job allows, and the replicas that a degree makes. */
import type { GpuServer, ReplicaGroup } from '../../schemas/parallelism.ts';

/** A tensor-parallel degree, with the expert-parallel degree inside it if experts are spread. */
export interface Parallelism {
  /** Tensor-parallel degree: GPUs of one replica. */
  readonly tp: number;
  /** Expert-parallel degree inside a replica; divides the TP. */
  readonly ep?: number | undefined;
}

/** Limits that decide which degrees of TP and EP are open to a kind of round. */
export interface Bounds {
  /** Servers with their GPUs: a replica does not span two of them. */
  readonly servers: readonly GpuServer[];
  /** KV heads of the model: the TP must divide them. */
  readonly kvHeads: number;
  /** Bytes of the weights, all shards together. */
  readonly modelBytes: number;
  /** Memory of one GPU, in bytes. */
  readonly gpuMemoryBytes: number;
  /** Share of it that weights and KV cache may fill, above 0 and at most 1. */
  readonly memoryUtilization: number;
  /** Bytes of KV that one sequence of full length needs: every replica must have room for it. */
  readonly sequenceBytes: number;
  /** Least TP, ≥ 1. */
  readonly minTp: number;
  /** Most TP; that of the largest server if absent. */
  readonly maxTp?: number | undefined;
}

/**
 * Returns the TP degrees, ascending: powers of two that divide the GPUs of every server (a replica never spans two, and
 * none is left over) and the KV heads, between the bounds, with the weights and one longest sequence in the memory. If
 * a degree is one of them, every power of two from the first to it is.
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

/** Returns a reported parallelism as the policy counts it: EP only where `experts` is given, and 1 if it is absent. */
export function reported({ tp, ep = 1 }: Parallelism, experts: number | undefined): Parallelism {
  return experts === undefined ? { tp } : { tp, ep };
}

/** Returns the replicas of a degree: neighbouring GPUs of one server each, in the order of servers and GPUs. */
export function replicasOf(servers: readonly GpuServer[], tp: number): ReplicaGroup[] {
  const replicas: ReplicaGroup[] = [];
  for (const { serverId, gpuIds } of servers) {
    for (let at = 0; at < gpuIds.length; at += tp) {
      replicas.push({ replica: replicas.length, serverId, gpuIds: gpuIds.slice(at, at + tp) });
    }
  }
  return replicas;
}

/** Whether two are the same. */
export function isSame(a: Parallelism, b: Parallelism): boolean {
  return a.tp === b.tp && a.ep === b.ep;
}
