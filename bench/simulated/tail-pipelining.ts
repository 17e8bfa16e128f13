/**
 * Shows tail batching and RolloutPipe joined on disaggregated pools, against each alone: seconds a trained prompt, kept
 * tokens, and what the trainer waits, the tables of src/recipes/rolloutpipe/README.md.
 * `npx tsx bench/simulated/tail-pipelining.ts [--engines 1,4] [--seeds 3]`
 */
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { bundledTraces, readTraceFile } from '../../src/cli/files/traces.ts';
import type { NamedWorkload } from '../../src/cli/job/workloads.ts';
import {
  cgpScheduler,
  comparePools,
  poolsTailScheduler,
  poolsTaskIds,
  rolloutpipeJob,
  rolloutpipeScheduler,
  rolloutpipeWorkload,
  serialBaseline,
} from '../../src/sim/index.ts';
import { traceWorkload } from '../../src/sim/workload/of-trace.ts';

const { values } = parseArgs({
  options: { engines: { type: 'string', default: '1,4' }, seeds: { type: 'string', default: '3' } },
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => 1 + index);
const draw = { resampling: 'copula', correlation: 0.3, capTokens: 16_384 } as const;
const workloads: [string, NamedWorkload][] = [
  ...poolsTaskIds.map((task): [string, NamedWorkload] => [task, (seed) => rolloutpipeWorkload(task, seed)]),
  ...bundledTraces().map((path): [string, NamedWorkload] => [
    basename(path, '.jsonl'),
    traceWorkload(readTraceFile(path), draw),
  ]),
];
const schedulers = [
  serialBaseline,
  cgpScheduler,
  rolloutpipeScheduler(14),
  rolloutpipeScheduler('auto'),
  poolsTailScheduler(false),
  poolsTailScheduler(true),
  poolsTailScheduler(true, 14),
  poolsTailScheduler(true, 'auto'),
];

for (const engines of values.engines.split(',').map(Number)) {
  console.log(`engines: ${engines}`);
  const job = rolloutpipeJob(32, { engines });
  for (const [name, workload] of workloads) {
    const compared = comparePools({ job, workload, rounds: 10, seeds, schedulers, timeline: false });
    for (const one of compared.schedulers) {
      const perPrompt = one.mainSeconds.value / job.groupsPerRound;
      const cells = [
        perPrompt.toFixed(2),
        (100 * one.reduction.value).toFixed(1),
        one.keptTokenRatio.toFixed(3),
        (100 * one.computeWaitingRatio).toFixed(0),
        one.longShare.toFixed(2),
        one.rolloutSeconds.toFixed(0),
        one.computeSeconds.toFixed(0),
        one.meanWidth?.toFixed(0) ?? '-',
      ];
      console.log([name.padEnd(24), one.label.padEnd(24), ...cells.map((cell) => cell.padStart(7))].join(' '));
    }
  }
}
