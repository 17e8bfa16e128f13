import { describe, expect, test } from 'vitest';
import { checkLaws } from '../../src/testing/index.ts';
import { times, unshrunk } from '../support/basics/runs.ts';
import { rightRetrier, wrongRetriers } from '../support/wrong/retriers.ts';

const config = { slots: 8 };

describe('laws 19 and 20', () => {
  test('pass a policy that tells a fault that all share from one of a prompt', () => {
    checkLaws(rightRetrier, { config, runs: times(20), events: 60, only: [19, 20], seed: 1 });
  });

  test.each(wrongRetriers)('law $law fails a policy that $title', ({ law, says, tested }) => {
    const check = () => checkLaws(tested, { config, runs: 30, events: 60, only: [law], seed: 1 });
    expect(() => unshrunk(check)).toThrow(new RegExp(`breaks law ${law} .*${says.source}`, 's'));
  });
});
