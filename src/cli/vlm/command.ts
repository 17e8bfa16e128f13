/** The options of `rollflex vlm`, and its help. */
import { Command, Option } from 'commander';
import { vlmGpuIds, vlmModelIds } from '../../sim/vlm-formulas/models.ts';
import { withResults } from '../job/simulation.ts';
import { between, whole } from '../terminal/arguments.ts';
import { option } from '../terminal/options.ts';
import { bundledVlmIds, runVlm, type VlmOptions } from './run.ts';

const explained = `
What the columns mean
  load s            data loading that a step waits for
  old, ref s        log-probabilities of the old policy and of the reference
  step s            all of them: load, rollout, old, ref, update
  tokens/s/GPU      tokens of the batch (prompts, images, responses) / step / GPUs
  speedup           step of the first scheduler / this one's; then without loading,
                    which is what FlexRL reports
  balance           most attention work of a GPU / the mean
  sharded           share of the sequences that more than one GPU shares
  sent              tokens that leave their GPU in the all-to-alls of one layer; GB
                    in all layers and passes of a step
  inputs GB         visual inputs that a step moves between hosts
  control, node GB  visual inputs in the host memory of the controller, of a node
  GPU GB            what the fullest GPU needs at least in an update
  OOM               what has too little memory

Schedulers
  SL is ShadowLoader, FU FlexUlysses; FlexRL has both. Ulysses SP 4 shares every
  sequence between 4 GPUs.

Files
  JSON lines, one sequence a line; only responseTokens is required:
  {"promptTokens":120,"responseTokens":300}
  {"promptTokens":120,"responseTokens":300,"frames":64,"width":1920,"height":1080}
  {"promptTokens":120,"responseTokens":300,"images":2,"visualTokens":900}
  A trace of responses, as rollflex simulate reads, is text alone.

Examples
  rollflex vlm                                     the bundled mixtures
  rollflex vlm my-sequences.jsonl --gpus 16 --batch 32
  rollflex vlm --mixture only-video --frames 256 --model qwen2.5-vl-32b --gpus 128 --json`;

export function vlmCommand(): Command {
  const command = new Command('vlm')
    .argument('[file]', 'your own sequences; the bundled mixtures if none')
    .addOption(new Option('--mixture <id>', 'one bundled workload instead of all').choices(bundledVlmIds))
    .option('--frames <n>', 'most frames of a video', whole(1, 100_000), 128)
    .addOption(option('cap', 'longest response (1024; of text 16384)'))
    .addOption(new Option('--model <id>', 'the model').choices(vlmModelIds).default('mimo-vl-7b'))
    .addOption(new Option('--gpu <id>', 'the GPU').choices(vlmGpuIds).default('h800'))
    .option('--gpus <n>', 'GPUs; a multiple of the rollout TP (4 of the 7B model, 16 of the 32B)', whole(1, 4096), 64)
    .option('--gpus-per-node <n>', 'GPUs of a node', whole(1, 1024), 8)
    .option('--batch <n>', 'sequences that a step trains on', whole(1, 100_000), 128)
    .option('--controller-memory <GB>', 'host memory of the controller', between(1, 1e6), 1024)
    .option('--node-memory <GB>', 'host memory of each node', between(1, 1e6), 1024)
    .option('--degree <n>', 'a further degree of fixed Ulysses to compare', whole(2, 4096))
    .addOption(option('steps', undefined, { usual: 5, parse: whole(1, 10_000) }))
    .addOption(option('seed', 'which samples are drawn', { usual: 1 }))
    .addHelpText('after', explained);
  return withResults(command).action(async (path: string | undefined, options: VlmOptions) => {
    await runVlm(path, options);
  });
}
