/** Adaptive timeouts around real processes: right, wrong, endless and unlucky ones, over three rounds of answers. */
import assert from 'node:assert/strict';
import { create, sandboxTimeout } from 'rollflex';
import { type Answer, programs, test } from './programs.ts';
import { runInSandbox } from './sandbox.ts';

// A short Tmax, so that the example does not take long. Tmin leaves a process time to start on a busy machine.
const timeouts = create(sandboxTimeout, {
  timeoutFactor: 2,
  minTimeoutSeconds: 2,
  maxTimeoutSeconds: 4.5,
  exploreEvery: 0,
});
const startedAt = performance.now();
const now = (): number => (performance.now() - startedAt) / 1000;
let runs = 0;

interface Result {
  readonly answer: Answer;
  readonly score: number | undefined;
  readonly code: string;
  readonly timeoutSeconds: number;
  readonly seconds: number;
}

/** Runs one answer with the timeout that the policy gives, and tells the policy how it ended. */
async function judge(answer: Answer, command = process.execPath): Promise<Result> {
  const runId = `run-${runs++}`;
  const [run] = timeouts.send({ type: 'sandbox.requested', at: now(), runId, testCaseId: 'sum/1' });
  assert(run?.type === 'sandbox.run');
  const { timeoutSeconds } = run;
  const end = await runInSandbox(command, programs[answer], test, timeoutSeconds);
  const [judged] = timeouts.send({ type: 'sandbox.finished', at: now(), runId, ...end });
  assert(judged?.type === 'sandbox.scored' || judged?.type === 'sandbox.unscored');
  const score = judged.type === 'sandbox.scored' ? judged.score : undefined;
  return { answer, score, code: judged.reason.code, timeoutSeconds, seconds: end.seconds };
}

/** A round: its answers run side by side, two at a time. */
async function round(answers: readonly Answer[]): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < answers.length; from += 2) {
    results.push(...(await Promise.all(answers.slice(from, from + 2).map((answer) => judge(answer)))));
  }
  for (const { answer, score, code, timeoutSeconds, seconds } of results) {
    const worth = score === undefined ? 'no score' : `score ${score}`;
    console.log(
      `${answer.padEnd(12)} ${worth.padEnd(9)} ${code.padEnd(15)} ${seconds.toFixed(2)} of ${timeoutSeconds.toFixed(2)} s`,
    );
  }
  return results;
}

// Nothing is known of the test case: what never ends costs Tmax.
const [, endless] = await round(['wrong', 'endless']);
assert(endless!.code === 'timeout' && endless!.timeoutSeconds === 4.5 && endless!.seconds > 4.4);

// It is solved, by one of these. A sandbox that dies scores nothing: the answer may be right.
const second = await round(['correct', 'outOfMemory', 'failing', 'formula']);
assert.deepEqual(
  second.map(({ score, code }) => [score, code]),
  [
    [1, 'correct'],
    [undefined, 'infrastructure'],
    [0, 'wrong'],
    [1, 'correct'],
  ],
);
const broken = await judge('correct', '/nowhere/node');
assert(broken.score === undefined && broken.code === 'infrastructure', 'a sandbox that does not start scores nothing');

// From now on what never ends is stopped early, and correct answers still pass.
const third = await round(['endless', 'correct', 'endless', 'formula']);
const stopped = third.filter((one) => one.answer === 'endless');
assert(stopped.every((one) => one.code === 'timeout' && one.score === 0 && one.timeoutSeconds < 4.5));
assert(third.filter((one) => one.answer !== 'endless').every((one) => one.score === 1));

const [report] = timeouts.send({ type: 'sandbox.report.requested', at: now(), factors: [1.5, 2] });
assert(report?.type === 'sandbox.report');
const saved = report.fixedSeconds - report.runSeconds;
console.log(`saved ${saved.toFixed(1)} of ${report.fixedSeconds.toFixed(1)} s of the runs with an anchor`);
for (const { timeoutFactor, correctKilled } of report.estimates) {
  console.log(`λ = ${timeoutFactor} would have cost ${correctKilled} of ${report.correctRuns} correct answers`);
}
assert(saved > 2, 'two endless runs were stopped early');
