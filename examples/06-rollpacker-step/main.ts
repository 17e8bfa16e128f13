/**
 * A whole RollPacker step through events only: engines of the simulator generate, a reward worker scores, replicas train
 * on GPUs that the rollout releases, the optimizer steps once. The orchestrator only carries decisions out.
 */
import assert from 'node:assert/strict';
import { create, rollpacker } from 'rollflex';
import { DecodeEngine, deriveCostModel } from 'rollflex/sim';
import { Clock } from './clock.ts';

const kvBytesPerToken = 57_344;
const cost = deriveCostModel({
  billionParameters: 7.6,
  layers: 28,
  kvHeads: 4,
  headDimension: 128,
  tensorParallel: 1,
  gpu: { memoryGb: 80, bandwidthGbps: 3350, tflops: 989 },
  hostSeconds: 2.8e-3,
});
const gpuIds = ['g0', 'g1', 'g2', 'g3'];
const job = create(rollpacker, {
  promptsPerRound: 8,
  responsesPerPrompt: 4,
  adaptiveTp: false,
  servers: [{ serverId: 's0', gpuIds }],
  kvHeads: 4,
  modelBytes: 15.2e9,
  gpuMemoryBytes: 80e9,
  kvBytesPerToken,
  maxResponseTokens: 8192,
  scaleDownTrigger: 0.3,
  trainingReplicas: gpuIds.map((id) => ({ id: `replica-${id}`, gpuIds: [id] })),
});

// Lengths that nobody knows beforehand: one response in eight is ten times as long.
const lengthOf = (requestId: string): number => {
  const hash = [...requestId].reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) % 1009, 7);
  return hash % 8 === 0 ? 4000 + hash : 300 + hash;
};

const clock = new Clock();
let engines = new Map<string, DecodeEngine>();
const seen = new Map<string, number>();
const log: string[] = [];
type Event = Parameters<typeof job.send>[0];
type Told<E = Event> = E extends Event ? Omit<E, 'at'> : never;
type Decision = ReturnType<typeof job.send>[number];

const send = (event: Told): void => {
  for (const decision of job.send({ at: clock.now, ...event })) carryOut(decision);
};
/** Something that takes time: its event comes when it is over. */
const later = (seconds: number, event: Told): void => clock.at(clock.now + seconds, () => send(event));

function carryOut(decision: Decision): void {
  seen.set(decision.type, (seen.get(decision.type) ?? 0) + 1);
  switch (decision.type) {
    case 'prompts.request': {
      const prompts = Array.from({ length: decision.count }, (_, index) => ({
        promptId: `p${index}`,
        promptTokens: 120,
      }));
      return later(0, { type: 'prompts.supplied', roundId: decision.roundId, prompts });
    }
    case 'round-tp.set':
      engines = new Map(decision.replicas.map((one) => [one.gpuIds[0]!, new DecodeEngine(one.gpuIds[0]!, cost)]));
      return;
    case 'request.launch':
      return start(decision.engineId!, decision.requestId, 0);
    case 'request.abort':
      return engines.get(decision.engineId!)!.abort(decision.requestId, clock.now);
    case 'timer.set':
      return clock.at(decision.fireAtSeconds, () => send({ type: 'timer.fired', timerId: decision.timerId }));
    case 'reward.dispatch':
      return later(0.2, {
        type: 'reward.finished',
        dispatchId: decision.dispatchId,
        outcome: 'scored',
        reward: decision.requestId.length % 2,
        seconds: 0.2,
      });
    case 'progress.query': {
      const requests = [...engines.values()].flatMap((engine) =>
        engine.progress(clock.now).map((one) => ({ ...one, engineId: engine.engineId, promptTokens: 120 })),
      );
      return later(0, { type: 'progress.reported', queryId: decision.queryId, requests });
    }
    case 'gpus.release':
      return migrate(decision);
    case 'gpus.reclaim':
      return later(0, { type: 'gpus.returned', roundId: 'r0', releaseId: decision.releaseId, gpuIds: decision.gpuIds });
    case 'train.fetch': {
      const { fetchId, replica, groups, samples, tokens } = decision;
      const seconds = tokens * 1e-4;
      return later(seconds, { type: 'train.consumed', fetchId, replica, groups, samples, tokens, seconds });
    }
    case 'train.finish':
      for (const { fetchId, replica, groups, samples, tokens } of decision.shares) {
        const seconds = tokens * 1e-4;
        later(seconds, { type: 'train.finished', fetchId, replica, groups, samples, tokens, seconds });
      }
      return;
    case 'optimizer.step': {
      const { roundId, updateId } = decision;
      return later(2, { type: 'optimizer.stepped', roundId, updateId });
    }
    case 'round.completed':
    case 'round.trained':
      log.push(`${decision.type} at ${clock.now.toFixed(1)} s`);
  }
}

function start(engineId: string, requestId: string, generatedTokens: number): void {
  const responseTokens = lengthOf(requestId);
  engines.get(engineId)!.add({ requestId, promptTokens: 120, responseTokens, generatedTokens }, clock.now);
}

/** Requests leave the released engines with their tokens; their KV is computed again where they go. */
function migrate({ releaseId, roundId, release, migrations }: Extract<Decision, { type: 'gpus.release' }>): void {
  const moves = migrations.flatMap(({ requestIds, to }) => requestIds.map((requestId) => ({ requestId, to })));
  log.push(`${release.length} GPUs released at ${clock.now.toFixed(1)} s, ${moves.length} requests move`);
  const tokens = new Map<string, number>();
  for (const { engineId } of release) {
    for (const lost of engines.get(engineId)!.lose(clock.now)) tokens.set(lost.requestId, lost.tokens);
    engines.delete(engineId);
  }
  for (const { requestId, to } of moves) {
    start(to, requestId, tokens.get(requestId)!);
    tokens.delete(requestId);
    later(0, { type: 'request.migrated', releaseId, requestId });
    later(0, { type: 'request.started', requestId, engineId: to });
  }
  // What the policy had given up already has ended with its engine.
  for (const [requestId, generated] of tokens) later(0, { type: 'request.aborted', requestId, tokens: generated });
  later(3, { type: 'gpus.released', roundId, releaseId, gpuIds: release.flatMap((one) => one.gpuIds) });
}

send({ type: 'reward-worker.added', workerId: 'w0', kind: 'rule', slots: 16 });
send({ type: 'round.requested', roundId: 'r0', weightVersion: 0 });
while (!seen.has('round.trained')) {
  const engineAt = Math.min(...[...engines.values()].map((engine) => engine.nextEventAt()));
  if (clock.nextAt() <= engineAt) clock.step();
  else clock.now = engineAt;
  for (const engine of engines.values()) {
    for (const { requestId, kind, tokens } of engine.advanceTo(clock.now)) {
      send({ type: kind === 'completed' ? 'response.completed' : 'request.aborted', requestId, tokens });
    }
  }
}

console.log(log.join('\n'));
assert.equal(seen.get('group.rewarded'), 8);
assert.equal(seen.get('optimizer.step'), 1);
assert.equal(seen.get('gpus.release'), 1);
assert.ok((seen.get('train.fetch') ?? 0) > 0, 'groups are trained beside the rollout');
