// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `gradient-renormalization`: its input and its plan. */

/** Input of `gradient-renormalization`, as a caller writes it. */
export interface GradientRenormalizationInput {
  /** All data-parallel replicas that take part in the collective, also those that have trained on nothing. */
  replicas: {
    /** Responses in it; one response that was cut into several rows is one. A whole number, 0 or more. */
    samples: number;
    /**
     * Tokens in it that the loss counts; needed with `unit: tokens` where there are samples. A whole number, 0 or more.
     */
    tokens?: number | undefined;
    /** Whole groups in it; needed with `unit: groups` where there are samples. A whole number, 0 or more. */
    groups?: number | undefined;
    /**
     * Sum of the weights of its samples, by which the loss multiplies each (`weight` of `prompt-selection`); needed
     * with `unit: weights` where there are samples. A number, 0 or more.
     */
    weights?: number | undefined;
    /** Its micro-batches, empty ones included; their counts add up to its own. */
    microBatches?:
      | {
          /** Responses in it; one response that was cut into several rows is one. A whole number, 0 or more. */
          samples: number;
          /**
           * Tokens in it that the loss counts; needed with `unit: tokens` where there are samples. A whole number, 0 or
           * more.
           */
          tokens?: number | undefined;
          /** Whole groups in it; needed with `unit: groups` where there are samples. A whole number, 0 or more. */
          groups?: number | undefined;
          /**
           * Sum of the weights of its samples, by which the loss multiplies each (`weight` of `prompt-selection`);
           * needed with `unit: weights` where there are samples. A number, 0 or more.
           */
          weights?: number | undefined;
        }[]
      | undefined;
  }[];
  /**
   * What the loss of the whole batch is a mean over; `constant`: its sum over samples ÷ `divisor`.
   *
   * @defaultValue `'samples'`
   */
  unit?: 'samples' | 'tokens' | 'groups' | 'weights' | 'constant' | undefined;
  /** What the sum over the batch is divided by; with `unit: constant` only. A number, 1e-9 or more. */
  divisor?: number | undefined;
  /**
   * What a replica (a micro-batch) computes over its own units; with `unit: constant` over samples.
   *
   * @defaultValue `'mean'`
   */
  reduction?: 'mean' | 'sum' | undefined;
  /**
   * What the all-reduce or reduce-scatter does over the replicas; DDP and FSDP take the mean.
   *
   * @defaultValue `'sum'`
   */
  collective?: 'sum' | 'mean' | undefined;
  /**
   * What the framework does over the micro-batches of a replica; `mean`: it divides by their number, empty ones
   * included.
   *
   * @defaultValue `'sum'`
   */
  accumulation?: 'sum' | 'mean' | undefined;
  /**
   * Whether micro-batches are added up already, so that none can get a factor of its own any more.
   *
   * @defaultValue `false`
   */
  accumulated?: boolean | undefined;
}

/** Input of `gradient-renormalization`, its defaults filled in. */
export interface GradientRenormalizationSettings extends Pick<GradientRenormalizationInput, 'replicas' | 'divisor'> {
  /** What the loss of the whole batch is a mean over; `constant`: its sum over samples ÷ `divisor`. */
  unit: 'samples' | 'tokens' | 'groups' | 'weights' | 'constant';
  /** What a replica (a micro-batch) computes over its own units; with `unit: constant` over samples. */
  reduction: 'mean' | 'sum';
  /** What the all-reduce or reduce-scatter does over the replicas; DDP and FSDP take the mean. */
  collective: 'sum' | 'mean';
  /**
   * What the framework does over the micro-batches of a replica; `mean`: it divides by their number, empty ones
   * included.
   */
  accumulation: 'sum' | 'mean';
  /** Whether micro-batches are added up already, so that none can get a factor of its own any more. */
  accumulated: boolean;
}

/** Plan of `gradient-renormalization`. */
export interface GradientRenormalizationPlan {
  /** For each replica: what its local gradient is multiplied by before the collective. Each: a number, 0 or more. */
  factors: number[];
  /**
   * For each micro-batch of each replica: what its gradient (or loss) is multiplied by instead, before it is added up;
   * a replica without micro-batches is one. Absent without micro-batches, or if they are accumulated.
   */
  microBatchFactors?: number[][] | undefined;
  /** Units of the whole batch, N; with `unit: constant` the divisor. A number above 0. */
  total: number;
}
