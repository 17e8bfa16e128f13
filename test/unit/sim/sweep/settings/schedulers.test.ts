/** From settings to schedulers, and to what is pasted into `registry.create`. */

import { describe, expect, test } from 'vitest';
import { registry } from '../../../../../src/index.ts';
import {
  jobPreset,
  type PolicyChoice,
  poolsChoice,
  rolloutpipeJob,
  synchronousChoice,
} from '../../../../../src/sim/node.ts';
import { poolsSchedulerOf, synchronousScheduler } from '../../../../../src/sim/sweep/settings/schedulers.ts';
import {
  definePoolsSettings,
  defineSynchronousSettings,
  labelOf,
} from '../../../../../src/sim/sweep/settings/settings.ts';
import { refusal } from '../../../../support/basics/refusal.ts';

const { job } = jobPreset('qwen2.5-14b-16k');
const pools = rolloutpipeJob(8);
const pasted = (choice: PolicyChoice) => {
  const { policy, config } = JSON.parse(JSON.stringify(choice)) as PolicyChoice;
  return registry.create(policy, config as never).id;
};

describe('a synchronous job', () => {
  test("the papers' settings are the defaults, and reach the configuration", () => {
    const { config } = synchronousChoice(job, defineSynchronousSettings());
    expect(config).toMatchObject({
      tailBatching: true,
      promptSpeculation: 1.25,
      responseSpeculation: 1.25,
      adaptiveTp: true,
      streamTraining: true,
      scaleDownTrigger: 'adaptive',
    });
  });

  test('a degree, a threshold and no speculation reach it as well', () => {
    const fixed = { promptSpeculation: 1, responseSpeculation: 1, threshold: 0.3, tp: 4 };
    const { config } = synchronousChoice(job, defineSynchronousSettings(fixed));
    expect(config).toMatchObject({
      tailBatching: false,
      adaptiveTp: false,
      startTp: { short: 4, long: 4 },
      scaleDownTrigger: 0.3,
    });
    const off = synchronousChoice(job, defineSynchronousSettings({ threshold: 'off' }));
    expect(off.config).toMatchObject({ streamTraining: false });
  });

  test('partial rollout, in the order of the data or composed', () => {
    const settings = defineSynchronousSettings({ promptSpeculation: 1.5, maxStaleness: 2 });
    const { config } = synchronousChoice(job, settings);
    const partial = {
      tailBatching: false,
      composition: true,
      partialRollout: true,
      maxStaleness: 2,
      promptSpeculation: 1.5,
    };
    expect(config).toMatchObject({ ...partial, windowRounds: 1 });
    expect(pasted(synchronousChoice(job, { ...settings, windowRounds: 10 }))).toBe('rollpacker');
    expect(labelOf(settings)).toBe('partial rollout 1.5, lag 2, scale-down adaptive, TP adaptive');
  });

  test('every choice is one for registry.create, through JSON', () => {
    for (const threshold of ['adaptive', 'off', 0.2] as const) {
      for (const tp of ['adaptive', 2, 8] as const) {
        const settings = defineSynchronousSettings({ threshold, tp });
        expect(pasted(synchronousChoice(job, settings))).toBe('rollpacker');
        expect(synchronousScheduler(job, settings).label).toBe(labelOf(settings));
      }
    }
    expect(pasted(synchronousChoice(job, 'baseline'))).toBe('rollpacker');
  });

  test('settings that are none are refused with their path', () => {
    expect(refusal(() => defineSynchronousSettings({ threshold: 2 }))).toMatchObject({ code: 'invalid_config' });
    expect(refusal(() => defineSynchronousSettings({ promptSpeculation: 0.9 }))).toMatchObject({
      path: 'promptSpeculation',
    });
    expect(refusal(() => definePoolsSettings({ width: 0 }))).toMatchObject({ code: 'invalid_config' });
  });
});

describe('a job on pools', () => {
  test('the recipe follows from the factors', () => {
    expect(poolsChoice(pools, definePoolsSettings({ width: 4 })).policy).toBe('rolloutpipe');
    expect(poolsChoice(pools, definePoolsSettings({ promptSpeculation: 1.25 })).policy).toBe('tail-pipelining');
    expect(poolsSchedulerOf(definePoolsSettings({ responseSpeculation: 1.25, width: 3 }))).toMatchObject({
      tailBatching: true,
      width: 3,
    });
  });

  test('every choice is one for registry.create, through JSON', () => {
    for (const width of ['auto', 'all', 3] as const) {
      for (const promptSpeculation of [1, 1.5]) {
        const choice = poolsChoice(pools, definePoolsSettings({ width, promptSpeculation }));
        expect(pasted(choice)).toBe(choice.policy);
      }
    }
    expect(pasted(poolsChoice(pools, 'baseline'))).toBe('rolloutpipe');
  });
});
