/** A frontier and a pipeline between an HTTP engine and a trainer; and a host that is killed in the middle of a round. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { check, type Outcome } from './check.ts';
import { type HostOptions, prefixOf } from './host-state.ts';
import { runHost } from './run-host.ts';
import { rolloutPipe, serial, timeScale } from './workload.ts';
import { HostProcess, openWorld, type World } from './world.ts';

// They stand by from the beginning: what a restart costs is not to be the start of Node.
const [first, second] = [new HostProcess(), new HostProcess()];
const folder = mkdtempSync(join(tmpdir(), 'rollflex-'));
const until = async (holds: () => boolean): Promise<void> => {
  const startedAt = performance.now();
  for (; !holds(); await sleep(2)) assert(performance.now() - startedAt < 60_000, `it did not come to ${holds}`);
};

type Ran<T> = Outcome & { more: T };
/** Runs hosts in a world of their own, and checks what they have left. */
async function run<T>(options: HostOptions, hosts: (world: World) => Promise<T>, speed = timeScale): Promise<Ran<T>> {
  const world = await openWorld(mkdtempSync(join(folder, 'run-')), speed);
  try {
    const more = await hosts(world);
    assert.deepEqual(world.engine.requestIds, [], 'nothing is left to run for nobody');
    return { ...check(options, world.folder), more };
  } finally {
    await world.close();
  }
}

const total = ({ measured }: Outcome): number => measured.reduce((sum, one) => sum + one.trainEndSeconds, 0);

/** Both orders. On a machine with other work, files and messages may take longer than what is simulated: it goes slower then. */
async function compared(speed = timeScale): Promise<{ alone: Outcome; piped: Outcome; speed: number }> {
  const alone = await run(serial, (world) => runHost(serial, world), speed);
  const piped = await run(rolloutPipe, (world) => runHost(rolloutPipe, world), speed);
  return total(piped) < total(alone) || speed < 4 ? { alone, piped, speed } : compared(speed / 4);
}

/** A host is killed while requests stream and the trainer is at work; another one goes on. */
async function killAndGoOn(world: World) {
  const { engine, trainer } = world;
  first.work(rolloutPipe, world);
  await until(() => trainer.steps >= 1 && trainer.isComputing && engine.load().running >= 8);
  first.kill();
  const killedAt = performance.now();
  const orphans = engine.requestIds;
  assert.equal(await first.end(), 'SIGKILL');
  const trainedBefore = trainer.steps;

  second.work(rolloutPipe, world);
  await until(() => engine.requestIds.some((rid) => rid.startsWith(prefixOf(2))));
  const withoutHostSeconds = (performance.now() - killedAt) / 1000;
  assert.equal(await second.end(), 0);
  assert(trainedBefore < trainer.steps, 'there was something left to do');
  assert(orphans.length > 0, 'requests ran on');
  return { orphans: orphans.length, withoutHostSeconds };
}

try {
  await Promise.all([first.ready(), second.ready()]);
  const { alone, piped, speed } = await compared();
  const killed = await run(
    rolloutPipe,
    async (world) => {
      const { engine, trainer } = world;
      const restart = await killAndGoOn(world);
      const { abort: aborted, abortedTokens: tokens } = engine.counts;
      return { ...restart, aborted, tokens, repeats: trainer.repeats };
    },
    speed,
  );
  const { orphans, withoutHostSeconds, aborted, tokens, repeats } = killed.more;

  console.log('seconds of two rounds        all   first dispatch   rollout   trainer waits');
  for (const [name, { measured }] of Object.entries({ serial: alone, rolloutpipe: piped, 'killed half-way': killed })) {
    const sums = (['trainEnd', 'firstDispatch', 'rollout', 'wait'] as const).map((part) =>
      measured.reduce((sum, one) => sum + one[`${part}Seconds`], 0).toFixed(2),
    );
    const [all, first, rollout, wait] = sums as [string, string, string, string];
    console.log(name.padEnd(22) + all.padStart(10) + first.padStart(17) + rollout.padStart(10) + wait.padStart(16));
  }
  const without = withoutHostSeconds.toFixed(2);
  console.log(`killed: ${without} s without a host, in which ${orphans} requests ran on; ${aborted} of them, with`);
  console.log(`${tokens} tokens, could be aborted. Updates that came again: ${repeats}; computed again: none.`);

  assert.equal(piped.steps, alone.steps);
  for (const [index, { firstDispatchSeconds, rolloutSeconds }] of piped.measured.entries()) {
    assert(firstDispatchSeconds < rolloutSeconds, 'training begins before the rollout is over');
    assert(alone.measured[index]!.firstDispatchSeconds >= alone.measured[index]!.rolloutSeconds);
  }
  assert(total(piped) < total(alone), 'and the rounds are over earlier');
  assert.equal(killed.hosts, 2);
  assert(repeats > 0, 'the second host has dispatched again what the trainer was working on');
} finally {
  first.kill();
  second.kill();
  rmSync(folder, { recursive: true });
}
