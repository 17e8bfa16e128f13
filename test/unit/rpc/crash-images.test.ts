/** A few of the images of `bench/rpc/crash-images.ts`: what a crash of the machine leaves of a real server's directory. */
import { beforeAll, describe, expect, test } from 'vitest';
import { packageVersion } from '../../../src/logs/index/package.ts';
import { generator } from '../../support/basics/numbers.ts';
import { times } from '../../support/basics/runs.ts';
import { entry } from '../../support/command-line/process.ts';
import {
  type CrashFigures,
  checkImage,
  type Recorded,
  record,
  whyNot,
} from '../../support/servers/crash-images/crash-run.ts';

const missing = whyNot();

describe.skipIf(missing !== undefined)(
  `images of a recorded directory${missing === undefined ? '' : `: ${missing}`}`,
  () => {
    const random = generator(7);
    let run: Recorded;
    beforeAll(async () => {
      run = await record({ entry, version: packageVersion(), calls: [40, 24, 12], random });
    });

    async function images(of: Recorded, files: 'ordered' | 'any', count: number): Promise<CrashFigures> {
      const figures: CrashFigures = { images: 0, whole: 0, refused: {} };
      while (figures.images < count) await checkImage(of, files, random, figures);
      return figures;
    }

    test('on a file system that keeps the order of names, everything that was answered is there', async () => {
      const { whole, refused } = await images(run, 'ordered', times(40));
      expect(refused).toEqual({});
      expect(whole).toBe(times(40));
    });

    test('on any other, it is there, or the store is refused', async () => {
      const { whole } = await images(run, 'any', Math.max(10, times(20)));
      expect(whole).toBeGreaterThan(0);
    });

    test('a server that did not sync its log would be found out', async () => {
      const logs = run.ops.flatMap((op) => (op.kind === 'name' && op.name.endsWith('.log') ? [op.file] : []));
      const unsynced = run.ops.filter((op) => op.kind !== 'sync' || op.file === 'directory' || !logs.includes(op.file));
      // Answered events are gone, or the note of the last write shows that they are.
      const found = images({ ...run, ops: unsynced }, 'ordered', 60).then(
        ({ refused }) => JSON.stringify(refused),
        (error: Error) => error.message,
      );
      expect(await found).toMatch(/is lost|events at|writes are missing/);
    });
  },
);
