/**
 * Which GPUs an engine has, from the parallelism of a file. Tools write the same layout in several ways: TP may be that of the
 * attention, or that of the whole engine with the ranks of attention DP inside, and some files count TP × EP, or TP × attention DP,
 * twice. What is read here are counts of ranks alone; nothing depends on measured times.
 */

/** Counts of a file; 1 where it says nothing. */
export interface Ranks {
  readonly tensorParallel: number;
  readonly pipelineParallel: number;
  readonly attentionDataParallel: number;
  readonly moeTensorParallel: number;
  readonly moeExpertParallel: number;
  readonly concurrency: number;
}

/** An engine, and its clients. */
export interface Layout {
  /** GPUs of a pipeline stage. */
  readonly gpus: number;
  /** Data-parallel ranks of the attention among them. */
  readonly attentionRanks: number;
  /** Stages, one after the other. */
  readonly stages: number;
  readonly concurrency: number;
  /** How the counts were read where they may mean something else. */
  readonly assumed?: string;
}

/** What else the reading depends on. */
export interface LayoutContext {
  /** GPUs that are linked: a server, or a rack. */
  readonly gpusPerDomain: number;
  /** Whether the model has routed experts. */
  readonly isMixture: boolean;
  /** Whether the engine divides its TP among the ranks of the attention (SGLang, TensorRT-LLM), and does not multiply it (vLLM). */
  readonly dividesTensorParallel: boolean;
}

const replicas = 'ranks of data parallelism of a dense model are replicas';
const twiceDp = 'TP × attention DP is counted twice';
const twiceEp = 'TP × EP is counted twice';
const dividedTp = 'attention DP divides TP';
const byExperts = 'as many GPUs as ranks of experts';

type Read = Omit<Layout, 'stages'>;

/**
 * Reads the counts:
 *
 * - a dense model: TP GPUs; DP ranks are replicas, over which the clients are spread;
 * - TP = DP: as many GPUs, each a rank of the attention (`TP 8, DP 8, EP 8` on a server);
 * - TP × DP = MoE TP × EP with MoE TP ≥ EP, beyond a domain or with equal factors above 2: `TP 64, MoE TP 8, EP 8` is eight GPUs, since
 *   experts can have no more ranks than there are GPUs; `DP 16, EP 16` and `TP 16, EP 16` stay sixteen. Where the ranks of the
 *   attention were counted with them, the clients are those of one rank;
 * - MoE TP × EP = TP and DP divides it: the ranks are inside of TP, if the engine divides it;
 * - more ranks of experts than TP × DP: as many GPUs, the attention in ranks of TP;
 * - else TP × DP.
 */
export function layoutOf(ranks: Ranks, context: LayoutContext): Layout {
  return { ...read(ranks, context), stages: ranks.pipelineParallel };
}

function read(ranks: Ranks, { gpusPerDomain, isMixture, dividesTensorParallel }: LayoutContext): Read {
  const { tensorParallel: tp, attentionDataParallel: dp, moeTensorParallel: moeTp, moeExpertParallel: ep } = ranks;
  const { concurrency } = ranks;
  if (!isMixture) {
    if (dp === 1) return { gpus: tp, attentionRanks: 1, concurrency };
    return { gpus: tp, attentionRanks: 1, concurrency: concurrency / dp, assumed: replicas };
  }
  if (dp > 1 && tp === dp) return { gpus: tp, attentionRanks: dp, concurrency, assumed: twiceDp };
  const counted = tp * dp;
  const isBeyond = counted > gpusPerDomain;
  // One GPU has a rank of experts at most, so that EP GPUs or more are left.
  const isTwice = ep > 1 && counted === moeTp * ep && moeTp >= ep && (isBeyond || (moeTp === ep && ep > 2));
  if (isTwice) {
    const attentionRanks = Math.min(dp, moeTp);
    return { gpus: moeTp, attentionRanks, concurrency: concurrency * attentionRanks, assumed: twiceEp };
  }
  const isInside = dp > 1 && tp % dp === 0 && dividesTensorParallel && (moeTp * ep === tp || isBeyond);
  if (isInside && counted !== moeTp * ep) return { gpus: tp, attentionRanks: dp, concurrency, assumed: dividedTp };
  if (ep > counted && ep % tp === 0) return { gpus: ep, attentionRanks: ep / tp, concurrency, assumed: byExperts };
  return { gpus: counted, attentionRanks: dp, concurrency };
}
