import { expect, test } from 'vitest';
import { create, rollpacker, type PolicyOf } from '../../../src/index.ts';
import type { RollpackerInput } from '../../../src/recipes/rollpacker/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { smallCluster } from '../../support/examples/configs.ts';
import { only } from '../../support/sessions/session.ts';

class Job {
  policy: PolicyOf<typeof rollpacker>;
  at = 0;
  constructor(config: Partial<RollpackerInput> = {}) {
    this.policy = create(rollpacker, { ...smallCluster, promptsPerRound: 2, promptSpeculation: 1.5, responseSpeculation: 1, ...config });
  }
  send(event: object): VocabularyDecision[] {
    this.at += 1;
    return this.policy.send({ at: this.at, ...event } as never) as VocabularyDecision[];
  }
  open(roundId = 'r0'): VocabularyDecision[] {
    const planned = this.send({ type: 'round.requested', roundId, weightVersion: 0 });
    const count = only(planned, 'prompts.request')[0]?.count ?? 0;
    const prompts = Array.from({ length: count }, (_, index) => ({ promptId: `${roundId}p${index}` }));
    return [...planned, ...this.send({ type: 'prompts.supplied', roundId, prompts })];
  }
  show(id: string, what?: string) {
    try {
    const w = this.policy.why(id, what);
    console.log([w, ...w.through].map((s) => `${s.what} ${s.id} ${s.stands}${s.since === undefined ? '' : ` since ${s.since}`}`).join('\n  -> ') + '\n  => ' + w.owed.map((o) => JSON.stringify(o)).join('\n     '));
    } catch (e) { console.log(String(e)); }
  }
  complete(...ids: string[]) { return ids.flatMap((requestId) => this.send({ type: 'response.completed', requestId, tokens: 100 })); }
  score(decisions: readonly VocabularyDecision[], rewards: readonly number[] = [1, 0]): VocabularyDecision[] {
    return only(decisions, 'reward.dispatch').flatMap(({ dispatchId }, index) =>
      this.send({ type: 'reward.finished', dispatchId, outcome: 'scored', reward: rewards[index % rewards.length], seconds: 1 }));
  }
}

test('show', () => {
  console.log('--- B filter none');
  let job = new Job({ defaultRewardKind: 'sandbox' });
  job.send({ type: 'reward-worker.added', workerId: 'w3', kind: 'sandbox', slots: 9 });
  job.open();
  let done = job.complete('r0p0/0#0', 'r0p0/1#0', 'r0p1/0#0', 'r0p1/1#0');
  job.show('r0'); job.show('r0p2');
  const rewarded = job.score(done);
  console.log('aborted, trained');
  for (const { requestId } of only(done, 'request.abort')) job.send({ type: 'request.aborted', requestId });
  const [finish] = only(rewarded, 'train.finish');
  for (const share of finish!.shares) done = job.send({ type: 'train.finished', ...share, seconds: 3 } as never);
  console.log(JSON.stringify(done.map((one) => one.type)));
  job.show('r0'); job.show('r0p0'); job.show('r0p2');
  const [step] = only(done, 'optimizer.step');
  job.send({ type: 'optimizer.stepped', roundId: 'r0', updateId: step!.updateId });
  job.show('r0'); job.show('r0p2'); job.show('d0'); job.show('w3');
  console.log(JSON.stringify(job.policy.why()));
  console.log('--- C not async');
  job = new Job({ asyncReward: false });
  job.open();
  job.complete('r0p0/0#0', 'r0p0/1#0');
  job.show('r0p0'); job.show('r0p0', 'groups'); job.show('r0p0/0#0');
  console.log('--- D composition');
  job = new Job({ tailBatching: false, composition: true, windowRounds: 2, promptSpeculation: undefined, responseSpeculation: undefined });
  job.send({ type: 'round.requested', roundId: 'r0', weightVersion: 0 });
  job.show('r0');
  job.send({ type: 'prompts.supplied', roundId: 'r0', prompts: [{ promptId: 'a' }] });
  job.show('a');
  job.send({ type: 'prompts.supplied', roundId: 'r0', prompts: [{ promptId: 'b' }, { promptId: 'c' }, { promptId: 'd' }] });
  job.show('a'); job.show('d'); job.show('r0');
  console.log('--- E release');
  job = new Job({ promptsPerRound: 3, kvBytesPerToken: 1 });
  const opened = job.open();
  done = job.complete('r0p0/0#0', 'r0p0/1#0');
  console.log(JSON.stringify(done.map((one) => one.type)));
  job.show('r0');
  const [query] = only(done, 'progress.query');
  const requests = only(opened, 'request.launch').filter(({ promptId }) => promptId !== 'r0p0').map(({ requestId, engineId }) => ({ requestId, engineId, tokens: 5, promptTokens: 5 }));
  done = job.send({ type: 'progress.reported', queryId: query!.queryId, requests });
  console.log(JSON.stringify(done));
  job.show('g0'); job.show('r0p1/0#0'); job.show('r0p1');
  const [release] = only(done, 'gpus.release');
  const gpuIds = release!.release.flatMap((one) => [...one.gpuIds]);
  job.send({ type: 'gpus.released', roundId: 'r0', releaseId: release!.releaseId, gpuIds });
  job.show(gpuIds[0]!); job.show('d0'); job.show(release!.releaseId);
  const over = job.complete('r0p1/0#0', 'r0p1/1#0', 'r0p2/0#0', 'r0p2/1#0');
  console.log(JSON.stringify(over.map((one) => one.type)));
  for (const { requestId } of only(over, 'request.abort')) job.send({ type: 'request.aborted', requestId });
  job.show('r0p3');
  job.show(gpuIds[0]!);
});
