/** The options of `rollflex sweep`, and its help. */
import { Command, Option } from 'commander';
import { poolsTaskIds } from '../../sim/pools/presets.ts';
import { modelOptions } from '../job/cluster.ts';
import { effortOption, thoroughOption } from '../job/effort.ts';
import { withOwn } from '../job/own.ts';
import { correlationOption, resamplingOption, textOptions, withOptions } from '../job/workloads.ts';
import { between, whole } from '../terminal/arguments.ts';
import { option } from '../terminal/options.ts';
import { sweepOwn } from './own.ts';
import { runSweep, type SweepCommandOptions } from './run.ts';

const explained = `
What is chosen
  --job synchronous  recipe rollpacker: eta_P, eta_R, the share of the responses at which
                     GPUs go to training (RollPacker Table 3), and TP; with --max-lag 1 or
                     more, partial rollout, too: responses go on in later rounds
  --job pools        recipe rolloutpipe, or tail-pipelining: eta_P, eta_R, and F_w

Objective
  Least time a trained prompt, with a kept-token ratio no lower than that of the papers'
  fixed settings on the same trace (--min-kept: than yours): else responses would be cut
  short to save time. The papers' settings (eta 1.25 / 1.25, adaptive; pools: no tail
  batching, F_w 14) are recommended unless something is faster in runs of 40 steps, on
  seeds that the search has not seen, and on prompts that it has not seen where the trace
  has 128 or more. What breaks a limit is never recommended.

What the columns mean
  s a prompt    seconds a trained prompt, rewards, training and weight sync included
  as fast       speedup over the baseline in seconds a trained prompt; below it where one more
                run of 60 steps, on other prompts, would be with 95 % confidence
  equal tokens  speedup over the baseline in seconds a kept token
  of oracle     speed at equal tokens / that of a schedule that knows all lengths and keeps
                every response
  kept tokens   mean length of the responses trained on / the baseline's
  longest 1%    responses trained on that are as long as the longest 1 % of the baseline's /
                how many those are
  at cap        share of the responses trained on that ran into the length cap
  stale, lag    share of the trained tokens from older weights, and versions those are behind:
                in place of at cap where there are any

Examples
  rollflex sweep                                      the bundled workloads
  rollflex sweep my-lengths.jsonl --prompts-per-round 64 --cap 8192
  rollflex sweep my-lengths.jsonl --job pools --min-kept 0.8
  rollflex sweep my-lengths.jsonl --min-kept 0.95 --min-top1 0.9 --max-lag 0
  rollflex sweep my-lengths.jsonl --epochs 4          which policy, where prompts come back
  rollflex sweep my-lengths.jsonl --resume sweep.jsonl --effort thorough
  rollflex sweep my-lengths.jsonl --json              policy and config for registry.create
  rollflex sweep my-lengths.jsonl --policies mine.js --set limit=8,16,32   settings of your own policy`;

export function sweepCommand(): Command {
  const asked = new Command('sweep')
    .argument(
      '[trace...]',
      'traces or dumps, folders, patterns, -; the bundled ones (CASTILLO 7B, ServeGen R1) if none',
    )
    .addOption(new Option('--job <kind>', 'what is tuned').choices(['synchronous', 'pools']).default('synchronous'));
  const command = withOptions(asked, modelOptions('synchronous: '))
    .addOption(option('promptsPerRound', 'P0, or R of pools (128; pools: 32)'))
    .addOption(option('responsesPerPrompt', 'R0, or K of pools (8)'))
    .addOption(option('engines', 'inference engines (as many as the GPUs make; pools: 1)'))
    .addOption(option('cap', 'longest response; what is longer is cut (16384, or of the preset)'))
    .addOption(option('steps', 'training steps of each run of the search (10; pools: 12)'))
    .addOption(effortOption())
    .addOption(thoroughOption())
    .option(
      '--epochs <n>',
      'times that each prompt comes; above 1, time against kept tokens with lossless-tail beside the others',
      whole(1, 1000),
      1,
    )
    .option('--min-kept <ratio>', "least kept-token ratio (that of the papers' settings)", between(0.01, 1))
    .option('--min-top1 <share>', 'least share of the longest 1 % of the responses that is trained on', between(0, 1))
    .option(
      '--max-lag <versions>',
      'most versions that weights may be behind; above 0, partial rollout is tried (synchronous)',
      whole(0, 1000),
    )
    .addOption(option('seed', undefined, { usual: 1, parse: whole(0, 2 ** 52) }))
    .addOption(resamplingOption())
    .addOption(correlationOption())
    .option('--from-log <path>', 'take the lengths from an event log or a decision log instead of a trace')
    .addOption(option('session'))
    .addOption(new Option('--task <id>', 'pools: a task of RolloutPipe instead of a trace').choices(poolsTaskIds))
    .option('--batch <samples>', 'pools: B, samples of an update (two groups)', whole(1, 10_000_000))
    .option('--verifier-seconds <s>', 'pools: from a response to its reward (0.1)', between(0, 1e6))
    .option('--train-seconds-per-token <s>', 'pools: what the trainer takes (0.000218)', between(0, 1e3))
    .addOption(option('workers'))
    .option('--resume <file>', 'keep runs in this file, and take from it what it has')
    .addOption(option('json', 'print one JSON object, and nothing else'))
    .option('--quiet', 'print the tables only, and no progress')
    .addHelpText('after', explained);
  return withOwn(withOptions(command, textOptions())).action(async (paths: string[], options: SweepCommandOptions) => {
    await (options.policies === undefined ? runSweep : sweepOwn)(paths, options);
  });
}
