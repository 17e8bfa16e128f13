/**
 * gpu-scale-down: the decision at a milestone by requests in flight, the snapshot after many responses, and events a
 * second, beside bare emits of eventemitter3 in the same run.
 */
import { createGpuScaleDown } from '../src/index.ts';
import { emitsPerSecond } from './emits.ts';
import { machine, median } from './support.ts';

type Policy = ReturnType<typeof createGpuScaleDown>;

const maxResponseTokens = 32_768;
// A fixed sequence: every run measures the same.
let seed = 1;
const next = (): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};
const draw = (): number => Math.min(maxResponseTokens, 1 + Math.floor(400 / (1 - next()) ** 0.8));

/** Sixty-four engines of one GPU in eight servers, two replicas of training to a server. */
function newPolicy(responses: number, kvCapacityTokens: number, validate = false): Policy {
  const places = Array.from({ length: 64 }, (_, index) => index);
  return createGpuScaleDown(
    {
      promptsPerRound: responses / 8,
      responsesPerPrompt: 8,
      maxResponseTokens,
      engines: places.map((index) => ({
        engineId: `engine-${index}`,
        serverId: `server-${index >> 3}`,
        gpuIds: [`gpu-${index}`],
        kvCapacityTokens,
      })),
      communicationGroups: places.filter((at) => at % 4 === 0).map((at) => [0, 1, 2, 3].map((k) => `gpu-${at + k}`)),
    },
    { validate },
  );
}

function openRound(policy: Policy, roundId: string): void {
  policy.send({ type: 'round.opened', at: 0, roundId, kind: 'short', weightVersion: 0, prompts: [] });
}

function accept(policy: Policy, requestId: string): string | undefined {
  const reason = { code: 'held', held: 1, needed: 8 } as const;
  const [first] = policy.send({ type: 'response.accepted', at: 0, requestId, promptId: 'p', reason });
  return first?.type === 'progress.query' ? first.queryId : undefined;
}

/** Requests in flight as a report has them, and the lengths of a round before. */
function scene(inFlight: number) {
  seed = 1;
  const lengths = Array.from({ length: 20_000 }, draw);
  const requests = Array.from({ length: inFlight }, (_, index) => ({
    requestId: `prompt-${index >> 3}/${index & 7}#0`,
    engineId: `engine-${index % 64}`,
    tokens: draw(),
    promptTokens: 100 + (index % 400),
  }));
  // As a host has them: read from a message, and their ids used as keys before.
  const read: typeof requests = JSON.parse(JSON.stringify(requests));
  new Set(read.map((one) => one.requestId));
  return { lengths, requests: read };
}

/**
 * Decisions on one policy, one a round: milliseconds of CPU and on the clock. Events are not validated here.
 *
 * @param ended - requests of the report that end between the query and the report
 */
function decisions({ lengths, requests }: ReturnType<typeof scene>, kvCapacityTokens: number, ended = 0, rounds = 61) {
  const policy = newPolicy(requests.length, kvCapacityTokens);
  openRound(policy, 'before');
  for (const [index, tokens] of lengths.entries()) {
    policy.send({ type: 'response.completed', at: 0, requestId: `b${index}`, tokens });
  }
  const cpu: number[] = [];
  const clock: number[] = [];
  let answer = '';
  let projectedTokens = 0;
  for (let round = 0; round < rounds; round += 1) {
    openRound(policy, `r${round}`);
    let queryId: string | undefined;
    while (queryId === undefined) queryId = accept(policy, 'a');
    for (let index = 0; index < ended; index += 1) {
      const { requestId } = requests[(index * 7919) % requests.length]!;
      policy.send({ type: 'request.aborted', at: 0, requestId });
    }
    const before = process.cpuUsage();
    const start = performance.now();
    const [first] = policy.send({ type: 'progress.reported', at: 0, queryId, requests });
    const milliseconds = performance.now() - start;
    const { user, system } = process.cpuUsage(before);
    if (first?.type === 'scale-down.rejected') answer = `rejected, ${first.reason.code}`;
    if (first?.type === 'gpus.release') {
      answer = `released, ${first.migrations.length} moves`;
      ({ projectedTokens } = first.reason);
      const { releaseId } = first;
      policy.send({ type: 'gpus.release.failed', at: 0, releaseId });
      const gpuIds = first.release.flatMap((one) => one.gpuIds);
      policy.send({ type: 'gpus.returned', at: 0, roundId: first.roundId, releaseId, gpuIds });
    }
    // The first ones are slow: nothing of it has been compiled.
    if (round < 20) continue;
    cpu.push((user + system) / 1000);
    clock.push(milliseconds);
  }
  return { cpu, clock, answer, projectedTokens };
}

/** Events a second: each response is a `response.completed` and a `response.accepted`. */
function eventsPerSecond(validate: boolean, responses: number): number {
  const policy = newPolicy(responses, 1, validate);
  const ids = Array.from({ length: 1024 }, (_, index) => `prompt-${index >> 3}/${index & 7}#0`);
  openRound(policy, 'r');
  const start = performance.now();
  for (let index = 0; index < responses; index += 1) {
    const requestId = ids[index & 1023]!;
    policy.send({ type: 'response.completed', at: 0, requestId, tokens: 1 + (index & 16_383) });
    const queryId = accept(policy, requestId);
    if (queryId !== undefined) policy.send({ type: 'progress.reported', at: 0, queryId, requests: [] });
  }
  return (2 * responses) / ((performance.now() - start) / 1000);
}

console.log(machine());
const repeat = <T>(run: () => T, times = 5): T[] => Array.from({ length: times }, run);
const thousands = (value: number): string => (Math.round(value / 1000) * 1000).toLocaleString('en');

for (const inFlight of [1000, 10_000, 100_000]) {
  const given = scene(inFlight);
  // What the fullest engine needs: with one token less nothing is released.
  const { projectedTokens } = decisions(given, 2 ** 40, 0, 1);
  for (const [kvCapacityTokens, ended] of [
    [1, 0],
    [projectedTokens - 1, 0],
    [projectedTokens, 0],
    [projectedTokens, inFlight / 100],
  ] as const) {
    const { cpu, clock, answer } = decisions(given, kvCapacityTokens, ended);
    const sorted = [...clock].sort((a, b) => a - b);
    const milliseconds = `${median(clock).toFixed(2)} ms (best ${sorted[0]!.toFixed(2)}, 90 % ${sorted[Math.floor(sorted.length * 0.9)]!.toFixed(2)}, CPU ${median(cpu).toFixed(2)})`;
    const meanwhile = ended > 0 ? `, ${ended} ended since the query` : '';
    console.log(`decision at ${String(inFlight).padStart(7)} in flight: ${milliseconds}, ${answer}${meanwhile}`);
  }
}

const seen = newPolicy(1024, 1);
for (let round = 0; round < 1000; round += 1) {
  openRound(seen, `r${round}`);
  for (let index = 0; index < 1000; index += 1) {
    seen.send({ type: 'response.completed', at: 0, requestId: `q${index}`, tokens: draw() });
  }
}
console.log(`snapshot after 1,000,000 responses: ${JSON.stringify(seen.snapshot().state).length} bytes of state`);

emitsPerSecond(1e6);
const trusted = median(repeat(() => eventsPerSecond(false, 400_000)));
const validated = median(repeat(() => eventsPerSecond(true, 100_000)));
const emits = median(repeat(() => emitsPerSecond(5e6)));
console.log(
  `trusted    ${thousands(trusted)} events/s, 1/${(emits / trusted).toFixed(1)} of bare eventemitter3 emits (${thousands(emits)}/s)`,
);
console.log(`validated  ${thousands(validated)} events/s, 1/${(emits / validated).toFixed(1)}`);
