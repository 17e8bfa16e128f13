/** The picture of "Agentic rollouts": engines over time under two schedulers, out of the simulator. */
import {
  type AgenticRun,
  type AgenticScheduler,
  agenticPreset,
  agenticWorkload,
  consistentHash,
  type EngineStretch,
  programScheduler,
  simulateAgentic,
} from '../../src/sim/index.ts';
import { columns, lane, laneOf, left, other, shades, text, width } from './picture.ts';

const engines = 4;

/** The colour of a column: what the engine did for most of it. */
function colourOf({ readingSeconds, decodingSeconds, running }: EngineStretch, seconds: number, most: number): string {
  const idle = seconds - readingSeconds - decodingSeconds;
  if (idle >= Math.max(readingSeconds, decodingSeconds)) return shades[0]!;
  return readingSeconds > decodingSeconds ? other : shades[Math.min(4, 1 + Math.floor((running / most) * 4))]!;
}

function part(run: AgenticRun, title: string, y: number, seconds: number): string {
  const lanes = run.engines.map(({ timeline = [] }, index) => {
    const most = timeline.reduce((peak, { running }) => Math.max(peak, running), 0);
    const last = Math.ceil(run.makespanSeconds / seconds);
    const row = Array.from({ length: columns }, (_, column) => {
      const one = timeline[column];
      if (one !== undefined) return colourOf(one, seconds, most);
      return column < last ? shades[0]! : 'none';
    });
    return laneOf(row, y + 8 + index * lane);
  });
  const words = `${title}: ${run.programs} programs in ${Math.round(run.makespanSeconds)} s, ${Math.round(100 * run.prefixHitRate)} % of contexts in the cache`;
  return text(left, y, words, ' font-weight="600"') + lanes.join('');
}

/** The whole picture, as SVG; the same bytes each time. */
export function agenticRollout(): string {
  const { job: preset, shapes } = agenticPreset('swe-scarce-kv');
  const job = { ...preset, engines };
  // A third of the engines, and of the prompts.
  const workload = agenticWorkload([{ ...shapes[0]!, prompts: 25 }], {
    name: 'third',
    source: 'distributions',
    seed: 1,
  });
  const run = (scheduler: AgenticScheduler, timelineSeconds: number): AgenticRun =>
    simulateAgentic(job, scheduler, workload, { timelineSeconds });
  const seconds = run(consistentHash, 1).makespanSeconds / columns;
  const [before, after] = [run(consistentHash, seconds), run(programScheduler(), seconds)];
  const height = engines * lane + 36;
  const key = [
    ['generating, engine full', shades[4]],
    ['a few turns', shades[1]],
    ['reading contexts', other],
    ['nothing to run', shades[0]],
  ]
    .map(([words, fill], index) => {
      const x = left + [0, 175, 275, 410][index]!;
      return `<rect x="${x}" y="${2 * height + 12}" width="11" height="11" fill="${fill}"/>\n${text(x + 17, 2 * height + 22, words!)}`;
    })
    .join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width + 2 * left} ${2 * height + 32}" font-family="system-ui, sans-serif" font-size="13">
<title>Four engines in one agentic rollout, simulated: turns routed by consistent hash, and by program-scheduling</title>
${part(before, 'Consistent hash', 16, seconds)}${part(after, 'program-scheduling', height + 16, seconds)}${key}</svg>
`;
}
