/**
 * How far `auto` is from the best fixed width of frontier-group-dispatch: R = 32, 64 and 96 groups, five engines, five
 * laws of lengths, three speeds of the trainer, 20 seeds; sessions of four rounds that begin without knowledge.
 * Run: `npx tsx bench/frontier-width.ts [R,…] [seeds]`.
 */
import { engines, type Job, lengthLaws, responsesPerPrompt, runRounds } from './frontier-loop.ts';

const rounds = 4;
const sizes = (process.argv[2] ?? '32,64,96').split(',').map(Number);
const seeds = Number(process.argv[3] ?? 20);
/** Training time, as a share of the time of the rollout alone. */
const speeds = [0.5, 1, 1.5];
const widthsOf = (groups: number): number[] =>
  [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96].filter((width) => width <= groups);

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
const percent = (value: number): string => `${((value - 1) * 100).toFixed(1)} %`.padStart(8);
/** Every seed has rounds of its own. */
const seedsOf = (seed: number): number[] => Array.from({ length: rounds }, (_, round) => seed * rounds + round);

for (const groups of sizes) {
  const losses: number[][] = Array.from({ length: rounds + 1 }, () => []);
  for (const [engineName, engine] of Object.entries(engines)) {
    for (const [lawName, law] of Object.entries(lengthLaws)) {
      for (const speed of speeds) {
        const free: Job = { engine, law, groups, trainSecondsPerToken: 1e-12 };
        const rolloutSeconds = runRounds(free, groups, [0])[0]!.seconds;
        let tokens = 0;
        for (let group = 0; group < groups; group += 1) {
          for (let k = 0; k < responsesPerPrompt; k += 1) tokens += law(0, group, k);
        }
        const job: Job = { ...free, trainSecondsPerToken: (speed * rolloutSeconds) / tokens };
        const all = Array.from({ length: seeds }, (_, seed) => seedsOf(seed));
        const fixed = widthsOf(groups).map((width) => ({
          width,
          seconds: runRounds(job, width, all.flat()).map((one) => one.seconds),
        }));
        const best = fixed.reduce((one, other) => (mean(other.seconds) < mean(one.seconds) ? other : one));
        const sessions = all.map((one) => runRounds(job, 'auto', one));
        const auto = sessions.map((session) => session.map((one) => one.seconds));
        const of = (round: number) => (_: number, at: number) => at % rounds === round;
        for (let round = 0; round < rounds; round += 1) {
          const ratio = mean(auto.map((one) => one[round]!)) / mean(best.seconds.filter(of(round)));
          losses[round]!.push(ratio);
        }
        losses[rounds]!.push(mean(auto.flat()) / mean(best.seconds));
        const widths = sessions[0]!.map((one) => one.width).join(' ');
        const line = losses.map((one) => percent(one.at(-1)!)).join('');
        console.log(`R ${groups} ${engineName.padEnd(11)}${lawName.padEnd(11)}trainer ${speed}`.padEnd(40), line);
        console.log(`     best fixed ${best.width}, ${mean(best.seconds).toFixed(0)} s; auto ${widths}`);
      }
    }
  }
  losses.forEach((one, round) => {
    const what = round < rounds ? `round ${round + 1}` : 'whole session';
    const within = one.filter((ratio) => ratio <= 1.03).length;
    console.log(
      `R ${groups}, ${what}: mean ${percent(mean(one))}, worst ${percent(Math.max(...one))}, within 3 %: ${within} of ${one.length}`,
    );
  });
}
