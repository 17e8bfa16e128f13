// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `flex-ulysses`: its input and its plan. */
import type { LengthFunction } from '../messages/objects.ts';

/** Input of `flex-ulysses`, as a caller writes it. */
export interface FlexUlyssesInput {
  /** Tokens of each sequence of the batch, 0 to 1e9. Each: a whole number. */
  lengths: number[];
  /** Devices, numbered from 0, neighbours beside each other. A whole number, 1 to 65,536. */
  devices: number;
  /**
   * Largest sharding degree; degrees are the powers of two up to it that divide the devices and the heads. A whole
   * number, 1 to 65,536.
   *
   * @defaultValue `8`
   */
  maxDegree?: number | undefined;
  /**
   * Query heads of the model: a degree divides them, as each device takes whole heads; no limit if absent. A whole
   * number, 1 to 65,536.
   */
  attentionHeads?: number | undefined;
  /**
   * Key and value heads: a degree divides them, or is a multiple of them (then they are repeated). A whole number, 1 to
   * 65,536.
   */
  kvHeads?: number | undefined;
  /**
   * Devices of one node; the all-to-all of a group that does not fit into one node costs more. A whole number, 1 to
   * 65,536.
   *
   * @defaultValue `8`
   */
  devicesPerNode?: number | undefined;
  /**
   * Most tokens of a device, relative to the mean over all devices (α in the paper). A number, 1 to 1,000,000.
   *
   * @defaultValue `1.1`
   */
  memorySlack?: number | undefined;
  /** Most tokens of a device; stands in place of `memorySlack`. A number, 0 to 1,000,000,000,000,000. */
  memoryCapTokens?: number | undefined;
  /**
   * What becomes of a plan that does not keep `memoryCapTokens`: it is refused, or given, with `memoryRelaxed`.
   *
   * @defaultValue `'refuse'`
   */
  overCap?: 'refuse' | 'allow' | undefined;
  /**
   * How much more compute than the best balance needs a device may have, relative, to save communication. A number, 0
   * to 10.
   *
   * @defaultValue `0.01`
   */
  balanceTolerance?: number | undefined;
  /**
   * How long `search` looks for less communication: a budget of steps, the same on every machine.
   *
   * @defaultValue `'default'`
   */
  effort?: 'fast' | 'default' | 'thorough' | undefined;
  /**
   * Most steps of `search`, a few nanoseconds each; by `effort` and the number of sequences if absent. A whole number,
   * 1 to 10,000,000,000,000.
   */
  maxSteps?: number | undefined;
  /**
   * `search`: the best plan; `paper`: Algorithms 2 and 3 of FlexRL; the others are baselines.
   *
   * @defaultValue `'search'`
   */
  strategy?: 'search' | 'paper' | 'bucketing' | 'karmarkar-karp' | 'ulysses' | undefined;
  /**
   * The one degree of `strategy: ulysses`, which must be admissible; the largest if absent. A whole number, 1 or more.
   */
  ulyssesDegree?: number | undefined;
  /** A longer sequence runs alone, 0 to 1e9; `packCapTokens`, given or not, if absent. A whole number. */
  packThresholdTokens?: number | undefined;
  /**
   * Most tokens of a pack of several sequences, at least the threshold; if absent a quarter of a top group. A whole
   * number, 0 to 1,000,000,000.
   */
  packCapTokens?: number | undefined;
  /**
   * Images or frames of each sequence, as many numbers as `lengths` has: they are spread over the devices. Each: a
   * whole number, 0 to 1,000,000,000.
   */
  frames?: number[] | undefined;
  /** What a sequence costs; the proxies of the paper if absent. */
  costs?: CostModelInput | undefined;
  /** An earlier plan, for a batch that has changed little: the search starts from its assignments. */
  previous?:
    | {
        /** Where each sequence went, by its index in `lengths`. */
        assignments: SequenceAssignment[];
        /** Not read; it is here so that a plan can be given back whole. */
        bounds?: unknown;
        /** Not read; it is here so that a plan can be given back whole. */
        limits?: unknown;
        /** Not read; it is here so that a plan can be given back whole. */
        metrics?: unknown;
        /** Not read; it is here so that a plan can be given back whole. */
        packs?: unknown;
        /** Not read; it is here so that a plan can be given back whole. */
        order?: unknown;
        /** Not read; it is here so that a plan can be given back whole. */
        schedule?: unknown;
        /** Not read; it is here so that a plan can be given back whole. */
        vision?: unknown;
        /** Not read; it is here so that a plan can be given back whole. */
        memoryRelaxed?: unknown;
        /** Not read; it is here so that a plan can be given back whole. */
        cut?: unknown;
      }
    | undefined;
}

/** Input of `flex-ulysses`, its defaults filled in. */
export interface FlexUlyssesSettings
  extends Omit<FlexUlyssesInput, 'maxDegree' | 'devicesPerNode' | 'memorySlack' | 'overCap' | 'balanceTolerance' |
      'effort' | 'strategy' | 'costs'> {
  /**
   * Largest sharding degree; degrees are the powers of two up to it that divide the devices and the heads. A whole
   * number, 1 to 65,536.
   */
  maxDegree: number;
  /**
   * Devices of one node; the all-to-all of a group that does not fit into one node costs more. A whole number, 1 to
   * 65,536.
   */
  devicesPerNode: number;
  /** Most tokens of a device, relative to the mean over all devices (α in the paper). A number, 1 to 1,000,000. */
  memorySlack: number;
  /** What becomes of a plan that does not keep `memoryCapTokens`: it is refused, or given, with `memoryRelaxed`. */
  overCap: 'refuse' | 'allow';
  /**
   * How much more compute than the best balance needs a device may have, relative, to save communication. A number, 0
   * to 10.
   */
  balanceTolerance: number;
  /** How long `search` looks for less communication: a budget of steps, the same on every machine. */
  effort: 'fast' | 'default' | 'thorough';
  /** `search`: the best plan; `paper`: Algorithms 2 and 3 of FlexRL; the others are baselines. */
  strategy: 'search' | 'paper' | 'bucketing' | 'karmarkar-karp' | 'ulysses';
  /** What a sequence costs; the proxies of the paper if absent. */
  costs: CostModel;
}

/** Plan of `flex-ulysses`. */
export interface FlexUlyssesPlan {
  /** Where each sequence goes, in the order of `lengths`. */
  assignments: SequenceAssignment[];
  /** How good a plan could be at best. */
  bounds: {
    /** No plan within the memory limit has a smaller `metrics.maxCompute`. A number, 0 or more. */
    compute: number;
    /** No plan within both limits has a smaller `metrics.communication`. A number, 0 or more. */
    communication: number;
  };
  /** What the plan was held to. */
  limits: {
    /** Most compute of a device that the plan was held to. A number, 0 or more. */
    compute: number;
    /** Most tokens of a device that the plan was held to. A number, 0 or more. */
    memoryTokens: number;
  };
  /** How good this one is. */
  metrics: {
    /** Compute of the device that has most, in the unit of the cost model. A number, 0 or more. */
    maxCompute: number;
    /** Mean over the devices. A number, 0 or more. */
    meanCompute: number;
    /** Tokens of the device that has most: the sum of length ÷ degree. A number, 0 or more. */
    maxMemoryTokens: number;
    /** Cost of sharding, summed over the sequences. A number, 0 or more. */
    communication: number;
    /**
     * Tokens that leave their device in one all-to-all, over all devices: length · (p − 1) ÷ p. A number, 0 or more.
     */
    traffic: number;
    /** Sequences with a degree above 1. A whole number, 0 or more. */
    sharded: number;
    /**
     * With `frames`: those that a device encodes that has no part of their sequence; no even spread has fewer. A whole
     * number, 0 or more.
     */
    movedFrames?: number | undefined;
  };
  /** What runs as one, highest degree first, then by group, then longest first. */
  packs: SequencePack[];
  /** Of each device, indices in `packs`: sharded ones in the order of their collectives, then the others. */
  order: number[][];
  /** Predicted times of one forward pass of one attention layer, by `costs.timing`. */
  schedule: ExecutionSchedule;
  /** With `frames`: which frames each device encodes. */
  vision?: VisionShare[] | undefined;
  /** Whether a device has more tokens than asked for; by `search` only where no plan can do better. */
  memoryRelaxed: boolean;
  /** Only where the search ended early: why, and what was cut short. */
  cut?:
    | {
        /** `steps`: the same on every machine; `deadline`: another run may give another plan. */
        by: 'steps' | 'deadline';
        /** What could be better: `limits.compute`, or `metrics.communication`. */
        parts: ('balance' | 'communication')[];
      }
    | undefined;
}

/** What a sequence costs at a sharding degree. */
export interface CostModelInput {
  /**
   * Work of a whole sequence, by its length, in any unit; at degree p each device has 1/p of it.
   *
   * @defaultValue `{"perTokenSquared":1}`
   */
  compute?: LengthFunction | undefined;
  /**
   * What an all-to-all between nodes costs, relative to one inside a node (γ in the paper). A number, 0 to 1,000,000.
   *
   * @defaultValue `16`
   */
  crossNodeFactor?: number | undefined;
  /** Cost of sharding by degree, for every degree from 2; stands in place of length · (p − 1) ÷ p². */
  communication?:
    | {
        /** Sharding degree. A whole number, 2 or more. */
        degree: number;
        /** What sharding costs at this degree, by sequence length. */
        cost: LengthFunction;
      }[]
    | undefined;
  /**
   * Seconds of attention and all-to-alls, for `schedule` only: coefficients, or a cluster of the paper.
   *
   * @defaultValue `'H800'`
   */
  timing?: TimingModel | undefined;
  /**
   * What `bucketing` and `karmarkar-karp` balance; as in verl if absent. Metrics are in `compute` always.
   *
   * @defaultValue `{"perToken":24576,"perTokenSquared":1}`
   */
  workload?: LengthFunction | undefined;
}

/** What a sequence costs at a sharding degree. */
export interface CostModel extends Pick<CostModelInput, 'communication'> {
  /** Work of a whole sequence, by its length, in any unit; at degree p each device has 1/p of it. */
  compute: LengthFunction;
  /**
   * What an all-to-all between nodes costs, relative to one inside a node (γ in the paper). A number, 0 to 1,000,000.
   */
  crossNodeFactor: number;
  /** Seconds of attention and all-to-alls, for `schedule` only: coefficients, or a cluster of the paper. */
  timing: TimingSettings;
  /** What `bucketing` and `karmarkar-karp` balance; as in verl if absent. Metrics are in `compute` always. */
  workload: LengthFunction;
}

/** Predicted times of the attention of a layer. */
export interface ExecutionSchedule {
  /** Until the last device is done, with all-to-alls behind computation. A number, 0 or more. In seconds. */
  makespanSeconds: number;
  /** Attention of the device that has most. A number, 0 or more. In seconds. */
  computeSeconds: number;
  /** Seconds until then in which a device does not compute: the mean over the devices. A number, 0 or more. */
  bubbleSeconds: number;
  /** `bubbleSeconds` ÷ `makespanSeconds`; 0 where there is nothing to do. A number, 0 to 1. */
  bubbleRatio: number;
  /** The same if every device ran its `order` from the front, one thing at a time. A number, 0 or more. In seconds. */
  serialSeconds: number;
}

/** Where one sequence goes. */
export interface SequenceAssignment {
  /** Index of the sequence in `lengths`. A whole number, 0 or more. */
  sequence: number;
  /** Sharding degree: how many devices share it. A whole number, 1 or more. */
  degree: number;
  /** Those devices, ascending: an aligned group of neighbours. Each: a whole number, 0 or more. */
  devices: number[];
}

/** Sequences of one group that run as one. */
export interface SequencePack {
  /** Sharding degree: how many devices share the pack. A whole number, 1 or more. */
  degree: number;
  /** Those devices, ascending: an aligned group of neighbours. Each: a whole number, 0 or more. */
  devices: number[];
  /** Indices in `lengths`, the longest first, ties by index. Each: a whole number, 0 or more. */
  sequences: number[];
  /** Tokens of its sequences together. A whole number, 0 or more. */
  tokens: number;
  /**
   * Tokens with the padding at its end: a multiple of `degree`, each device has an equal share. A whole number, 0 or
   * more.
   */
  paddedTokens: number;
  /** Compute of its sequences together: they do not attend to each other. A number, 0 or more. */
  work: number;
}

/** A preset, by its name, or coefficients. */
export type TimingModel =
  | 'H200'
  | 'H800'
  | {
      /** Attention on one device with all heads; degree p divides all but `perPack` by p; H800 if absent. */
      attentionSeconds?:
        | {
            /**
             * For each pack, whatever its size. A number, 0 to 1,000,000.
             *
             * @defaultValue `0`
             */
            perPack?: number | undefined;
            /**
             * For each token. A number, 0 to 1,000,000.
             *
             * @defaultValue `0`
             */
            perToken?: number | undefined;
            /**
             * For each token times the length of its sequence. A number, 0 to 1,000,000.
             *
             * @defaultValue `0`
             */
            perTokenSquared?: number | undefined;
          }
        | undefined;
      /** One all-to-all: of n tokens a device has n/p, and sends (p − 1)/p of these; H800 if absent. */
      allToAllSeconds?:
        | {
            /**
             * For each other device of the group, whatever is sent. A number, 0 to 1,000,000.
             *
             * @defaultValue `0`
             */
            perPeer?: number | undefined;
            /**
             * For each token that a device sends inside its node. A number, 0 to 1,000,000.
             *
             * @defaultValue `0`
             */
            perToken?: number | undefined;
            /**
             * For each token that a device sends to other nodes. A number, 0 to 1,000,000.
             *
             * @defaultValue `0`
             */
            perTokenBetweenNodes?: number | undefined;
            /**
             * For the square of the tokens that a device sends. A number, 0 to 1,000,000.
             *
             * @defaultValue `0`
             */
            perTokenSquared?: number | undefined;
          }
        | undefined;
    };

/** A preset, by its name, or coefficients. */
export type TimingSettings =
  | 'H200'
  | 'H800'
  | {
      /** Attention on one device with all heads; degree p divides all but `perPack` by p; H800 if absent. */
      attentionSeconds?:
        | {
            /** For each pack, whatever its size. A number, 0 to 1,000,000. */
            perPack: number;
            /** For each token. A number, 0 to 1,000,000. */
            perToken: number;
            /** For each token times the length of its sequence. A number, 0 to 1,000,000. */
            perTokenSquared: number;
          }
        | undefined;
      /** One all-to-all: of n tokens a device has n/p, and sends (p − 1)/p of these; H800 if absent. */
      allToAllSeconds?:
        | {
            /** For each other device of the group, whatever is sent. A number, 0 to 1,000,000. */
            perPeer: number;
            /** For each token that a device sends inside its node. A number, 0 to 1,000,000. */
            perToken: number;
            /** For each token that a device sends to other nodes. A number, 0 to 1,000,000. */
            perTokenBetweenNodes: number;
            /** For the square of the tokens that a device sends. A number, 0 to 1,000,000. */
            perTokenSquared: number;
          }
        | undefined;
    };

/** The frames that one device encodes. */
export interface VisionShare {
  /** The device. A whole number, 0 or more. */
  device: number;
  /** Frames that it encodes, by sequence ascending. */
  slices: {
    /** Index of the sequence in `lengths`. A whole number, 0 or more. */
    sequence: number;
    /** First frame of the slice, from 0 in the sequence. A whole number. */
    from: number;
    /** Frame behind its last one. A whole number, 0 or more. */
    to: number;
  }[];
  /** How many these are. A whole number, 0 or more. */
  frames: number;
}
