/**
 * Shows what the decision of gpu-scale-down at a milestone costs, against the number of requests in flight: in this
 * process and in one of its own, with events validated or not, and the first event after it, which finds its request by
 * an index that the decision has made. It also shows the snapshot after many responses, and events a second against
 * bare emits of eventemitter3 in the same process.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { create, gpuScaleDown, type PolicyOf } from '../../src/index.ts';
import { machine, median } from '../support.ts';
import { printRates } from './print.ts';

type Policy = PolicyOf<typeof gpuScaleDown>;

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
  return create(
    gpuScaleDown,
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

interface Case {
  readonly kvCapacityTokens: number;
  /** Requests of the report that end between the query and the report. */
  readonly ended?: number;
  readonly validate?: boolean;
  readonly rounds?: number;
}

// The first ones are slow: nothing of it has been compiled.
const warming = 20;

/** Decisions on one policy, one a round: milliseconds of CPU and on the clock; and the first event after each. */
function decisions({ lengths, requests }: ReturnType<typeof scene>, given: Case) {
  const { kvCapacityTokens, ended = 0, validate = false, rounds = warming + 41 } = given;
  const policy = newPolicy(requests.length, kvCapacityTokens, validate);
  openRound(policy, 'before');
  for (const [index, tokens] of lengths.entries()) {
    policy.send({ type: 'response.completed', at: 0, requestId: `b${index}`, tokens });
  }
  const cpu: number[] = [];
  const clock: number[] = [];
  const after: number[] = [];
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
      answer = `released, ${first.migrations.reduce((sum, one) => sum + one.requestIds.length, 0)} moves`;
      ({ projectedTokens } = first.reason);
      const { releaseId, migrations } = first;
      const arrived = performance.now();
      if (migrations.length > 0) {
        policy.send({ type: 'request.migrated', at: 0, releaseId, requestId: migrations[0]!.requestIds[0]! });
      }
      if (round >= warming) after.push(performance.now() - arrived);
      policy.send({ type: 'gpus.release.failed', at: 0, releaseId });
      const gpuIds = first.release.flatMap((one) => one.gpuIds);
      policy.send({ type: 'gpus.returned', at: 0, roundId: first.roundId, releaseId, gpuIds });
    }
    if (round < warming) continue;
    cpu.push((user + system) / 1000);
    clock.push(milliseconds);
  }
  return { cpu, clock, after, answer, projectedTokens };
}

/** What the fullest engine needs: with one token less nothing is released. */
const needed = (given: ReturnType<typeof scene>): number =>
  decisions(given, { kvCapacityTokens: 1e12, rounds: 1 }).projectedTokens;

function report(inFlight: number, of: Case, { cpu, clock, after, answer }: ReturnType<typeof decisions>): string {
  const sorted = [...clock].sort((a, b) => a - b);
  const percentile = sorted[Math.floor(sorted.length * 0.9)]!;
  const spread = `best ${sorted[0]!.toFixed(2)}, 90 % ${percentile.toFixed(2)}, CPU ${median(cpu).toFixed(2)}`;
  const ended = of.ended ? `, ${of.ended} ended since the query` : '';
  const next = after.length > 0 ? `; first event after it ${median(after).toFixed(2)} ms` : '';
  const events = of.validate ? ', validated' : '';
  const time = `${median(clock).toFixed(2)} ms (${spread})`;
  return `decision at ${String(inFlight).padStart(7)} in flight: ${time}, ${answer}${ended}${events}${next}`;
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

// One case in a process of its own: `alone <in flight> <release | reject>`.
if (process.argv[2] === 'alone') {
  const inFlight = Number(process.argv[3]);
  const given = scene(inFlight);
  const of = { kvCapacityTokens: needed(given) - (process.argv[4] === 'reject' ? 1 : 0) };
  console.log(report(inFlight, of, decisions(given, of)));
  process.exit();
}

console.log(machine());

for (const inFlight of [1000, 10_000, 100_000]) {
  const given = scene(inFlight);
  const projectedTokens = needed(given);
  const cases: readonly Case[] = [
    { kvCapacityTokens: 1 },
    { kvCapacityTokens: projectedTokens - 1 },
    { kvCapacityTokens: projectedTokens },
    { kvCapacityTokens: projectedTokens, ended: inFlight / 100 },
    { kvCapacityTokens: projectedTokens, validate: true },
  ];
  for (const of of cases) console.log(report(inFlight, of, decisions(given, of)));
}
console.log('each in a process of its own:');
for (const inFlight of ['10000', '100000']) {
  for (const answer of ['reject', 'release']) {
    const script = fileURLToPath(import.meta.url);
    const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', script, 'alone', inFlight, answer], {
      encoding: 'utf8',
    });
    process.stdout.write(stdout);
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

printRates(
  () => eventsPerSecond(false, 400_000),
  () => eventsPerSecond(true, 100_000),
);
