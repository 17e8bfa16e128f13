import { describe, expect, test } from 'vitest';
import { PromptSource } from '../../../../src/sim/cluster/source.ts';
import { rollpackerScheduler, variants } from '../../../../src/sim/colocated/ablation.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import { jobPreset, rollpackerWorkload } from '../../../../src/sim/models/presets.ts';
import { withLevers } from '../../../../src/sim/sweep/settings/levers.ts';
import { inEpochs } from '../../../../src/sim/workload/epochs.ts';

const fresh = rollpackerWorkload(8192, 1);
const ten = inEpochs(fresh, 10, 1);
const epoch = (number: number) => Array.from({ length: 10 }, (_, index) => ten.prompt(10 * number + index));

describe('inEpochs', () => {
  test('the first epoch is that of the workload', () => {
    for (const [index, prompt] of epoch(0).entries()) {
      expect(prompt.promptId).toBe(fresh.prompt(index).promptId);
      expect(prompt.sample(3)).toEqual(fresh.prompt(index).sample(3));
    }
  });

  test('in later ones the same prompts come in another order, and get other responses', () => {
    const [first, second, third] = [epoch(0), epoch(1), epoch(2)];
    const known = (list: typeof first) => list.map((one) => one.comesBack ?? one.promptId);
    expect(known(second).toSorted()).toEqual(known(first).toSorted());
    expect(known(second)).not.toEqual(known(first));
    expect(known(third)).not.toEqual(known(second));
    expect(new Set([first, second, third].flat().map(({ promptId }) => promptId)).size).toBe(30);
    for (const prompt of second) {
      const before = first[prompt.place!]!;
      expect(prompt.promptTokens).toBe(before.promptTokens);
      expect([0, 1, 2].map((k) => prompt.sample(k).tokens)).not.toEqual([0, 1, 2].map((k) => before.sample(k).tokens));
    }
  });

  test('its samples are counted from the epoch, so that only what is drawn again after a deferral counts as such', () => {
    const source = new PromptSource(inEpochs(fresh, 2, 1), 4);
    for (const epoch of [0, 1]) {
      for (const { promptId } of source.take(2)) {
        const { sample, sampleOfEpoch } = source.draw(`${promptId}/3#${epoch}`, promptId, 3);
        expect([sample, sampleOfEpoch]).toEqual([epoch * 2 ** 20 + 3, 3]);
        source.trained(promptId);
      }
    }
  });

  test('a prompt that is still out is dealt again once its turn is over', () => {
    const source = new PromptSource(inEpochs(fresh, 2, 1), 4);
    const first = source.take(4).map(({ promptId }) => promptId);
    expect(first).toHaveLength(2);
    expect(source.left).toBe(0);
    source.trained(first[1]!);
    expect(source.left).toBe(1);
    expect(source.take(4).map(({ promptId }) => promptId)).toEqual([first[1]]);
    source.trained(first[0]!);
    source.trained(first[1]!);
    expect(source.take(4).map(({ promptId }) => promptId)).toEqual([first[0]]);
  });

  test.each(variants)(
    '$id trains every prompt of every epoch, also where they are fewer than a round takes',
    (variant) => {
      const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
      const job = { ...preset, promptsPerRound: 8, responsesPerPrompt: 4, engines: 2 };
      for (const prompts of [5, 12, 32]) {
        const workload = inEpochs(rollpackerWorkload(capTokens, 1), prompts, 1);
        const options = { prompts: 80, seed: 1, timeline: false, validate: true };
        const run = simulate(job, rollpackerScheduler(job, 'x', variant.switches), workload, options);
        expect(run.steps.reduce((sum, step) => sum + step.prompts, 0)).toBe(80);
      }
    },
  );
});

test('where nothing is aborted, a prompt keeps its lengths within an epoch, and gets others in the next', () => {
  const groups = { responses: false, aborts: false, resumes: false, rewards: false, scaleDown: false, tp: false };
  const kept = inEpochs(withLevers(fresh, groups), 10, 1);
  for (const place of [0, 1, 2]) {
    const again = Array.from({ length: 10 }, (_, index) => kept.prompt(10 + index)).find((one) => one.place === place)!;
    expect(again.sample(1024 + 3)).toEqual(again.sample(3));
    expect([0, 1, 2].map((k) => again.sample(k).tokens)).not.toEqual(
      [0, 1, 2].map((k) => kept.prompt(place).sample(k).tokens),
    );
  }
});
