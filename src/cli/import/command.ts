/** The options of `rollflex import`, and its help. */
import { Command, Option } from 'commander';
import { dumpReaders } from '../../sim/trace/import/readers.ts';
import { dumpOptions, textOptions, withOptions } from '../job/workloads.ts';
import { between } from '../terminal/arguments.ts';
import { option } from '../terminal/options.ts';
import { type ImportOptions, runImport } from './run.ts';

const explained = `
What is read
${dumpReaders.map(({ id, description }) => `  ${id.padEnd(11)} ${description}`).join('\n')}

  Files, folders, patterns, or - for standard input, of any size: only lengths are kept. Lines of
  JSON, a JSON array, or CSV; gzip and UTF-16 are seen. slime's .pt files are pickles, and read by
  Python (pip install rollflex), without torch; nothing in them is executed. Traces are read, too.

Prompts
  All responses of a prompt in a step make one line of the trace, with the id PROMPT@STEP. The
  same prompt in another step is another line: other weights gave other lengths.

Tokens
  Where a dump has text only, a tokenizer counts (the tokenizer.json of your model), or you give
  the tokens of a character, and everything that follows says that lengths are estimates.

Examples
  rollflex import rollouts/ --tokenizer Qwen2.5-7B/tokenizer.json --cap 8192 --output mine.jsonl
  rollflex import logs/train_data_step*.jsonl --output mine.jsonl       NeMo-RL, exact
  rollflex import rollouts/ --tokens-per-character 0.3 --output mine.jsonl
  rollflex simulate mine.jsonl                                          what comes next`;

export function importCommand(): Command {
  const command = new Command('import')
    .argument('<dump...>', 'files, folders or patterns; - reads standard input')
    .addOption(
      new Option('--from <trainer>', 'format, if it is not to be found from the first line').choices(
        dumpReaders.map(({ id }) => id),
      ),
    )
    .addOption(option('cap', "the job's length limit: what reaches it is marked as capped"))
    .option(
      '--correct-from <score>',
      'least score of a correct response (else: 1 is correct, 0 and -1 are not)',
      between(-1e12, 1e12),
    )
    .option('--skip-broken', 'count broken lines instead of stopping at the first')
    .option('--output <file>', 'where the trace goes; standard output if not given')
    .addOption(option('json', 'print the summary as one JSON object (with --output)'))
    .option('--quiet', 'print no summary and no progress')
    .addHelpText('after', explained);
  return withOptions(command, [...textOptions(), ...dumpOptions()]).action(
    async (paths: string[], options: ImportOptions) => {
      await runImport(paths, options);
    },
  );
}
