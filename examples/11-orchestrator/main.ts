/** A whole job: two engines, rewards, a trainer, a policy server on disk; an engine, the server and the host are killed. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMockEngine } from 'rollflex/mock-engine';
import { cost, timeScale, workload } from '../10-frontier-http/workload.ts';
import { Engine } from './engines.ts';
import { type Checkpoint, type Job, Orchestrator } from './orchestrator.ts';
import { PolicyServer } from './policy-server.ts';
import { Trainer } from './trainer.ts';

const promptsPerRound = 6;
const responsesPerPrompt = 3;
const steps = 5;
const prompts = Array.from({ length: steps * promptsPerRound }, (_, index) => workload.prompt(index).promptId);

const folder = mkdtempSync(join(tmpdir(), 'rollflex-'));
const saved = join(folder, 'checkpoint.json');
const mock = await startMockEngine({
  cost,
  workload,
  options: { engines: 2, speed: timeScale, disconnectSeconds: 1e6 },
});
let server = await PolicyServer.start(folder);

const job: Job = {
  socket: server.socket,
  config: {
    promptsPerRound,
    responsesPerPrompt,
    promptSpeculation: 1.5,
    placement: 'policy',
    globalBatchSamples: 2 * responsesPerPrompt,
  },
  prompts,
  engines: mock.engineUrls.map((url, index) => new Engine(`engine-${index}`, url)),
  trainer: new Trainer(2e-6),
  launches: join(folder, 'launches'),
  rewardOf: (promptId, tokens) => (promptId.length + tokens) % 2,
};

const until = async (holds: () => boolean): Promise<void> => {
  for (const end = performance.now() + 120_000; !holds(); await sleep(2)) {
    assert(performance.now() < end, `it did not come to ${holds}`);
  }
};
/** Whether the round is in full swing. */
const isBusy = (): boolean => host.runningRequests >= 8;

/** A round, while something happens in its middle. */
async function round(number: number, incident: string, middle?: () => Promise<void>): Promise<void> {
  const before = job.trainer.state.steps;
  const over = host.round(`round-${number}`);
  // It may fail before anybody waits for it.
  over.catch(() => {});
  if (middle !== undefined) await until(isBusy).then(middle);
  await over;
  assert.equal(host.runningRequests, 0);
  const { trained, steps: after } = job.trainer.state;
  const { kind, deferred } = host.completed;
  writeFileSync(saved, JSON.stringify(await host.checkpoint()));
  console.log(
    `round ${number}: ${kind}, ${after - before} updates, ${deferred} prompts deferred, ${trained.length} trained so far${incident}`,
  );
}

let host = new Orchestrator(job, 1);
try {
  await host.open();
  await round(1, '');
  await round(2, '; engine-1 crashed, and came back', async () => {
    mock.cluster.fault({ fault: 'crash', engine: 1, restartAfterSeconds: 30 });
    await until(() => !job.engines[1]!.isUp);
  });
  await until(() => job.engines[1]!.isUp);
  await round(3, '; the policy server was killed, and another one went on', async () => {
    await server.kill();
    await sleep(200);
    server = await PolicyServer.start(folder);
  });
  assert.equal(host.reconnects, 1);

  // The host dies in the middle of a round, with what the round has trained: a checkpoint is all that is left.
  host.round('round-4').catch(() => {});
  await until(isBusy);
  host.die();
  const orphans = readFileSync(job.launches, 'utf8').trim().split('\n');
  host = new Orchestrator(job, 2, JSON.parse(readFileSync(saved, 'utf8')) as Checkpoint);
  for (const line of orphans) {
    const [engineId, requestId] = line.split(' ') as [string, string];
    await job.engines.find((one) => one.engineId === engineId)!.abort(requestId);
  }
  await host.open();
  console.log(`the host died in round 4; another one goes on from the checkpoint of round 3`);
  for (let number = 5; job.trainer.state.trained.length < prompts.length; number += 1) await round(number, '');

  const { trained, weightVersion } = job.trainer.state;
  assert.deepEqual([...trained].sort(), [...prompts].sort(), 'every prompt is trained on once');
  await until(() => mock.cluster.engines.every((one) => one.size === 0));
  const metrics = await server.metrics();
  const events = metrics.get('rollflex_events_total')!;
  assert(events > 0);
  console.log(`${trained.length} prompts, each trained on once; weights ${weightVersion}`);
  console.log(`the server that is left has applied ${events} events in ${metrics.get('rollflex_sessions')} session`);
} finally {
  host.die();
  await server.kill('SIGTERM');
  await mock.stop();
  rmSync(folder, { recursive: true });
}
