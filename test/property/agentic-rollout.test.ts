/** The invariants of agentic-rollout, by their numbers in its README, under random events and restored snapshots. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { arbitrary } from '../../src/recipes/agentic-rollout/arbitrary.ts';
import { agenticRollout } from '../../src/recipes/agentic-rollout/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

interface Saved {
  readonly parts: {
    readonly admission: { state: { prompts: { responses: { requestId: string; status: string }[] }[] } };
    readonly programs: { state: { programs: { requestId: string }[] } };
    readonly slots: { state: { programs: { requestId: string }[] } };
  };
}

const live = new Set(['running', 'waiting', 'resuming']);
let withEnvironment = 0;
let resumed = 0;

function check(saved: Saved, needs: boolean): void {
  const { admission, programs, slots } = saved.parts;
  const requests = admission.state.prompts
    .flatMap(({ responses }) => responses)
    .filter(({ status }) => live.has(status))
    .map(({ requestId }) => requestId);
  // Invariant 1.
  expect(new Set(programs.state.programs.map(({ requestId }) => requestId))).toEqual(new Set(requests));
  // Invariant 2.
  const housed = slots.state.programs.map(({ requestId }) => requestId);
  withEnvironment += housed.length;
  if (needs) expect(new Set(housed)).toEqual(new Set(requests));
  else for (const one of housed) expect(requests).toContain(one);
}

function run(config: Record<string, unknown>, tape: readonly number[]): void {
  const settings = agenticRollout.config.parse(config);
  const choices = choicesFrom(tape);
  const shadow = agenticRollout.init(settings);
  let policy = create(agenticRollout, config as never);
  for (let index = 0; index < 60; index += 1) {
    const event = arbitrary(shadow, choices);
    const before = (policy.snapshot().state as Saved).parts.programs.state.programs;
    let told: readonly { type: string; requestId?: string; reason: { code: string } }[];
    try {
      told = policy.send(event as never) as never;
    } catch (error) {
      if (!isPolicyError(error) || error.code === 'internal') throw error;
      continue;
    }
    agenticRollout.check(shadow, event);
    agenticRollout.apply(shadow, event, { at: policy.at, emit: () => undefined });
    const saved = policy.snapshot().state as Saved;
    check(saved, settings.environment !== undefined);
    if (event.type === 'host.restarted') {
      // Invariant 4: the same programs go on, and none begins in place of another.
      const ids = new Set(saved.parts.programs.state.programs.map(({ requestId }) => requestId));
      for (const { requestId } of before) expect(ids).toContain(requestId);
      resumed += told.filter((one) => one.type === 'request.resume').length;
    }
    // Invariant 3.
    for (const { type, requestId, reason } of told) {
      const isLost = type === 'slot.denied' ? reason.code !== 'closed' : reason.code === 'tool_timeout';
      if (isLost) expect(saved.parts.programs.state.programs.map((one) => one.requestId)).not.toContain(requestId);
    }
    if (choices.below(12) === 0) {
      policy = create(agenticRollout, { snapshot: JSON.parse(JSON.stringify(policy.snapshot())) });
    }
  }
}

describe('agentic-rollout', () => {
  test.each(exampleConfigs['agentic-rollout']!.map((config) => [JSON.stringify(config), config] as const))(
    'invariants 1 to 4 hold with %s',
    (_name, config) => {
      fc.assert(
        fc.property(tapes(), (tape) => run(config, tape)),
        runs(40),
      );
    },
  );

  test('programs with environments, and restarts with programs, were met on the way', () => {
    expect(withEnvironment).toBeGreaterThan(100);
    expect(resumed).toBeGreaterThan(5);
  });
});
