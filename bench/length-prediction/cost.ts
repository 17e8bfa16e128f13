/**
 * Shows what length prediction costs with a million prompts, against the 5 µs that a prediction may take: microseconds of CPU to take
 * a response and to predict, bytes of memory, and bytes and seconds of its snapshot.
 * `npx tsx --expose-gc bench/length-prediction/cost.ts [--prompts 1000000]`
 */
import { parseArgs } from 'node:util';
import { LengthPredictor, lengthPredictor } from '../../src/core/lengths/length-prediction.ts';
import { saverOf } from '../../src/core/machine/state.ts';
import { uniform } from '../../src/sim/workload/random.ts';
import { machine, median } from '../support.ts';

const { values } = parseArgs({ options: { prompts: { type: 'string', default: '1000000' } } });
const prompts = Number(values.prompts);
const promptsPerRound = 512;
const responsesPerPrompt = 8;
const domains = ['math', 'code', 'chat', 'science'];
const rounds = Math.ceil(prompts / promptsPerRound);
const heap = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
/** CPU time, which other work on the machine hardly changes. */
const ms = (): number => process.cpuUsage().user / 1000;

console.log(machine());
const lengths = Float64Array.from({ length: 2 ** 16 }, (_, at) => 2 ** (7 + 4 * uniform(at, 1) + 2 * uniform(at, 2)));
const before = heap();
const predictor = new LengthPredictor(prompts);
let responses = 0;
/** Each id is a string of its own, as those read from a wire are. */
const idOf = (prompt: number): string => `prompt-${String(prompt).padStart(8, '0')}`;

function epoch(number: number, count: number): number {
  let spent = 0;
  for (let round = 0; round < count; round += 1) {
    const ids = Array.from({ length: promptsPerRound }, (_, at) => idOf((round * promptsPerRound + at) % prompts));
    const start = ms();
    for (let response = 0; response < responsesPerPrompt; response += 1) {
      for (const [at, promptId] of ids.entries()) {
        const draw = (round * promptsPerRound + at) * 31 + response * (1 + number);
        const tokens = Math.floor(lengths[draw & 0xffff]!);
        predictor.observe({ promptId, domain: domains[at & 3], tokens, round: number * rounds + round });
        responses += 1;
      }
    }
    spent += ms() - start;
  }
  return spent;
}
const first = epoch(0, rounds);
const later = epoch(1, Math.min(rounds, 200));
const perResponse = (spent: number, count: number): string =>
  ((spent * 1000) / (count * promptsPerRound * responsesPerPrompt)).toFixed(2);
console.log(
  `a response: ${perResponse(first, rounds)} µs in the first epoch, ${perResponse(later, Math.min(rounds, 200))} µs in the second`,
);
const bytes = heap() - before;
console.log(
  `${predictor.size.toLocaleString('en')} prompts, ${responses.toLocaleString('en')} responses: ${(bytes / 2 ** 20).toFixed(0)} MiB, ${(bytes / predictor.size).toFixed(0)} bytes a prompt (with its id)`,
);

const asked = Array.from({ length: 100_000 }, (_, at) => ({
  promptId: idOf(Math.floor(uniform(at, 3) * prompts)),
  domain: domains[at & 3],
  round: 2 * rounds,
}));
let sum = 0;
const micros = (what: (one: (typeof asked)[number]) => number): string =>
  median(
    Array.from({ length: 5 }, () => {
      const start = ms();
      for (const one of asked) sum += what(one);
      return ((ms() - start) * 1000) / asked.length;
    }),
  ).toFixed(2);
console.log(`longest of a round: ${micros((one) => predictor.longest(one, 4096))} µs`);
console.log(`three quantiles: ${micros((one) => predictor.predict(one, [0.5, 0.9, 0.99]).quantiles[1]!)} µs`);
const flying = micros((one) => predictor.predict({ ...one, generatedTokens: 900 }, [0.5, 0.9, 0.99]).quantiles[1]!);
console.log(`three quantiles in flight: ${flying} µs (${Number.isFinite(sum)})`);

const save = saverOf(lengthPredictor);
let start = ms();
const saved = save(predictor as never);
const saving = ms() - start;
start = ms();
const text = JSON.stringify(saved);
const writing = ms() - start;
const parsed = JSON.parse(text);
start = ms();
const restored = lengthPredictor.parse(parsed);
const loading = ms() - start;
console.log(
  `snapshot: ${(text.length / 2 ** 20).toFixed(1)} MiB, ${(text.length / predictor.size).toFixed(1)} bytes a prompt, saved in ${saving.toFixed(0)} ms, as JSON ${writing.toFixed(0)} ms, read in ${loading.toFixed(0)} ms (${restored.size})`,
);
