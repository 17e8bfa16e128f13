/** The picture of the first page: engines over time, synchronous and with tail batching, out of the simulator. */
import {
  type EngineResult,
  jobPreset,
  type RunResult,
  rollpackerWorkload,
  simulate,
  synchronousBaseline,
  tailBatchingScheduler,
} from '../../src/sim/index.ts';

export const left = 8;
export const width = 744;
/** Height of a lane, and columns of two pixels in it. */
export const lane = 13;
export const columns = width / 2;
/** Grey on both light and dark pages. */
const grey = '#808890';
/** From an engine with nothing to run to a full one. */
export const shades = ['#80889026', '#8ab4e8', '#5a94dc', '#3874c8', '#1f56a5'];
/** What is neither. */
export const other = '#c8a15a';

/** The colour of each column of an engine's lane. */
function colours({ timeline }: EngineResult, secondsPerColumn: number): string[] {
  const most = Math.max(...timeline.map((one) => one.running));
  return Array.from({ length: columns }, (_, column) => {
    const at = (column + 0.5) * secondsPerColumn;
    const here = timeline.find((one) => one.startSeconds <= at && at < one.endSeconds);
    if (here === undefined) return 'none';
    if (here.activity !== 'rollout') return other;
    return shades[here.running === 0 ? 0 : Math.min(4, 1 + Math.floor((here.running / most) * 4))]!;
  });
}

/** A lane with these colours, a column each. */
export function laneOf(row: readonly string[], y: number): string {
  let out = '';
  for (let from = 0, to = 0; from < columns; from = to) {
    while (to < columns && row[to] === row[from]) to += 1;
    if (row[from] === 'none') continue;
    out += `<rect x="${left + from * 2}" y="${y}" width="${(to - from) * 2}" height="${lane - 2}" fill="${row[from]}"/>\n`;
  }
  return out;
}

export const text = (x: number, y: number, words: string, more = ''): string =>
  `<text x="${x}" y="${y}" fill="${grey}"${more}>${words}</text>\n`;

function part(run: RunResult, title: string, y: number, secondsPerColumn: number): string {
  const lanes = run.engines.map((engine, index) => laneOf(colours(engine, secondsPerColumn), y + 8 + index * lane));
  return (
    text(left, y, `${title}: five steps in ${Math.round(run.totalSeconds)} s`, ' font-weight="600"') + lanes.join('')
  );
}

/** The whole picture, as SVG; the same bytes each time. */
export function whatWaits(): string {
  const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
  const job = { ...preset, engines: 4, promptsPerRound: 64 };
  const [before, after] = [synchronousBaseline(job), tailBatchingScheduler(job)].map((scheduler) =>
    simulate(job, scheduler, rollpackerWorkload(capTokens, 1), { prompts: 320, seed: 1 }),
  ) as [RunResult, RunResult];
  const secondsPerColumn = before.totalSeconds / columns;
  const height = 4 * lane + 36;
  const key = [
    ['engine full', shades[4]],
    ['a few left', shades[1]],
    ['nothing to run', shades[0]],
    ['rewards, training, new weights', other],
  ]
    .map(([words, fill], index) => {
      const x = left + [0, 110, 210, 335][index]!;
      return `<rect x="${x}" y="${2 * height + 12}" width="11" height="11" fill="${fill}"/>\n${text(x + 17, 2 * height + 22, words!)}`;
    })
    .join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width + 2 * left} ${2 * height + 32}" font-family="system-ui, sans-serif" font-size="13">
<title>Four engines over five training steps, simulated: synchronous, and with tail batching</title>
${part(before, 'Synchronous', 16, secondsPerColumn)}${part(after, 'Tail batching', height + 16, secondsPerColumn)}${key}</svg>
`;
}
