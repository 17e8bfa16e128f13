/**
 * Shows what streaming is worth, against a step without a release and against the one fetch of RollPacker's Table 4:
 * seconds of a step (rollout and training) ÷ seconds of its rollout. 128 groups of lognormal length; 16 replicas, 8 of
 * them released after 30 % of the groups; the release does not slow down decoding; the pace of a replica varies by ± 10
 * %. Means of 20 rounds. A model of this policy's effect alone, not of a cluster.
 */

import { Heap } from '../../src/core/collections/heap.ts';
import { create, streamTraining } from '../../src/index.ts';
import type { StreamTrainingInput } from '../../src/policies/stream-training/index.ts';
import { normal, uniform } from '../../src/sim/workload/random.ts';

const groupsPerRound = 128;
const replicas = Array.from({ length: 16 }, (_, index) => ({ id: `replica-${index}`, gpuIds: [`gpu-${index}`] }));
const released = replicas.slice(8).flatMap((one) => one.gpuIds);
const roundId = 'r';
const kind = { kind: 'long', weightVersion: 0 } as const;

interface Setting {
  readonly fetch: StreamTrainingInput['fetch'];
  readonly releases: boolean;
  /** Seconds of training on all replicas ÷ seconds of the rollout. */
  readonly trainingShare: number;
  /** Seconds that a fetch or share takes beside its tokens. */
  readonly overheadSeconds: number;
}

/** The step of one round, and the least that it could be: the last group is trained after the rollout. */
function stepOverRollout(
  round: number,
  { fetch, releases, trainingShare, overheadSeconds }: Setting,
): { step: number; least: number } {
  const groups = Array.from({ length: groupsPerRound }, (_, index) => {
    const tokens = Math.round(Math.min(16_384, Math.exp(8 + 0.8 * normal(1, round, index))));
    return { promptId: `p${index}`, tokens, at: tokens / 50 };
  }).sort((a, b) => a.at - b.at);
  const end = groups[groupsPerRound - 1]!.at;
  const tokensOfAll = groups.reduce((sum, one) => sum + one.tokens, 0);
  const pace = (trainingShare * end * replicas.length) / tokensOfAll;
  const trainer = create(streamTraining, { replicas, groupsPerRound, fetch });
  const queue = new Heap<{ at: number; seq: number; event: object }>((a, b) => a.at - b.at || a.seq - b.seq);
  const freeAt = new Map<string, number>();
  let seq = 0;
  let stepAt = 0;
  const push = (at: number, event: object) => queue.push({ at, seq: seq++, event });
  const begin = (
    at: number,
    type: string,
    work: { fetchId: string; replica: string; groups: string[]; samples: number; tokens: number },
  ) => {
    const { fetchId, replica, groups: ids, samples, tokens } = work;
    const overhead = ids.length > 0 ? overheadSeconds : 0;
    const seconds = overhead + tokens * pace * (0.9 + 0.2 * uniform(2, round, seq));
    const done = Math.max(at, freeAt.get(replica) ?? 0) + seconds;
    freeAt.set(replica, done);
    push(done, { type, fetchId, replica, groups: ids, samples, tokens, seconds });
  };
  push(0, { type: 'round.opened', roundId, ...kind, prompts: [] });
  for (const { promptId, tokens, at } of groups)
    push(at, { type: 'group.completed', roundId, groupId: promptId, samples: 8, tokens });
  if (releases)
    push(groups[Math.floor(0.3 * groupsPerRound)]!.at, { type: 'gpus.released', roundId, gpuIds: released });
  const prompts = groups.map(({ promptId, tokens }) => ({
    promptId,
    responses: [{ requestId: `${promptId}/0#0`, index: 0, tokens, weightVersions: [0] }],
  }));
  const reason = { code: 'quota_reached', counted: groupsPerRound, needed: groupsPerRound };
  push(end, { type: 'round.completed', roundId, ...kind, prompts, openedSeconds: 0, deferred: 0, reason });
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { at } = next;
    for (const decision of trainer.send({ ...next.event, at } as never)) {
      if (decision.type === 'train.fetch') begin(at, 'train.consumed', decision);
      else if (decision.type === 'train.finish')
        for (const share of decision.shares) begin(at, 'train.finished', share);
      else if (decision.type === 'optimizer.step') stepAt = at;
    }
  }
  return { step: stepAt / end, least: 1 + (overheadSeconds + groups[groupsPerRound - 1]!.tokens * pace) / end };
}

const ways = [
  { releases: false, fetch: 'stream' },
  { releases: true, fetch: 'stream' },
  { releases: true, fetch: { once: 0.2 } },
  { releases: true, fetch: { once: 0.3 } },
  { releases: true, fetch: { once: 0.5 } },
] as const;
const rounds = Array.from({ length: 20 }, (_, round) => round);
const mean = (values: readonly number[]): string =>
  (values.reduce((sum, one) => sum + one, 0) / values.length).toFixed(2);

console.log('training ÷ rollout, overhead: no release | stream | once 0.2 | once 0.3 | once 0.5 | least');
for (const trainingShare of [0.2, 0.5, 1]) {
  for (const overheadSeconds of [0, 3]) {
    const cells = ways.map((way) =>
      rounds.map((round) => stepOverRollout(round, { ...way, trainingShare, overheadSeconds })),
    );
    const steps = cells.map((cell) => mean(cell.map((one) => one.step)));
    console.log(
      `${trainingShare}, ${overheadSeconds} s: ${steps.join(' | ')} | ${mean(cells[0]!.map((one) => one.least))}`,
    );
  }
}
