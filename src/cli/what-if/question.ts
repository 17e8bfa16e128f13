/** A question about a log, as the command line and the page of `debug` ask it, and its answer. */
import { given } from '../../core/collections/given.ts';
import { oneOf } from '../../core/ids/nearest.ts';
import { isPolicyError, refuse, relocated } from '../../errors.ts';
import { basisOf, type JobBasis } from '../../sim/colocated/basis.ts';
import { type Change, jobOf, type OtherPolicy, otherPolicies, settingsOf, whatIfIn } from '../../sim/what-if/ask.ts';
import { beforeRounds, enginesAt, type LoggedJob } from '../../sim/what-if/logged-job.ts';
import type { WhatIf } from '../../sim/what-if/what-if.ts';
import { placeBy } from '../files/log-place.ts';
import { openLogs } from '../files/logs.ts';
import { readMeasured } from '../job/calibration/measured.ts';
import { saysCluster } from '../job/cluster.ts';
import { type JobOptions, jobOfOptions } from '../job/job.ts';
import { checkOwn, type OwnOptions, ownPolicies, schedulerOf } from '../job/own.ts';
import { seedsFrom } from '../job/simulation.ts';
import type { Progress } from '../terminal/progress.ts';

/** What is asked. */
export interface WhatIfQuestion extends JobOptions, Omit<OwnOptions, 'set'> {
  readonly at?: string;
  /** Settings, or fields of one (`retry.data`), each with its value. */
  readonly set: readonly (readonly [path: string, value: unknown])[];
  /** One that rollflex has for this, or one of the module `policies`. */
  readonly policy?: string;
  readonly session?: string;
  readonly seeds: number;
  readonly seed: number;
}

/** An answer, and the settings that it is about. */
export interface WhatIfAnswer {
  /** What the simulated job rests on. */
  readonly basis: JobBasis;
  /** What gives the costs that nobody has measured. */
  readonly costsOf: 'preset' | 'model';
  readonly name: string;
  /** The policy that takes over, if one does. */
  readonly otherPolicy: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Those of the log. */
  readonly config: unknown;
  readonly answer: WhatIf;
}

/** What shows how far an answer is: its steps, which Ctrl-C may end, and the share that is done. */
type Shower = Pick<Progress, 'step' | 'done'>;

/**
 * Answers. Throws as `whatIf` does; the errors of options name them.
 *
 * @param onSeed - receives, after each seed, what gives the answer by the seeds so far
 */
export async function answered(
  paths: readonly string[],
  options: WhatIfQuestion,
  progress?: Shower,
  onSeed: (soFar: () => WhatIfAnswer) => void = () => undefined,
): Promise<WhatIfAnswer> {
  const step = async <T>(work: () => T): Promise<T> => (progress === undefined ? work() : progress.step(work));
  const [log, second] = openLogs(paths);
  if (second !== undefined) refuse('invalid_input', 'log', 'one log', second.name);
  const { name, isEventLog } = log!;
  const { session, at, calibrate, seed, seeds } = options;
  const { id: otherPolicy, ...other } = await otherPolicyOf(options);
  if (session !== undefined && isEventLog) refuse('invalid_input', '--session', 'a decision log of a server', session);
  const logged = await step(() => naming({ log: name, session: '--session' }, () => jobOf(log!, session)));
  const { config } = logged.snapshot;
  const set = Object.fromEntries(options.set);
  const { job, capTokens } = jobOfOptions(onEngines(logged, options), await readMeasured(calibrate, {}));
  const place = at === undefined ? undefined : placeBy(at);
  const settings = other.scheduler === undefined ? set : {};
  const change = { settings, ...other, ...given({ at: place }), job, fits: calibrate === undefined, capTokens };
  const names = { settings: '--set', policy: `${name}: policy` };
  const onProgress = (share: number): void => {
    if (progress !== undefined) progress.done = share;
  };
  const whole = (answer: WhatIf): WhatIfAnswer => ({
    basis: basisOf(job),
    costsOf: saysCluster(options) ? 'model' : 'preset',
    name,
    otherPolicy,
    config,
    answer,
    settings: settingsOf(config, settings),
  });
  const asked = {
    ...change,
    onProgress,
    onSeed: (soFar: () => WhatIf) => onSeed(() => whole(soFar())),
    seeds: seedsFrom(seed, seeds),
  };
  return whole(await step(() => naming(names, () => whatIfIn(logged, asked))));
}

const isOther = (id: string): id is OtherPolicy => Object.hasOwn(otherPolicies, id);

/** The policy that takes over, and its id; null if none does. */
type Other = Pick<Change, 'policy' | 'scheduler' | 'predict'> & { readonly id: string | null };

/** Returns the policy that takes over, if one does. Throws `unknown_id`, and as `ownPolicies` and `schedulerOf`. */
async function otherPolicyOf(question: WhatIfQuestion): Promise<Other> {
  const { policies, policy, set, predict = 'none', predictSigma: sigma } = question;
  checkOwn({ ...question, set: [] });
  const modules = policies === undefined ? [] : await ownPolicies(policies);
  const own = modules.flatMap(({ definitions }) => definitions);
  const id = policy ?? (own.length === 1 ? own[0]!.id : undefined);
  if (id === undefined && own.length > 0)
    refuse(
      'invalid_input',
      '--policy',
      oneOf(
        own.map((one) => one.id),
        undefined,
      ),
      'none of them',
    );
  if (id === undefined || isOther(id)) {
    if (predict !== 'none') refuse('invalid_input', '--predict', '--policies with a policy that reads it', predict);
    return { id: id ?? null, ...given({ policy: id }) };
  }
  const definition = own.find((one) => one.id === id);
  if (definition === undefined) {
    const known = [...Object.keys(otherPolicies), ...own.map((one) => one.id)];
    return refuse('unknown_id', '--policy', oneOf(known, id), id);
  }
  const { path } = modules.find(({ definitions }) => definitions.includes(definition))!;
  // What does not fit is said before a long log is read.
  const scheduler: Change['scheduler'] = (shape) => schedulerOf(path, definition, set, shape);
  scheduler({ promptsPerRound: 1, responsesPerPrompt: 1 });
  return { id, scheduler, ...(predict === 'none' ? {} : { predict: { predict, ...given({ sigma }) } }) };
}

/** Returns the options, of a cluster with as many engines as the log has. Throws `invalid_input` where the GPUs make others. */
function onEngines(logged: LoggedJob, options: WhatIfQuestion): WhatIfQuestion {
  const engines = enginesAt(logged, beforeRounds(logged)).length;
  if (engines === 0 || !saysCluster(options)) return options;
  const { gpus, tp } = options;
  const isWhole = gpus === undefined || (tp === undefined ? gpus % engines === 0 : gpus === engines * tp);
  if (!isWhole) {
    const each = tp === undefined ? 'a multiple' : `${engines * tp}`;
    refuse('invalid_input', '--gpus', `${each}, for the ${engines} engines of the log`, gpus);
  }
  return { ...options, engines };
}

/** Gives errors the names that the user knows. */
function naming<T>(names: Readonly<Record<string, string>>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isPolicyError(error) || !Object.hasOwn(names, error.path)) throw error;
    throw relocated(error, names[error.path]!);
  }
}
