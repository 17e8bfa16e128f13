/*! @license
 * This script contains Apache ECharts.
 *   Copyright 2017-2026 The Apache Software Foundation
 *   This product includes software developed at The Apache Software Foundation (https://www.apache.org/).
 *   Licensed under the Apache License, Version 2.0 (https://www.apache.org/licenses/LICENSE-2.0), distributed on an
 *   "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *
 * It contains zrender, Copyright (c) 2017, Baidu Inc. All rights reserved. BSD 3-Clause License:
 *   Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
 *   following conditions are met: Redistributions of source code must retain the above copyright notice, this list of
 *   conditions and the following disclaimer. Redistributions in binary form must reproduce the above copyright notice,
 *   this list of conditions and the following disclaimer in the documentation and/or other materials provided with the
 *   distribution. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or
 *   promote products derived from this software without specific prior written permission.
 *   THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES,
 *   INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
 *   DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
 *   SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
 *   SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY,
 *   WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
 *   OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** Runs in the reader's browser: draws the charts of a report from the data in it, in the reader's colours. */
import { BarChart, CustomChart, LineChart } from 'echarts/charts';
import {
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  TooltipComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { lengthsChart, queueChart, stepsChart } from './client-charts.ts';
import { poolsChart, poolsHeight, waitsChart, waitsHeight } from './client-pools.ts';
import { timelineChart, timelineHeight } from './client-timeline.ts';
import { planChart, planHeight, stagesChart, stagesHeight } from './client-vlm.ts';
import type { WorkloadData } from './data.ts';
import type { PoolsData } from './pools-data.ts';
import type { VlmData } from './vlm-data.ts';

echarts.use([
  BarChart,
  CustomChart,
  LineChart,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  TooltipComponent,
  CanvasRenderer,
]);

const read = (id: string) => JSON.parse(document.getElementById(id)?.textContent ?? '[]');
const workloads: WorkloadData[] = read('data');
const vlmWorkloads: VlmData[] = read('vlm-data');
const poolWorkloads: PoolsData[] = read('pools-data');

interface Drawn {
  readonly chart: echarts.ECharts;
  readonly option: () => echarts.EChartsCoreOption;
}

function prepareVlm(element: HTMLElement): Drawn {
  const { chart: kind, workload, run } = element.dataset;
  const data = vlmWorkloads[Number(workload)]!;
  element.style.height = `${kind === 'plan' ? planHeight(data) : stagesHeight(data)}px`;
  const chart = echarts.init(element);
  return { chart, option: () => (kind === 'plan' ? planChart(data, Number(run)) : stagesChart(data)) };
}

function preparePools(element: HTMLElement): Drawn {
  const { chart: kind, workload } = element.dataset;
  const data = poolWorkloads[Number(workload)]!;
  element.style.height = `${kind === 'pools' ? poolsHeight(data) : waitsHeight(data)}px`;
  const chart = echarts.init(element);
  return { chart, option: () => (kind === 'pools' ? poolsChart(data) : waitsChart(data)) };
}

function prepare(element: HTMLElement): Drawn {
  const { chart: kind, workload, run } = element.dataset;
  if (kind === 'plan' || kind === 'stages') return prepareVlm(element);
  if (kind === 'pools' || kind === 'waits') return preparePools(element);
  const data = workloads[Number(workload)]!;
  if (kind === 'timeline') element.style.height = `${timelineHeight(data.runs[Number(run)]!)}px`;
  const chart = echarts.init(element);
  switch (kind) {
    case 'timeline':
      return { chart, option: () => timelineChart(data, Number(run)) };
    case 'steps':
      return { chart, option: () => stepsChart(data) };
    case 'lengths':
      return { chart, option: () => lengthsChart(data, chart.getWidth()) };
    default:
      return { chart, option: () => queueChart(data, chart.getWidth()) };
  }
}

const elements = [...document.querySelectorAll<HTMLElement>('.chart')];
const drawn = elements.map(prepare);
const drawOne = ({ chart, option }: Drawn): void => {
  chart.setOption({ animation: false, backgroundColor: 'transparent', ...option() }, true);
};
const draw = (): void => drawn.forEach(drawOne);
draw();

// Timelines of one workload zoom together; a zoom that comes from another one is not passed on again.
drawn.forEach(({ chart }, index) => {
  const { chart: kind, workload } = elements[index]!.dataset;
  if (kind !== 'timeline') return;
  const same = drawn.filter(
    (_, other) =>
      other !== index && elements[other]!.dataset.chart === kind && elements[other]!.dataset.workload === workload,
  );
  chart.on('datazoom', (event) => {
    const zoom = event as {
      start?: number;
      end?: number;
      passedOn?: boolean;
      batch?: { start: number; end: number }[];
    };
    if (zoom.passedOn) return;
    const { start, end } = zoom.batch?.[0] ?? zoom;
    for (const other of same) other.chart.dispatchAction({ type: 'dataZoom', start, end, passedOn: true });
  });
});

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
addEventListener('resize', () => {
  drawn.forEach((one, index) => {
    one.chart.resize();
    // Drawn anew, a timeline would lose its zoom.
    if (!['timeline', 'pools'].includes(elements[index]!.dataset.chart!)) drawOne(one);
  });
});
document.documentElement.dataset.drawn = String(drawn.length);
