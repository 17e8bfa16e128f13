/** Work that gains nothing: what is usual of prompts that are filtered, and from how many on it is too much. */
import { expect, test } from 'vitest';
import { FutileWork } from '../../../../src/core/why/futile-work.ts';

test('how many prompts a round asks for is known after a restore, also before any was filtered', () => {
  const work = new FutileWork();
  expect(work.save()).toBeUndefined();
  work.follow({ type: 'prompts.request', at: 1, reason: { code: 'round_opened', target: 100 } } as never, 1);
  const restored = new FutileWork(JSON.parse(JSON.stringify(work.save())));
  expect(restored.most).toBe(work.most);
  expect(restored.save()).toEqual(work.save());
});
