/** Plans that are computed beside the thread that answers events. Without this, that thread computes plans. */

/** A plan to compute. */
export interface PlanJob {
  /** Id of the planner. */
  readonly planner: string;
  /** Input of the planner, not checked yet. */
  readonly input: unknown;
  /** Seconds from now, > 0, after which the search ends with its best plan so far. */
  readonly deadlineSeconds?: number | undefined;
  /** Aborted when nobody waits for the plan any more. */
  readonly signal?: AbortSignal | undefined;
}

/** JSON that is sent unchanged, without parsing and writing it again. */
export class JsonText {
  /** The text. */
  readonly json: string;

  /**
   * Takes the text of an answer.
   *
   * @param json - valid JSON
   */
  constructor(json: string) {
    this.json = json;
  }
}

/** Computes plans without holding up its caller; see {@link planThreads}. */
export interface Planning {
  /**
   * Computes a plan.
   *
   * @throws PolicyError `limit_exceeded` if there are too many plans, or if there is no plan at the deadline; and the errors of the
   *   planner
   */
  plan(job: PlanJob): Promise<JsonText>;
  /** Ends the plans that are computed. */
  close(): void;
}
