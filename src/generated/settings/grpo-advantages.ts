// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `grpo-advantages`: its input and its plan. */

/** Input of `grpo-advantages`, as a caller writes it. */
export interface GrpoAdvantagesInput {
  /** The groups, each of any size. */
  groups: AdvantageGroup[];
  /**
   * What is taken off a reward: the mean of its group, or of the others in it.
   *
   * @defaultValue `'group'`
   */
  baseline?: 'group' | 'leave-one-out' | undefined;
  /**
   * Whether the difference is divided by standard deviation + `epsilon`.
   *
   * @defaultValue `'std'`
   */
  normalization?: 'std' | 'none' | undefined;
  /**
   * Which standard deviation: over n − 1 (`sample`, as `torch.std`) or over n (`population`).
   *
   * @defaultValue `'sample'`
   */
  std?: 'sample' | 'population' | undefined;
  /**
   * Added to the standard deviation. A number, 0 or more.
   *
   * @defaultValue `0.000001`
   */
  epsilon?: number | undefined;
  /**
   * Population standard deviation of raw rewards up to which a group has zero variance. A number, 0 or more.
   *
   * @defaultValue `0.000001`
   */
  varianceTolerance?: number | undefined;
  /**
   * Advantage of the only response of a group, which has nothing to be compared with: 0, or its reward.
   *
   * @defaultValue `'zero'`
   */
  singleResponse?: 'zero' | 'reward' | undefined;
}

/** Input of `grpo-advantages`, its defaults filled in. */
export interface GrpoAdvantagesSettings extends Pick<GrpoAdvantagesInput, 'groups'> {
  /** What is taken off a reward: the mean of its group, or of the others in it. */
  baseline: 'group' | 'leave-one-out';
  /** Whether the difference is divided by standard deviation + `epsilon`. */
  normalization: 'std' | 'none';
  /** Which standard deviation: over n − 1 (`sample`, as `torch.std`) or over n (`population`). */
  std: 'sample' | 'population';
  /** Added to the standard deviation. A number, 0 or more. */
  epsilon: number;
  /** Population standard deviation of raw rewards up to which a group has zero variance. A number, 0 or more. */
  varianceTolerance: number;
  /** Advantage of the only response of a group, which has nothing to be compared with: 0, or its reward. */
  singleResponse: 'zero' | 'reward';
}

/** Plan of `grpo-advantages`. */
export interface GrpoAdvantagesPlan {
  /** In the order of the input. */
  groups: {
    /** As it was given. At most 512 characters. */
    groupId?: string | undefined;
    /** Responses that count: those with a reward. A whole number, 0 or more. */
    responses: number;
    /** Mean of their rewards; 0 if there are none. */
    mean: number;
    /** Their standard deviation, of the kind asked for; 0 for one response. */
    std: number;
    /** Whether their rewards are all the same; false for one response, which has no variance. */
    zeroVariance: boolean;
    /** The advantage of every sample, in the order of `rewards`; 0 without a reward. */
    advantages: number[];
  }[];
}

/** The responses of one prompt. */
export interface AdvantageGroup {
  /** Id of the group (its prompt), given by the host; echoed. At most 512 characters. */
  groupId?: string | undefined;
  /**
   * The raw reward of every training sample of the group; `null` where there is none, such as after a failure of its
   * environment: it counts in no statistic.
   */
  rewards: (number | null)[];
  /**
   * Which response each sample belongs to. Samples of one response (the pieces of a trajectory) share its reward and
   * count once; every sample is a response of its own if absent. Each: at most 512 characters.
   */
  responseIds?: string[] | undefined;
}
