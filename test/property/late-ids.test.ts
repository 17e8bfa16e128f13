/**
 * Invariant 11 of speculative-admission: what was launched is late when it is over, whatever has happened since; what was
 * not is unknown, unless its attempt number is older than what is remembered.
 */

import fc from 'fast-check';
import { describe, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError, speculativeAdmission } from '../../src/index.ts';
import { arbitrary } from '../../src/policies/speculative-admission/arbitrary.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { anySettings } from '../support/examples/any-settings.ts';

type Saved = { state: { departures: { horizon: number } } };

function playOne(tape: readonly number[]): void {
  const choices = choicesFrom(tape);
  const config = { ...anySettings(choices), promptsPerRound: 1 + choices.below(2), quotas: undefined };
  const shadow = speculativeAdmission.init(speculativeAdmission.config.parse(config));
  let policy = create(speculativeAdmission, config as never);
  const launched = new Set<string>();
  for (let index = 0; index < 150; index += 1) {
    const event = arbitrary(shadow, choices);
    try {
      const decisions = policy.send(event);
      for (const one of decisions) if (one.type === 'request.launch') launched.add(one.requestId);
    } catch (error) {
      if (!isPolicyError(error) || error.code === 'internal') throw error;
      continue;
    }
    speculativeAdmission.apply(shadow, event, { at: policy.at, emit: () => undefined });
    if (choices.below(20) === 0)
      policy = create(speculativeAdmission, { snapshot: JSON.parse(JSON.stringify(policy.snapshot())) });
  }
  const { departures } = (policy.snapshot() as unknown as Saved).state;
  const expectCode = (requestId: string, code: string | undefined): void => {
    let got: unknown;
    try {
      speculativeAdmission.check(shadow, { type: 'turn.finished', at: policy.at, requestId, tokens: 1 });
    } catch (error) {
      got = (error as { code: string }).code;
    }
    if (got !== code) throw new Error(`${requestId}: ${got}, expected ${code}`);
  };
  for (const id of launched) {
    expectCode(id, undefined);
    const [head = '', attempt] = id.split('#');
    const [prompt, index] = head.split('/');
    const others = [`${prompt}x/${index}#${attempt}`, `x${id}`, `${prompt}/${Number(index) + 9}#${attempt}`];
    if (Number(attempt) < departures.horizon) continue;
    // The last is an attempt that no request has reached.
    for (const other of [...others, `${head}#${shadow.nextAttempt}`]) expectCode(other, 'unknown_id');
  }
}

describe('speculative-admission', () => {
  test('invariant 11: late is what was launched, and nothing else', () => {
    fc.assert(fc.property(tapes(), playOne), runs(25));
  });
});
