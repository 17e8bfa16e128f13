/** The options of `rollflex advise`, and its help. */
import { Command, Option } from 'commander';
import { trainerIds, trainers } from '../../sim/advise/trainers.ts';
import { dumpReaders } from '../../sim/trace/import/readers.ts';
import { modelOptions } from '../job/cluster.ts';
import { effortOption, thoroughOption } from '../job/effort.ts';
import { correlationOption, dumpOptions, resamplingOption, textOptions, withOptions } from '../job/workloads.ts';
import { between, whole } from '../terminal/arguments.ts';
import { option } from '../terminal/options.ts';
import { type AdviseOptions, runAdvise } from './run.ts';

const explained = `
What is read
  What verl, slime, ROLL and NeMo-RL write, a trace, CSV, or a column of lengths: files, folders,
  patterns, or - for standard input, also as .gz. All of it is one job. verl's and ROLL's dumps have
  text: give --tokenizer tokenizer.json (your model's), or --tokens-per-character for an estimate.

What is searched
  Only what the trainer can carry out through its adapter:
${trainers.map(({ id, adapter }) => `  ${id.padEnd(9)} ${adapter ?? 'no adapter in the package'}`).join('\n')}

Examples
  rollflex advise rollouts/ --tokenizer Qwen2.5-7B/tokenizer.json     verl
  rollflex advise rollouts/ --model Qwen2.5-32B --gpu H100 --gpus 64 --tp 4
  rollflex advise /tmp/slime/rollout_*.pt --engines 4                 slime
  rollflex advise rollouts/ --trainer slime --epochs 4    each prompt comes 4 times
  rollflex advise logs/ --calibrate measured.json --json              NeMo-RL
  zcat lengths.csv.gz | rollflex advise - --trainer own`;

export function adviseCommand(): Command {
  const asked = new Command('advise')
    .argument('<dump...>', 'files, folders or patterns; - reads standard input')
    .addOption(new Option('--trainer <name>', 'who carries it out (whose dump it is, or own)').choices([...trainerIds]))
    .addOption(new Option('--from <format>', 'format of the dump').choices(dumpReaders.map(({ id }) => id)));
  const command = withOptions(asked, modelOptions())
    .addOption(option('promptsPerRound', 'P0 (of the dump; 128)'))
    .addOption(option('responsesPerPrompt', 'R0 (of the dump; 8)'))
    .addOption(option('engines', 'inference engines (as many as the GPUs make)'))
    .addOption(option('cap', "the job's length limit (of the dump; 16384, or of the preset)"))
    .addOption(option('steps', 'training steps of each run of the search (10)'))
    .addOption(effortOption())
    .addOption(thoroughOption())
    .option('--min-kept <ratio>', "least kept-token ratio (that of the papers' settings)", between(0.01, 1))
    .option(
      '--max-lag <versions>',
      'most versions that weights may be behind; above 0, partial rollout is tried',
      whole(0, 1000),
    )
    .option(
      '--epochs <n>',
      'times that each prompt comes: above 1, lossless-tail is compared, too (as in the dump, if most come again)',
      whole(1, 1000),
    )
    .addOption(option('seed', undefined, { usual: 1, parse: whole(0, 2 ** 52) }))
    .addOption(resamplingOption())
    .addOption(correlationOption())
    .option('--correct-from <score>', 'least score of a correct response (else: 1 is correct)', between(-1e12, 1e12))
    .option('--skip-broken', 'count broken lines instead of stopping at the first')
    .addOption(option('workers'))
    .addOption(option('json', 'print one JSON object, and nothing else'))
    .option('--quiet', 'show no progress')
    .addHelpText('after', explained);
  return withOptions(command, [...textOptions(), ...dumpOptions()]).action(
    async (paths: string[], options: AdviseOptions) => {
      await runAdvise(paths, options);
    },
  );
}
