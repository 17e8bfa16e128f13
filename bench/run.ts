/** Every benchmark, one after the other: `npm run bench`. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

for (const name of [
  'admission',
  'adaptive-tp',
  'gpu-scale-down',
  'group-assembly',
  'sandbox-timeout',
  'state',
  'sim-engine',
  'calibration',
  'reward-dispatch',
  'stream-training',
  'stream-steps',
]) {
  console.log(`\n== ${name}`);
  const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', script], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
