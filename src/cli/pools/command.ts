/** The options of `rollflex pools`, and its help. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { poolsTaskIds } from '../../sim/pools/presets.ts';
import { withResults, withSampling } from '../job/simulation.ts';
import { between, whole } from '../terminal/arguments.ts';
import { option } from '../terminal/options.ts';
import { defaultWidth, type PoolsOptions, runPools } from './run.ts';

const explained = `
What the columns mean
  main s            from rollout start to train end, mean over rounds and seeds
  shorter           share by which it is shorter than that of the serial baseline
  first s           when the first update is dispatched to the trainer
  recover s         from the first groups that could be trained to the end of the
                    rollout (RolloutPipe equation 3): what a serial trainer waits for
  train s           seconds in which the trainer computes
  wait s            seconds in which it has nothing to do, before its last update
  wait eq. 4        first / main
  wait share        wait / (wait + train): RolloutPipe, section 5.1
  wait clock        wait / main
  round s           main time, and new weights on the engines

Schedulers
  serial    all requests at once; training after the whole rollout, as in Slime
  CGP       complete-group pipelining: U groups are trained as soon as they are there
  FGD n     frontier-group dispatch: at most n groups in service, lowest order first
  auto      the policy measures and plans the width, anew for every round
  tail      tail batching (--tail): short rounds with speculation, and a long one as
            soon as a round of deferred prompts is there; alone it trains after
            the rollout; the same number of groups a round, fewer tokens

Traces
  What rollflex simulate reads. Engine and trainer stay those of RolloutPipe.

Examples
  rollflex pools                                   the four tasks of RolloutPipe
  rollflex pools --task lsat-ar --groups 32,64,96 --width 2
  rollflex pools my-lengths.jsonl --width auto --json`;

/** Parses F_w: a whole number, or `auto`. */
function widthOf(text: string): number | 'auto' {
  if (text === 'auto') return text;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1 || value > 1_000_000) {
    throw new InvalidArgumentError('Expected a whole number from 1 to 1000000, or auto.');
  }
  return value;
}

const oneSize = whole(1, 100_000);
/** Parses R: whole numbers, with commas between them. */
const groupsOf = (text: string): number[] => text.split(',').map(oneSize);

export function poolsCommand(): Command {
  const command = new Command('pools')
    .argument('[trace...]', 'traces or dumps, folders, patterns, -; the four tasks of RolloutPipe if none')
    .addOption(new Option('--task <id>', 'one task of RolloutPipe instead of all').choices(poolsTaskIds))
    .addOption(
      new Option('--groups <n,...>', 'R: groups (prompts) of a round, or several numbers of them')
        .argParser(groupsOf)
        .default([32], '32'),
    )
    .addOption(option('responsesPerPrompt', 'K: responses of a group', { usual: 8 }))
    .option('--batch <samples>', 'B: samples of an update, a multiple of K (two groups)', whole(1, 10_000_000))
    .option('--width <groups>', 'F_w: most groups in service at once, or auto', widthOf, defaultWidth)
    .option('--tail', 'tail batching on the same pools, too (give it 10 rounds or more)')
    .addOption(option('engines', 'inference engines of the rollout pool', { usual: 1 }))
    .addOption(
      option('cap', 'longest response of a trace; what is longer is cut', { usual: 16_384, parse: whole(1, 500_000) }),
    )
    .option('--verifier-seconds <s>', 'from a response to its reward (0.1)', between(0, 1e6))
    .option('--train-seconds-per-token <s>', 'what the trainer takes for a token (0.000218)', between(0, 1e3))
    .option('--rounds <n>', 'rounds of each run', whole(1, 10_000), 4)
    .addHelpText('after', explained);
  return withResults(withSampling(command, 3)).action(async (paths: string[], options: PoolsOptions) => {
    await runPools(paths, options);
  });
}
