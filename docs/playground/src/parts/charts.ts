/** The charts of each view, by the drawing code of the report. */
import { defineComponent, h, type PropType, type VNode } from 'vue';
import { lengthsChart, stepsChart } from '../../../../src/pages/report/charts.ts';
import { poolsChart, poolsHeight, waitsChart, waitsHeight } from '../../../../src/pages/report/pools.ts';
import { timelineChart, timelineHeight } from '../../../../src/pages/report/timeline.ts';
import { planChart, planHeight, stagesChart, stagesHeight } from '../../../../src/pages/report/vlm.ts';
import { timelineColours } from '../../../../src/sim/report/section.ts';
import type { ChartsData } from '../worker/messages.ts';
import { Chart, type Draw } from './chart.ts';
import { loadsChart } from './loads-chart.ts';

/** Room that a timeline of the report keeps for its zoom. */
const zoomRoom = 56;

/** A timeline as a whole: there is no zoom here. */
function whole(option: object): object {
  const { dataZoom: _, ...rest } = option as { dataZoom: unknown; grid: object; xAxis: object };
  return { ...rest, grid: { ...rest.grid, bottom: 26 } };
}

interface Drawn {
  readonly kind: string;
  readonly title: string;
  readonly hint?: string;
  readonly height: number;
  readonly draw: Draw;
}

function chartsOf(charts: ChartsData): Drawn[] {
  if (charts.kind === 'synchronous') {
    const { data } = charts;
    const hint = 'all timelines have the same scale; gaps are bubbles';
    return [
      ...data.runs.map((run, index) => ({
        kind: 'timeline',
        title: `Every engine over time: ${run.label}`,
        ...(index === 0 ? { hint } : {}),
        height: timelineHeight(run) - zoomRoom + 14,
        draw: () => whole(timelineChart(data, index)),
      })),
      {
        kind: 'steps',
        title: 'Seconds of each step',
        hint: 'pale: synchronous; shaded: long rounds',
        height: 280,
        draw: (width: number) => stepsChart(data, width),
      },
      {
        kind: 'lengths',
        title: 'Lengths of trained responses',
        hint: 'share of responses that are longer',
        height: 280,
        draw: (width: number) => lengthsChart(data, width),
      },
    ];
  }
  if (charts.kind === 'pools') {
    const { data } = charts;
    return [
      {
        kind: 'waits',
        title: 'What the trainer does in a round',
        height: waitsHeight(data),
        draw: (width: number) => waitsChart(data, width),
      },
      {
        kind: 'pools',
        title: 'Rollout pool and trainer over time',
        hint: 'one under the other, on one scale',
        height: poolsHeight(data) - 40,
        draw: () => whole(poolsChart(data)),
      },
    ];
  }
  const { data, loads } = charts;
  return [
    {
      kind: 'stages',
      title: 'Seconds of a step',
      height: stagesHeight(data),
      draw: (width: number) => stagesChart(data, width),
    },
    {
      kind: 'loads',
      title: 'Load of each GPU',
      hint: 'seconds of its shards in a forward pass: the step waits for the longest bar',
      height: 260,
      draw: (width: number) => loadsChart(loads, width),
    },
    ...data.runs.flatMap((run, index) =>
      run.plan === undefined
        ? []
        : [
            {
              kind: 'plan',
              title: `The plan on ${data.devices} GPUs: ${run.label}`,
              hint: 'the longest sequences are coloured',
              height: planHeight(data),
              draw: () => planChart(data, index),
            },
          ],
    ),
  ];
}

const planColours = [
  ['pale', 'the other sequences, pale'],
  ['short', 'vision tower'],
  ['sent', 'all-to-all in the open'],
] as const;
/** What of a timeline's colours pools have. */
const poolsColours = timelineColours.filter(([name]) => ['rollout', 'train', 'sync', 'overhead'].includes(name));

function legendOf({ kind }: ChartsData): VNode {
  const colours = kind === 'synchronous' ? timelineColours : kind === 'pools' ? poolsColours : planColours;
  return h(
    'ul',
    { key: 'legend', class: 'legend', 'aria-label': 'Colours' },
    colours.map(([name, text]) => h('li', { key: name }, [h('i', { class: name }), text])),
  );
}

export const Charts = defineComponent({
  props: {
    charts: { type: Object as PropType<ChartsData>, required: true },
    colours: { type: Number, required: true },
  },
  setup: (props) => (): VNode[] => {
    const all = chartsOf(props.charts);
    // Above the first chart that has these colours.
    const first = all.findIndex(({ kind }) => ['timeline', 'pools', 'plan'].includes(kind));
    return all.flatMap((one, index) => [
      ...(index === first ? [legendOf(props.charts)] : []),
      h(Chart, { key: `${props.charts.kind} ${index}`, ...one, colours: props.colours }),
    ]);
  },
});
