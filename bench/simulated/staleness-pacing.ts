/**
 * Shows what staleness-pacing is worth beside an asynchronous trainer, against discarding what is too old: trained groups and tokens a
 * second, wasted tokens and lag, for η = 1, 2 and 4. Half of the GPUs of a preset generate, half train. Discarding gets the
 * concurrency, an eighth of a batch or twice that and so on, beyond which it gains less than 0.5 %. `oracle` is
 * pacing that knows which prompts are long, `predicted` the same with predictions (σ 0.5). Prints the table of
 * docs/which-tail-policy.md. `npx tsx bench/simulated/staleness-pacing.ts [seeds] [trace...]`, by default 5 and the shipped traces.
 */
import { basename } from 'node:path';
import { readTraceFile } from '../../src/cli/files/traces.ts';
import { create } from '../../src/core/machine/start.ts';
import { type StalenessPacingInput, stalenessPacing } from '../../src/policies/staleness-pacing/index.ts';
import { discarding } from '../../src/sim/asynchronous/discarding.ts';
import { type AsynchronousJob, type AsynchronousRun, simulateAsynchronous } from '../../src/sim/asynchronous/driver.ts';
import type { DrivenPolicy } from '../../src/sim/cluster/event-loop.ts';
import { withOneStepOff } from '../../src/sim/colocated/one-step-off.ts';
import { bootstrap } from '../../src/sim/comparison/statistics.ts';
import { jobPreset } from '../../src/sim/models/presets.ts';
import { marginalWorkload, pooledQuantile } from '../../src/sim/workload/marginal.ts';
import { withPredictions } from '../../src/sim/workload/predicted.ts';
import { tracedWorkload } from '../../src/sim/workload/traced.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';
import { longestFirst, longShares } from './oracles/staleness-pacing.ts';

const shipped = ['castillo-qwen2.5-7b-instruct-1m', 'castillo-qwen2.5-32b-instruct', 'servegen-deepseek-r1'];
const [seedCount = '5', ...given] = process.argv.slice(2);
const seeds = Array.from({ length: Number(seedCount) }, (_, index) => index + 1);
const paths = given.length > 0 ? given : shipped.map((name) => `examples/traces/${name}.jsonl`);
const options = { warmUp: 6, batches: 24 };

interface Lengths {
  readonly name: string;
  readonly preset: string;
  readonly workload: (seed: number, capTokens: number) => Workload;
}

function lengthsOf(path: string): Lengths {
  const { trace } = readTraceFile(path);
  const name = basename(path, '.jsonl');
  if (trace.kind === 'prompts') {
    const { prompts } = trace;
    const longest = Math.max(...prompts.flatMap(({ responses }) => responses.map(({ tokens }) => tokens)));
    const preset = longest > 16_384 ? 'qwen2.5-32b-32k' : 'qwen2.5-14b-16k';
    return { name, preset, workload: (seed, capTokens) => tracedWorkload({ name, prompts, capTokens, seed }) };
  }
  if (trace.kind !== 'quantiles') throw new Error(`${path}: expected a trace of prompts, or quantiles`);
  const responseTokens = pooledQuantile(trace.rows, 'outputTokens');
  const promptTokens = pooledQuantile(trace.rows, 'inputTokens');
  const lengths = { name, responseTokens, promptTokens, correlation: 0.3 };
  return {
    name,
    preset: 'qwen2.5-14b-16k',
    workload: (seed, capTokens) => marginalWorkload({ ...lengths, capTokens, seed }),
  };
}

type Rule = () => DrivenPolicy;
const perSecond = (run: AsynchronousRun): number => run.groups / run.seconds;
const mean = (runs: readonly AsynchronousRun[], of: (run: AsynchronousRun) => number): number =>
  runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
const percent = (value: number, digits = 0): string => `${(100 * value).toFixed(digits)} %`;
const waste = (runs: readonly AsynchronousRun[]): number =>
  mean(runs, ({ tokens, wastedTokens }) => wastedTokens / (tokens + wastedTokens));

/** What a rule reaches, as a share of what discarding does, with the interval of the groups over the seeds. */
function shares(runs: readonly AsynchronousRun[], base: readonly AsynchronousRun[]): string[] {
  const pairs = runs.map((run, index) => ({ run, base: base[index]! }));
  const of = (value: (run: AsynchronousRun) => number) =>
    bootstrap(
      pairs,
      (cases) =>
        mean(
          cases.map(({ run }) => run),
          value,
        ) /
        mean(
          cases.map(({ base: one }) => one),
          value,
        ),
      { seed: 1 },
    );
  const groups = of(perSecond);
  const tokens = of((run) => run.tokens / run.seconds);
  const interval = `${(100 * groups.low).toFixed(0)}–${(100 * groups.high).toFixed(0)}`;
  if (waste(runs) > 0) throw new Error('tokens were discarded');
  return [`${percent(groups.value)} (${interval})`, percent(tokens.value), mean(runs, (run) => run.meanLag).toFixed(1)];
}

function row(
  { name, preset, workload }: Lengths,
  groupsPerBatch: number,
  responsesPerPrompt: number,
  maxStaleness: number,
) {
  const { job: whole, capTokens } = jobPreset(preset);
  const { engines, cost } = withOneStepOff(whole);
  const job: AsynchronousJob = { engines, cost, groupsPerBatch, responsesPerPrompt };
  const play = (rule: Rule, order = (given: Workload): Workload => given): AsynchronousRun[] =>
    seeds.map((seed) => simulateAsynchronous(job, rule(), order(workload(seed, capTokens)), options));
  const paced = (more: Partial<StalenessPacingInput>) => () =>
    create(stalenessPacing, { groupsPerBatch, maxStaleness, ...more }, { validate: false }) as DrivenPolicy;
  const pacing = (more: Partial<StalenessPacingInput> = {}): AsynchronousRun[] => play(paced(more));
  const batches = options.warmUp + options.batches + maxStaleness + 1;
  /** The best order of each seed, for pacing that knows or expects lengths. */
  const knowing = (predict: 'oracle' | 'noisy'): AsynchronousRun[] => {
    const runs = longShares.map((share) =>
      play(paced({}), (given) =>
        longestFirst(withPredictions(given, { predict, responsesPerPrompt }), { groupsPerBatch, share, batches }),
      ),
    );
    if (predict === 'noisy')
      return runs.reduce((one, other) => (mean(other, perSecond) > mean(one, perSecond) ? other : one));
    return seeds.map((_, index) =>
      runs.map((each) => each[index]!).reduce((one, other) => (perSecond(other) > perSecond(one) ? other : one)),
    );
  };
  let best: AsynchronousRun[] = [];
  let concurrency = groupsPerBatch / 8;
  for (; concurrency <= 2 * groupsPerBatch; concurrency *= 2) {
    const runs = play(() => discarding({ groupsPerBatch, maxStaleness, concurrency }));
    const isBetter = best.length === 0 || mean(runs, perSecond) > 1.005 * mean(best, perSecond);
    if (!isBetter) break;
    best = runs;
  }
  const maxGroups = 1.5 * groupsPerBatch;
  const [plain, known, expected] = [pacing(), knowing('oracle'), knowing('noisy')];
  const busy = (runs: readonly AsynchronousRun[]): string =>
    percent(Math.min(1, 1 - mean(runs, (run) => run.trainerWaits)));
  const cells = [
    ...[name, `${groupsPerBatch} × ${responsesPerPrompt}`, `${maxStaleness}`],
    ...[mean(best, perSecond).toFixed(3), percent(waste(best))],
    ...shares(plain, best).slice(0, 2),
    ...shares(pacing({ maxGroups }), best),
    ...shares(pacing({ maxGroups, windowGroups: groupsPerBatch }), best).slice(0, 1),
    shares(known, best)[0],
    percent(mean(plain, perSecond) / mean(known, perSecond)),
    percent(mean(expected, perSecond) / mean(known, perSecond)),
    `${busy(plain)}, ${busy(known)}`,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

const head = [
  ...['lengths', 'P × R', 'η', 'discarding: groups/s', 'wasted'],
  ...['pacing: groups', 'tokens', '`maxGroups` 1.5 P: groups', 'tokens', 'lag', 'and W = P: groups'],
  ...['oracle: groups', 'pacing: of possible', 'predicted: of possible', 'trainer busy: pacing, oracle'],
];
for (const cells of [head, head.map(() => '---')]) console.log(`| ${cells.join(' | ')} |`);
for (const path of paths) {
  const lengths = lengthsOf(path);
  for (const [groups, responses] of [
    [64, 16],
    [64, 8],
  ] as const)
    for (const maxStaleness of [1, 2, 4]) row(lengths, groups, responses, maxStaleness);
}
