/** Draws vision-language steps: seconds by stage, and plans as devices over time. */

import { notShards, type PlanBar, sequenceColours, stages, type VlmData } from '../../sim/report/vlm-data.ts';
import { barSeries, drawnBar, type RenderItem } from '../kit/bars.ts';
import { axis, colour, tooltipBeside } from '../kit/chart-style.ts';
import { measured } from '../kit/durations.ts';
import { stacksChart, stacksHeight } from './stacks.ts';

const stageColours = ['sync', 'rollout', 'reward', 'long', 'train'];

/** Draws one bar per scheduler, with its stages in order. */
export const stagesChart = (data: VlmData, width?: number) =>
  stacksChart(
    stages.map((name, stage) => [name, stageColours[stage]!]),
    data.runs.map((one) => ({ label: one.label, parts: one.stages })),
    width,
  );

/** Returns the height of the stages chart, in pixels. */
export const stagesHeight = (data: VlmData): number => stacksHeight(data.runs.length);

/** Returns the height of a plan's chart, in pixels: with many devices, rows are thin. */
export function planHeight(data: VlmData): number {
  return Math.min(900, 72 + data.devices * Math.min(20, Math.max(4, 420 / data.devices)));
}

/** Returns the colour and opacity of a bar; the longest sequences have their own colours. */
function fillOf(data: VlmData, what: number): { fill: string; opacity: number; own: boolean } {
  if (what === notShards.vision) return { fill: colour('short'), opacity: 1, own: false };
  if (what === notShards['all-to-all']) return { fill: colour('soft'), opacity: 1, own: false };
  const index = data.longest.indexOf(what);
  if (index >= 0) return { fill: colour(`seq${index}`), opacity: 1, own: true };
  // Other sequences are pale, so that the longest ones and their neighbours stay distinct.
  return { fill: colour(`seq${what % sequenceColours}`), opacity: 0.35, own: false };
}

function describe(data: VlmData, [first, last, start, end, what]: PlanBar): string {
  const gpus = first === last ? `GPU ${first}` : `GPU ${first}–${last}`;
  const span = `${gpus}, ${measured(end - start)} (${measured(start)} to ${measured(end)})`;
  if (what === notShards.vision) return `vision tower<br>${span}`;
  if (what === notShards['all-to-all']) return `all-to-all that nothing hides<br>${span}`;
  const [tokens, kind] = data.sequences[what]!;
  return `sequence ${what}: ${tokens.toLocaleString('en-US')} tokens (${kind})<br>${span}`;
}

/** Draws a plan. All plans of a workload share one scale. */
export function planChart(data: VlmData, which: number) {
  const bars = data.runs[which]!.plan!.bars;
  const last = Math.max(...data.runs.map((one) => one.plan?.seconds ?? 0));
  const ground = colour('panel');
  const renderItem: RenderItem = (params, api) => {
    const [first, lastRow, start, end, what] = bars[params.dataIndex]!;
    const [x, top] = api.coord([start, first]) as [number, number];
    const [right, bottom] = api.coord([end, lastRow]) as [number, number];
    const band = (api.size!([0, 1]) as number[])[1]!;
    const gap = band >= 4 ? 1 : 0;
    const box = { x, y: top - band / 2, width: Math.max(0.6, right - x - 0.5), height: bottom - top + band - gap };
    const { fill, opacity, own } = fillOf(data, what);
    const name = own ? { text: `#${what}`, fill: ground, leastHeight: 13 } : undefined;
    return drawnBar(params, box, { fill, opacity }, name);
  };
  return {
    grid: { left: 64, right: 24, top: 12, bottom: 48 },
    tooltip: tooltipBeside({ formatter: ({ dataIndex }: { dataIndex: number }) => describe(data, bars[dataIndex]!) }),
    xAxis: axis({
      type: 'value',
      min: 0,
      max: last,
      name: 'seconds',
      nameLocation: 'middle',
      nameGap: 28,
      axisLabel: { color: colour('soft'), showMaxLabel: false, hideOverlap: true },
      splitLine: { show: false },
    }),
    yAxis: axis({
      type: 'category',
      inverse: true,
      data: Array.from({ length: data.devices }, (_, device) => `GPU ${device}`),
      axisTick: { show: false },
      splitLine: { show: false },
    }),
    series: [
      barSeries(
        bars.map(([first, , start, end]) => [first, start, end]),
        renderItem,
      ),
    ],
  };
}
