/**
 * Shows events a second of adaptive-tp, against bare emits of eventemitter3 in the same process: ends of steps of short
 * and long rounds in turn, with preemptions and seconds that vary and a profile. Making the events is in the time. It
 * also shows what a step costs that asks the profile for every TP, which another load does.
 */
import { adaptiveTp, create } from '../../src/index.ts';
import { machine } from '../support.ts';
import { medianOf, printRates } from './print.ts';

const gpus = 16;
const profile = [1, 2, 4, 8].flatMap((tp) =>
  [1, 16, 64, 256, 1024].flatMap((batchSize) =>
    [512, 8192, 32_768].map((sequenceLength) => ({
      tp,
      batchSize,
      sequenceLength,
      decodeStepSeconds: 0.006 / tp + 0.002 * Math.log2(tp) + 0.004 + (4e-8 * batchSize * sequenceLength) / tp,
      prefillSeconds: (3e-5 * batchSize * sequenceLength) / tp,
      bytes: (30e9 + 2e5 * batchSize * sequenceLength) / tp,
    })),
  ),
);

/** A policy that has been warmed up; each call measures more steps. `moving`: every step has another load. */
function steps(validate: boolean, moving: boolean): (count: number) => number {
  const servers = [0, 1].map((server) => ({
    serverId: `s${server}`,
    gpuIds: Array.from({ length: gpus / 2 }, (_, gpu) => `s${server}/${gpu}`),
  }));
  const config = { servers, kvHeads: 8, modelBytes: 30e9, gpuMemoryBytes: 80e9, profile };
  const policy = create(adaptiveTp, config, { validate });
  const tp = { short: 1, long: 1 };
  let sent = 0;
  const pass = (count: number) => {
    const start = performance.now();
    for (let index = 0; index < count; index += 1) {
      const at = sent++;
      const kind = at % 5 === 4 ? 'long' : 'short';
      const responses = (kind === 'short' ? 1600 : 1024) + (moving ? (at % 2) * 1600 + (at % 1000) : 0);
      const decisions = policy.send({
        type: 'step.finished',
        at,
        roundId: `round-${at}`,
        kind,
        tp: tp[kind],
        preemptions: at % 7,
        seconds: 100 + (at % 3),
        workload: { responses, promptTokens: 200, responseTokens: 1500, longestTokens: 16_384 },
      });
      for (const decision of decisions) if (decision.type === 'kind-tp.set') tp[decision.kind] = decision.tp;
    }
    return count / ((performance.now() - start) / 1000);
  };
  pass(moving ? 10 : 200_000);
  return pass;
}

console.log(machine());
const [fast, checked, moving] = [steps(false, false), steps(true, false), steps(false, true)];
printRates(
  () => fast(500_000),
  () => checked(300_000),
);
console.log(`another load at every step: ${(1000 / medianOf(() => moving(50))).toFixed(2)} ms a step`);
