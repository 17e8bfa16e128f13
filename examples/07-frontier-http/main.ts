/** Frontier and pipelining in front of an HTTP engine, with a host that is killed in the middle. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Engine } from '../http-engine/engine.ts';
import { serveSglang } from '../http-engine/sglang.ts';
import { readSaved } from './durable.ts';
import { filesOf, type HostOptions, type HostState, type Measured, runHost, type Surroundings } from './host.ts';
import { readRecords } from './records.ts';
import type { Body, Task } from './tasks.ts';
import { type Step, serveTrainer, Trainer } from './trainer.ts';
import * as w from './workload.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-'));
const serial: HostOptions = { ...w, width: w.groups, pipelining: false };
const pipelined: HostOptions = { ...w, pipelining: true };

interface World extends Surroundings {
  readonly engine: Engine;
  readonly trainer: Trainer;
}

/** An engine and a trainer of its own for each run. What the run gives is asked before they are closed. */
async function withWorld<T>(name: string, run: (world: World) => Promise<T>): Promise<T> {
  const { timeScale, stepSeconds, lengthOf, secondsPerToken } = w;
  const engine = new Engine({
    maxRunningRequests: 128,
    stepsInFlight: 1,
    streamInterval: 64,
    timeScale,
    stepSeconds,
    lengthOf,
  });
  const own = mkdtempSync(join(folder, `${name}-`));
  const trainer = await Trainer.open(join(own, 'steps.jsonl'), { secondsPerToken, timeScale });
  const [engineServer, trainerServer] = [
    await serveSglang(engine, { disconnectGraceSeconds: 2 / timeScale }),
    await serveTrainer(trainer),
  ];
  try {
    return await run({ folder: own, engineUrl: engineServer.url, trainerUrl: trainerServer.url, engine, trainer });
  } finally {
    engine.stop();
    await engineServer.close();
    await trainerServer.close();
    await trainer.close();
  }
}

const surroundings = ({ folder, engineUrl, trainerUrl }: Surroundings): Surroundings => ({
  folder,
  engineUrl,
  trainerUrl,
});

function start(options: HostOptions, world: World) {
  const input = JSON.stringify({ options, surroundings: surroundings(world) });
  const program = fileURLToPath(new URL('host-process.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program, input], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const exit = new Promise<number | string>((resolve) =>
    child.on('exit', (code, signal) => resolve(signal ?? code ?? 0)),
  );
  return { child, exit };
}

function check(world: World) {
  const { folder } = world;
  const steps = readRecords<Step>(join(folder, 'steps.jsonl'));
  const saved = readSaved<HostState, Task>(filesOf(folder).state)!;
  const bodies = new Map(readRecords<Body>(filesOf(folder).bodies).map((one) => [one.requestId, one]));
  for (let round = 0; round < w.rounds; round += 1) {
    const roundId = `round-${round + 1}`;
    const own = steps.filter((one) => one.roundId === roundId);
    assert.deepEqual(
      own.map((one) => one.update),
      [0, 1, 2, 3],
    );
    const trained = own.flatMap((one) => one.groups);
    assert.deepEqual(
      trained.map((one) => one.order),
      trained.map((_, index) => index),
    );
    assert.deepEqual(
      trained.map((one) => one.groupId).sort(),
      w.prompts.slice(round * w.groups, (round + 1) * w.groups).sort(),
    );
    for (const { groupId, requestIds } of trained) {
      const responses = requestIds.map((requestId) => bodies.get(requestId)!);
      assert.deepEqual(
        responses.map((one) => one.index),
        [0, 1, 2, 3, 4, 5, 6, 7],
      );
      for (const { promptId, index, tokens, weightVersion } of responses) {
        assert.equal(promptId, groupId);
        assert.equal(tokens, Math.min(w.maxNewTokens, w.lengthOf(promptId, index)));
        assert.equal(weightVersion, String(round + 1));
      }
    }
  }
  return { measured: saved.state.measured, boots: saved.state.boots };
}

const show = (name: string, measured: readonly Measured[], engine: Engine) => {
  const sum = (of: (one: Measured) => number) => (measured.reduce((s, one) => s + of(one), 0) * w.timeScale).toFixed(0);
  console.log(
    name,
    sum((o) => o.trainEndSeconds),
    sum((o) => o.firstDispatchSeconds),
    sum((o) => o.rolloutSeconds),
    sum((o) => o.waitSeconds),
    engine.abortedRequests,
    engine.abortedTokens,
  );
};

for (const [name, options] of [
  ['serial', serial],
  ['pipelined', pipelined],
] as const) {
  await withWorld(name, async (world) => {
    world.engine.weightVersion = '1';
    const t = performance.now();
    await runHost(options, surroundings(world));
    console.log(performance.now() - t);
    show(name, check(world).measured, world.engine);
  });
}

await withWorld('killed', async (world) => {
  world.engine.weightVersion = '1';
  const t = performance.now();
  const first = start(pipelined, world);
  while (world.trainer.stepsOf('round-1') < 1 || world.engine.running < 10) await new Promise((r) => setTimeout(r, 5));
  first.child.kill('SIGKILL');
  console.log(await first.exit, performance.now() - t, world.engine.rids.length);
  const second = start(pipelined, world);
  console.log(await second.exit, performance.now() - t);
  show('killed', check(world).measured, world.engine);
  console.log(world.trainer.repeats);
});
rmSync(folder, { recursive: true });
