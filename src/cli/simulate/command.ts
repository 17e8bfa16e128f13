/** The arguments of `rollflex simulate`. */
import { Command, Option } from 'commander';
import { usualRuns } from '../../sim/comparison/compare-options.ts';
import { modelOptions } from '../job/cluster.ts';
import { withOwn } from '../job/own.ts';
import { withResults, withSampling } from '../job/simulation.ts';
import { withOptions } from '../job/workloads.ts';
import { between, whole } from '../terminal/arguments.ts';
import { option } from '../terminal/options.ts';
import { runSimulate, type SimulateOptions } from './run.ts';

const factor = between(1, 16);

export function simulateCommand(): Command {
  const asked = new Command('simulate').argument(
    '[trace...]',
    'traces or dumps, folders, patterns, -; the bundled ones (CASTILLO 7B, ServeGen R1) if none',
  );
  const command = withOptions(asked, modelOptions())
    .addOption(option('promptsPerRound', 'P0: prompts that a step trains on (of the log; 128)'))
    .addOption(option('responsesPerPrompt', 'R0: responses of a prompt (of the log; 8)'))
    .addOption(option('engines', 'inference engines (data-parallel replicas)'))
    .addOption(option('cap', 'longest response; what is longer is cut (16384, or of the preset)'))
    .option('--eta <factor>', 'over-provisioning of prompts and responses in short rounds', factor, 1.25)
    .option('--prompt-speculation <factor>', 'the same for prompts only', factor)
    .option('--response-speculation <factor>', 'the same for responses only', factor)
    .addOption(option('steps', `training steps of the baseline (${usualRuns.steps}, or fewer if a log has fewer)`))
    .option(
      '--epochs <n>',
      'times that each prompt comes; above 1 it shows lossless-tail, which learns their lengths',
      whole(1, 1000),
      1,
    )
    .option(
      '--from-log <path>',
      'take the lengths from an event log, or a decision log (its folder), instead of a trace',
    )
    .addOption(option('session'))
    .option('--ablation', 'every mechanism of RollPacker, one more in each variant, rewards and training included')
    .addOption(
      new Option('--judge <place>', 'a judge on a quarter of the GPUs, or beside the actor').choices([
        'workers',
        'dedicated',
        'colocated',
      ]),
    )
    .option('--one-step-off', 'half of the GPUs train beside the next rollout, one version behind')
    .option('--vlm', 'the bundled vision-language workloads as well; rollflex vlm has options for them')
    .option('--pools', 'the tasks of RolloutPipe on disaggregated pools as well; rollflex pools has options for them')
    .option('--perfetto <file>', 'write a Chrome/Perfetto trace as well')
    .option('--verbose', 'print every table, column and note, not a screen of them')
    .addHelpText(
      'after',
      `
What the columns mean
  step s            seconds of a training step: rollout, rewards, training, weight sync
  rollout s         seconds of its rollout
  speedup           total time of the baseline / this one's, for the same prompts,
                    ± a 95 % bootstrap interval over seeds, to its farther end
  at equal tokens   seconds of the baseline for a kept token / this one's: fewer tokens
                    are no gain by themselves
  of the oracle     seconds for a kept token of the oracle / this one's
  kept tokens       mean length of the responses trained on / the baseline's: tail
                    batching keeps those that finish first, so part of a speedup is
                    fewer tokens
  longest 1%        of the longest 1 % of the baseline's responses: the share that is
                    trained on / how many as long are, drawn again or not
  at cap            share of those responses that ran into the length cap
  even groups       share of the groups trained on whose rewards are all equal
  rollout speedup   as speedup, of the rollouts alone
  bubbles           share of engine time in rollouts with nothing to run
  rounds waited     of prompts in the long-prompt queue, mean / most
  stale, lag        share of the kept tokens from older weights, and how much older
  oracle            a scheduler that knows all lengths and keeps every response

Traces
  JSON lines, one prompt a line: {"prompt":"q1","promptTokens":90,"responses":[{"tokens":812}]}
  (only responses[].tokens is required); what verl, slime, ROLL and NeMo-RL write; CSV or a column
  of lengths; CASTILLO, ServeGen and others. A file, a folder, a pattern or -, also as .gz.

Examples
  rollflex simulate                                   the bundled workloads
  rollflex simulate my-lengths.jsonl --cap 8192       your own lengths
  rollflex simulate my-lengths.jsonl --model Qwen3-32B --gpu H200 --gpus 64
  rollflex simulate my-lengths.jsonl --eta 1.4 --engines 8 --json
  rollflex simulate my-lengths.jsonl --calibrate measured.json     seconds as yours
  rollflex simulate --from-log run.jsonl              lengths from a recorded session
  rollflex simulate --from-log ~/rollflex-log         lengths from serve --log-dir
  rollflex simulate --perfetto trace.json             open trace.json in ui.perfetto.dev
  rollflex simulate my-lengths.jsonl --policies mine.js --predict noisy     a policy of your own
  rollflex simulate my-lengths.jsonl --policies mine.ts --set limit=8,16    and its settings`,
    );
  return withResults(withOwn(withSampling(command, usualRuns.seeds))).action(
    async (paths: string[], options: SimulateOptions) => {
      await runSimulate(paths, options);
    },
  );
}
