/** What must hold when all rounds are over, whatever happened to the hosts: read from what is on disk. */
import assert from 'node:assert/strict';
import { readSaved } from './durable.ts';
import type { HostOptions, HostState, Measured } from './host-state.ts';
import { readRecords } from './records.ts';
import { filesOf } from './run-host.ts';
import type { Body, Task } from './tasks.ts';
import type { Step } from './trainer.ts';
import { lengthOf, maxNewTokens } from './workload.ts';
import { recordOf } from './world.ts';

/** What a run was like. */
export interface Outcome {
  readonly hosts: number;
  readonly steps: number;
  readonly measured: readonly Measured[];
}

/** Throws unless every group was trained on, whole, once, in order, with the weights of its round. */
export function check(options: HostOptions, folder: string): Outcome {
  const files = filesOf(folder);
  const { state, tasks } = readSaved<HostState, Task>(files.state)!;
  assert.deepEqual(tasks, [], 'nothing is left to do');
  const bodies = new Map(readRecords<Body>(files.bodies).map((one) => [one.requestId, one]));
  const steps = readRecords<Step>(recordOf(folder));
  for (let round = 0; round < options.rounds; round += 1) {
    const prompts = options.prompts.slice(round * options.groups, (round + 1) * options.groups);
    checkRound(options, round + 1, prompts, steps, bodies);
  }
  return { hosts: state.boot, steps: steps.length, measured: state.measured };
}

function checkRound(
  { groupsPerUpdate, responses }: HostOptions,
  number: number,
  prompts: readonly string[],
  steps: readonly Step[],
  bodies: ReadonlyMap<string, Body>,
): void {
  const own = steps.filter((one) => one.roundId === `round-${number}`);
  const trained = own.flatMap((one) => one.groups);
  assert.deepEqual(
    own.map((one) => one.update),
    upTo(prompts.length / groupsPerUpdate),
    'each update once, in order',
  );
  assert.deepEqual(trained.map((one) => one.groupId).sort(), [...prompts].sort(), 'no group lost, and none twice');
  assert.deepEqual(
    trained.map((one) => one.order),
    upTo(prompts.length),
    'in the order in which they were trainable',
  );
  for (const { groupId, requestIds } of trained) {
    const group = requestIds.map((requestId) => bodies.get(requestId)!);
    assert.deepEqual(
      group.map((one) => one.index),
      upTo(responses),
      'a group is whole',
    );
    for (const { promptId, index, tokens, weightVersion } of group) {
      assert.equal(promptId, groupId);
      assert.equal(tokens, Math.min(maxNewTokens, lengthOf(promptId, index)), 'a response is whole');
      assert.equal(weightVersion, number, 'a response is of the weights of its round');
    }
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
