/**
 * Shows that a server keeps what it has answered when the machine crashes, against the same policy in process: the system calls of
 * real servers are recorded, and the directory is rebuilt as the crash may have left it at any of them.
 * `npx tsx bench/rpc/crash-images.ts [IMAGES] [SEED] [CALLS]`
 */
import { packageVersion } from '../../src/logs/index/package.ts';
import { generator } from '../../test/support/basics/numbers.ts';
import { type CrashFigures, checkImage, record, whyNot } from '../../test/support/servers/crash-images/crash-run.ts';
import { builtCli } from '../support.ts';

const [images = 1000, seed = 1, calls = 3000] = process.argv.slice(2).map(Number);
const missing = whyNot();
if (missing !== undefined) throw new Error(missing);
const random = generator(seed);
const counts = [calls, 40, 40, 40];
const run = await record({ entry: [builtCli()], version: packageVersion(), calls: counts, random });
const answered = run.calls.filter((one) => one.answered !== undefined).length;
const syncs = run.ops.filter(({ kind }) => kind === 'sync').length;
console.log(
  `${counts.length} servers, ${answered} answers, ${run.ops.length} recorded operations, ${syncs} of them syncs`,
);
for (const files of ['ordered', 'any'] as const) {
  const figures: CrashFigures = { images: 0, whole: 0, refused: {} };
  const begun = performance.now();
  for (let image = 0; image < images; image += 1) await checkImage(run, files, random, figures);
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  console.log(`${files}: ${figures.images} images, ${figures.whole} with everything that was answered (${seconds} s)`);
  for (const [why, times] of Object.entries(figures.refused)) console.log(`  ${times} refused: ${why}`);
}
