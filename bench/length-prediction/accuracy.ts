/**
 * Shows length prediction on responses that it has not seen, against simple ways to predict the same: pinball loss, how many responses
 * quantiles cover, rank correlation, and what rounds composed by rank are worth. Each figure is a share of that of "all responses",
 * in tokens and in doublings of the length. `npx tsx bench/length-prediction/accuracy.ts [TRACE…] [--seeds 3]`
 */
import { parseArgs } from 'node:util';
import { readTraceFile } from '../../src/cli/files/traces.ts';
import { LengthPredictor } from '../../src/core/lengths/length-prediction.ts';
import { traceWorkload } from '../../src/sim/workload/of-trace.ts';
import { type EpochPrompt, levels, play, rankCorrelation, type Score, type Scores } from './epochs.ts';
import { baselines, predicted } from './forecasters.ts';

const { values, positionals } = parseArgs({
  options: { seeds: { type: 'string', default: '3' } },
  allowPositionals: true,
});
const shipped = ['castillo-qwen2.5-7b-instruct-1m', 'castillo-qwen2.5-32b-instruct', 'servegen-deepseek-r1'];
const files = positionals.length > 0 ? positionals : shipped.map((name) => `examples/traces/${name}.jsonl`);

/** The prompts of a trace; of quantiles, 1500 prompts with 12 responses that have nothing in common. */
function promptsOf(file: string): { name: string; prompts: readonly EpochPrompt[] } {
  const { name, trace } = readTraceFile(file);
  if (trace.kind === 'prompts') return { name, prompts: trace.prompts };
  const drawn = traceWorkload({ name, trace }, { capTokens: 32_768, correlation: 0, resampling: 'copula' })(1);
  const prompts = Array.from({ length: 1500 }, (_, index) => {
    const prompt = drawn.prompt(index);
    return {
      prompt: prompt.promptId,
      responses: Array.from({ length: 12 }, (_, at) => ({ tokens: prompt.sample(at).tokens })),
    };
  });
  return { name, prompts };
}

/** As many responses to a prompt in an epoch as leave at least two epochs. */
function shapeOf(prompts: readonly EpochPrompt[]): { epochs: number; responsesPerPrompt: number } {
  const counts = prompts.map((one) => one.responses.length).sort((a, b) => a - b);
  const most = counts[counts.length >> 1]!;
  if (most >= 12) return { epochs: 3, responsesPerPrompt: 4 };
  if (most >= 9) return { epochs: 3, responsesPerPrompt: 3 };
  return { epochs: most, responsesPerPrompt: 1 };
}

const share = (value: number, of: number): string => (of === 0 ? '    -' : (value / of).toFixed(3));

function print(what: string, rows: Map<string, Score>): void {
  const all = rows.get('all responses')!;
  console.log(`\n  ${what}: ${all.responses} responses`);
  for (const [who, score] of rows) {
    const losses = [
      levels.map((_, at) => share(score.tokens[at]!, all.tokens[at]!)),
      levels.map((_, at) => share(score.doublings[at]!, all.doublings[at]!)),
      levels.map((_, at) => (score.covered[at]! / score.responses).toFixed(3)),
    ];
    const rank = score.ranks.length === 0 ? '' : `  rank ${rankCorrelation(score.ranks, score.longest).toFixed(3)}`;
    const [tokens, doublings, covered] = losses.map((one) => one.join(' '));
    console.log(`    ${who.padEnd(15)} tokens ${tokens}  doublings ${doublings}  covers ${covered}${rank}`);
  }
}

for (const file of files) {
  const { name, prompts } = promptsOf(file);
  const shape = { ...shapeOf(prompts), promptsPerRound: Math.max(4, Math.min(32, prompts.length >> 4)) };
  console.log(`\n== ${name}: ${prompts.length} prompts, ${shape.epochs} epochs of ${shape.responsesPerPrompt}`);
  const scores: Scores = new Map();
  for (let seed = 1; seed <= Number(values.seeds); seed += 1)
    play(prompts, { ...shape, seed }, [...baselines(), predicted(new LengthPredictor(2 ** 20))], scores);
  for (const [what, rows] of scores) if (what !== 'composed') print(what, rows);
  const composed = scores.get('composed')!;
  const ordered = composed.get('order of the data')!.composed;
  const costs = [...composed].map(([who, { composed: cost }]) => `${who} ${(cost / ordered).toFixed(3)}`);
  console.log(`\n  longest of rounds that are composed by rank: ${costs.join(', ')}`);
}
