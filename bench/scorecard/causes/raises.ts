/**
 * Shows the raises of TP in the setting of RollPacker's Figure 13a with one term changed at a time, against the paper's:
 * `npx tsx bench/scorecard/causes/raises.ts`. A rollout is simulated at each TP and step, and the policy chooses among them; so every
 * term of the engines goes with every term of the policy. Keeps what docs/reproduction.md shows in raises.json.
 */
import { writeFileSync } from 'node:fs';
import { adaptiveTp, create } from '../../../src/index.ts';
import { gpuIdsOf } from '../../../src/sim/colocated/cluster.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import type { Job } from '../../../src/sim/colocated/job.ts';
import { profileOf } from '../../../src/sim/colocated/profile.ts';
import { synchronousBaseline } from '../../../src/sim/colocated/scheduler.ts';
import { mean } from '../../support.ts';
import { type Growth, growingWith, growthSteps } from '../growing.ts';
import { farthest, type KeptRaises, type Raises, raisesFile } from './raises-kept.ts';
import { before, engineTerms, type PolicyTerm, policyTerms } from './raises-terms.ts';

const conflict = (a: Partial<Growth>, b: Partial<Growth>): boolean => Object.keys(a).some((key) => key in b);

/** Rollouts of all steps at every TP. */
function rolloutsOf(growth: Growth) {
  const { job, workload } = growingWith(growth);
  const lengths = workload(1);
  const { promptsPerRound, responsesPerPrompt, hardware } = job;
  const steps = new Map(
    hardware!.costs.map(({ tp, cost }) => {
      const at: Job = { ...job, engines: (job.engines * job.cost.gpus) / tp, cost };
      const options = { prompts: growthSteps * promptsPerRound, seed: 1, timeline: false };
      return [tp, simulate(at, synchronousBaseline(at), lengths, options).steps];
    }),
  );
  const loads = Array.from({ length: growthSteps }, (_, step) => {
    const prompts = Array.from({ length: promptsPerRound }, (_, index) =>
      lengths.prompt(step * promptsPerRound + index),
    );
    const tokens = prompts.flatMap((one) => Array.from({ length: responsesPerPrompt }, (_, k) => one.sample(k).tokens));
    const promptTokens = mean(prompts.map((one) => one.promptTokens));
    return { responses: tokens.length, promptTokens, responseTokens: mean(tokens), longestTokens: Math.max(...tokens) };
  });
  return { job, steps, loads };
}

/** What the policy does on these rollouts; with `best`, the best TP of each step in its place. */
function raisesOf(
  { job, steps, loads }: ReturnType<typeof rolloutsOf>,
  terms: readonly string[],
  policy: PolicyTerm | 'best',
): Raises {
  const seconds = (step: number, tp: number): number => steps.get(tp)![step]!.rolloutSeconds;
  const { kvHeads, modelBytes, gpuMemoryBytes, memoryUtilization } = job.hardware!;
  const gpuIds = gpuIdsOf(job);
  const servers = [0, 8].map((from) => ({ serverId: `server-${from}`, gpuIds: gpuIds.slice(from, from + 8) }));
  const given = { servers, kvHeads, modelBytes, gpuMemoryBytes, memoryUtilization, profile: profileOf(job.hardware!) };
  const planner = create(adaptiveTp, {
    ...given,
    startTp: { short: 1, long: 1 },
    ...(policy === 'best' ? {} : policy),
  });
  const kind = 'short';
  const reason = { code: 'queue_below_threshold', queued: 0, promptsPerRound: job.promptsPerRound } as const;
  planner.send({ type: 'round.planned', at: 0, roundId: 'r0', kind, weightVersion: 0, queued: [], reason });
  let tp = 1;
  const tps = loads.map((workload, step) => {
    if (policy === 'best') return [...steps.keys()].reduce((a, b) => (seconds(step, b) < seconds(step, a) ? b : a));
    const now = tp;
    const { preemptions } = steps.get(now)![step]!;
    const finished = { type: 'step.finished', at: step, roundId: `r${step}`, kind, tp: now, preemptions } as const;
    for (const decision of planner.send({ ...finished, seconds: seconds(step, now), workload })) {
      if (decision.type === 'kind-tp.set') tp = decision.tp;
    }
    return now;
  });
  const firstAt = (least: number): number => tps.findIndex((one) => one >= least) + 1 || growthSteps + 1;
  const sum = (at: (step: number) => number): number => tps.reduce((all, _, step) => all + at(step), 0);
  const gain = sum((step) => seconds(step, 1)) / sum((step) => seconds(step, tps[step]!));
  return { terms, first: firstAt(2), second: firstAt(4), gain: Number(gain.toPrecision(3)) };
}

function main(): void {
  const all: Raises[] = [];
  const base = { memoryShare: before };
  const growths: (readonly [string[], Growth])[] = [[[], base]];
  engineTerms.forEach(([name, term], at) => {
    growths.push([[name], { ...base, ...term }]);
    for (const [other, more] of engineTerms.slice(at + 1)) {
      if (!conflict(term, more)) growths.push([[name, other], { ...base, ...term, ...more }]);
    }
  });
  const guide = ['lengths even from 0 to the cap', '0.6 of the memory for engines', '512 responses a step'];
  growths.push([guide, { spread: 'even', memoryShare: 0.6, responsesPerPrompt: 4 }]);
  for (const [names, growth] of growths) {
    const rollouts = rolloutsOf(growth);
    all.push(raisesOf(rollouts, names, {}));
    for (const [name, policy] of policyTerms) all.push(raisesOf(rollouts, [...names, name], policy));
    if (names.length === 0) all.push(raisesOf(rollouts, ['the best TP of each step, known before it'], 'best'));
    console.log(`${growths.findIndex(([one]) => one === names) + 1} of ${growths.length}`);
  }
  const of = (count: number): Raises[] => all.filter(({ terms }) => terms.length === count);
  const nearest = (count: number): Raises[] =>
    of(count)
      .sort((a, b) => farthest(a) - farthest(b))
      .slice(0, 3);
  const rows = [...of(0), ...of(1), ...nearest(2), ...nearest(3), ...nearest(4).slice(0, 1)];
  const kept = { pairs: of(2).length, threes: of(3).length - 1, rows } satisfies KeptRaises;
  writeFileSync(raisesFile, `${JSON.stringify(kept, null, 1)}\n`);
}

main();
