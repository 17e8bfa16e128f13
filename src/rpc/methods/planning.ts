/** Plans that are computed beside the thread that answers events; without it, that thread computes them. */

/** A plan to compute. */
export interface PlanJob {
  /** Id of the planner. */
  readonly planner: string;
  /** Its input, not yet checked. */
  readonly input: unknown;
  /** Seconds from now, > 0, after which a search ends with the best plan so far. */
  readonly deadlineSeconds?: number | undefined;
  /** Aborted when nobody waits for the plan any more. */
  readonly signal?: AbortSignal | undefined;
}

/** JSON that is sent as it is, without being read and written again. */
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
