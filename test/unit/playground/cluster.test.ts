/** Model and GPUs in the playground: those of the paper, or of the tables. */
import { expect, test } from 'vitest';
import { usual } from '../../../docs/playground/src/settings/fields.ts';
import {
  type SynchronousSettings,
  synchronousFields,
  usualTp,
} from '../../../docs/playground/src/settings/synchronous.ts';
import { jobOf } from '../../../docs/playground/src/worker/synchronous.ts';

const settings: SynchronousSettings = usual(synchronousFields);

test('a model of the paper on its GPUs is the preset; on others it is of the table', () => {
  expect(jobOf(settings, [[1]])).toMatchObject({ name: 'Qwen2.5-7B, 8k, 16 × H800', engines: 8 });
  const other = { ...settings, u: 'b200-sxm' };
  expect(jobOf(other, [[1]])).toMatchObject({
    name: 'Qwen2.5-7B in bf16, 8 × B200 SXM, TP 1, vLLM',
    promptsPerRound: settings.P,
    rewards: { sandboxSeconds: [[1]] },
  });
  expect(jobOf({ ...settings, m: 'Qwen3-32B', TP: '4', g: 16 }, [[1]])).toMatchObject({
    name: 'Qwen3-32B in bf16, 16 × H800 SXM, TP 4, vLLM',
    engines: 4,
  });
});

test('a model brings its TP, and one without room is refused with its setting', () => {
  const tpOf = (m: string, u: string) => usualTp({ m, u, cap: 4096 });
  expect([tpOf('qwen2.5-14b-16k', 'paper'), tpOf('Qwen3-8B', 'paper'), tpOf('Qwen3-32B', 'l4')]).toEqual([
    '2',
    '1',
    '4',
  ]);
  expect(() => jobOf({ ...settings, m: 'DeepSeek-V3' }, [[1]])).toThrow(/^TP: expected weights that leave room/);
});
