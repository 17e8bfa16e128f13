/**
 * A calibrated prediction against a real engine: vLLM on this machine's processors, calibrated by its metrics while it generates
 * for some rollouts; thirty others are then predicted by their lengths, and measured. `npx tsx bench/real/engine/run.ts` needs the
 * environment of `npm run test:real -- vllm`, and some ten minutes without other load; `--write` keeps what was measured;
 * `--kept` predicts once more what was kept.
 */
import { cpus, loadavg } from 'node:os';
import { livePoints } from '../../../src/cli/job/calibration/live.ts';
import { calibratedOn, resultsOf } from './predict.ts';
import { drawnSizes, type MeasuredRollout, runRollout } from './rollouts.ts';
import { startServer } from './server.ts';
import { type EngineStudy, keepEngineStudy, keptEngineStudy } from './study.ts';

const measuredRollouts = 30;
/** Of the load before: other lengths than those of the rollouts. */
const firstSeedBefore = 1001;

/** Takes points again and again while the rollouts go on, which tell whether the machine stays as fast as it was. */
function keptWatching(url: string): { end(): Promise<EngineStudy['during']> } {
  let isOver = false;
  const watched = (async () => {
    const all: EngineStudy['during'][number][] = [];
    // A watch that begins when all is done finds an idle engine.
    while (!isOver) all.push(await livePoints(url).catch(() => []));
    return all;
  })();
  return {
    end: () => {
      isOver = true;
      // The last one ends with an idle engine.
      return watched;
    },
  };
}

async function measure(): Promise<EngineStudy> {
  const { url, version, config, stop } = await startServer();
  try {
    // The first rollout of a server is slower.
    await runRollout(url, drawnSizes(0), 0);
    const before: MeasuredRollout[] = [];
    let points: EngineStudy['points'] = [];
    const watched = livePoints(url, undefined, console.error).then((found) => {
      points = found;
    });
    for (let seed = firstSeedBefore; points.length === 0; seed += 1) {
      before.push(await runRollout(url, drawnSizes(seed), seed));
    }
    await watched;
    const rollouts: EngineStudy['rollouts'][number][] = [];
    const during = keptWatching(url);
    for (let seed = 1; seed <= measuredRollouts; seed += 1) {
      const [loadAverage] = loadavg() as [number];
      rollouts.push({ ...(await runRollout(url, drawnSizes(seed), seed)), loadAverage });
      console.error(`${seed} of ${measuredRollouts}: ${Math.max(...rollouts.at(-1)!.endSeconds).toFixed(1)} s`);
    }
    const processor = `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores`;
    const date = new Date().toISOString().slice(0, 10);
    return { date, vllm: version, processor, config, points, before, rollouts, during: await during.end() };
  } finally {
    stop();
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const study = process.argv.includes('--kept') ? keptEngineStudy() : await measure();
  const { factors, points } = calibratedOn(study);
  console.dir({ factors, points, ...resultsOf(study) }, { depth: null });
  if (process.argv.includes('--write')) keepEngineStudy(study);
}
