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
/** Runs in the reader's browser: draws the charts of a report from the data in the page, in the reader's colour scheme. */

import type { WorkloadData } from '../../sim/report/data.ts';
import type { PoolsData } from '../../sim/report/pools-data.ts';
import type { VlmData } from '../../sim/report/vlm-data.ts';
import { show } from '../kit/draw.ts';
import { type ECharts, type EChartsCoreOption, init } from '../kit/echarts.ts';
import { argumentChart, argumentHeight, waterfallChart, waterfallHeight } from './argument.ts';
import { lengthsChart, queueChart, stepsChart } from './charts.ts';
import { poolsChart, poolsHeight, waitsChart, waitsHeight } from './pools.ts';
import { timelineChart, timelineHeight } from './timeline.ts';
import { planChart, planHeight, stagesChart, stagesHeight } from './vlm.ts';

const read = (id: string) => JSON.parse(document.getElementById(id)?.textContent ?? '[]');
const workloads: WorkloadData[] = read('data');
const vlmWorkloads: VlmData[] = read('vlm-data');
const poolWorkloads: PoolsData[] = read('pools-data');

interface Drawn {
  readonly element: HTMLElement;
  readonly chart: ECharts;
  readonly option: () => EChartsCoreOption;
}

/**
 * Returns how to draw an element: the height of its chart, if its data define it, and a function that returns the options of
 * the chart for a given width.
 */
function drawing({ dataset }: HTMLElement): { height?: number; option: (width: number) => EChartsCoreOption } {
  const run = Number(dataset.run);
  const at = Number(dataset.workload);
  const [data, pools, vlm] = [workloads[at]!, poolWorkloads[at]!, vlmWorkloads[at]!];
  switch (dataset.chart) {
    case 'argument':
      return { height: argumentHeight(data), option: () => argumentChart(data) };
    case 'waterfall':
      return { height: waterfallHeight(data), option: () => waterfallChart(data) };
    case 'timeline':
      return { height: timelineHeight(data.runs[run]!), option: () => timelineChart(data, run) };
    case 'steps':
      return { option: (width) => stepsChart(data, width) };
    case 'lengths':
      return { option: (width) => lengthsChart(data, width) };
    case 'queue':
      return { option: (width) => queueChart(data, width) };
    case 'pools':
      return { height: poolsHeight(pools), option: () => poolsChart(pools) };
    case 'waits':
      return { height: waitsHeight(pools), option: (width) => waitsChart(pools, width) };
    case 'stages':
      return { height: stagesHeight(vlm), option: (width) => stagesChart(vlm, width) };
    default:
      return { height: planHeight(vlm), option: () => planChart(vlm, run) };
  }
}

const drawn = new Map<HTMLElement, Drawn>();

const drawOne = ({ chart, option }: Drawn): void => show(chart, option());

function begin(element: HTMLElement): void {
  const { height, option } = drawing(element);
  if (height !== undefined) element.style.height = `${height}px`;
  const chart = init(element);
  const one = { element, chart, option: () => option(chart.getWidth()) };
  drawn.set(element, one);
  drawOne(one);
  if (element.dataset.chart === 'timeline') zoomTogether(one);
}

/** Timelines of one workload zoom together; a zoom that was copied from another timeline is not passed on again. */
function zoomTogether({ element, chart }: Drawn): void {
  chart.on('datazoom', (event) => {
    const zoom = event as {
      start?: number;
      end?: number;
      passedOn?: boolean;
      batch?: { start: number; end: number }[];
    };
    if (zoom.passedOn) return;
    const { start, end } = zoom.batch?.[0] ?? zoom;
    for (const other of drawn.values()) {
      const { chart: kind, workload } = other.element.dataset;
      if (other.element === element || kind !== 'timeline' || workload !== element.dataset.workload) continue;
      other.chart.dispatchAction({ type: 'dataZoom', start, end, passedOn: true });
    }
  });
}

/** Draws the visible charts that are not drawn yet; a chart in a closed part has no width yet. */
function drawSeen(): void {
  for (const element of document.querySelectorAll<HTMLElement>('.chart')) {
    if (element.offsetParent !== null && !drawn.has(element)) begin(element);
  }
  refit();
  document.documentElement.dataset.drawn = String(drawn.size);
}

/** Charts that were hidden when the window was resized still have the old width. */
function refit(): void {
  // On paper, the height of a chart follows its picture, which is scaled to the sheet.
  if (matchMedia('print').matches) return;
  for (const one of drawn.values()) {
    if (one.element.offsetParent === null || one.chart.getWidth() === one.element.clientWidth) continue;
    one.chart.resize();
    // Drawing these charts again would reset their zoom.
    if (!['timeline', 'pools'].includes(one.element.dataset.chart!)) drawOne(one);
  }
}

const tabs = [...document.querySelectorAll<HTMLElement>('[role=tab]')];

/** Shows the part of a tab. */
function open(tab: HTMLElement): void {
  for (const one of tabs) {
    const isOpen = one === tab;
    one.setAttribute('aria-selected', String(isOpen));
    one.tabIndex = isOpen ? 0 : -1;
    document.getElementById(one.getAttribute('aria-controls')!)!.classList.toggle('open', isOpen);
  }
  drawSeen();
}

const openNamed = (): void => {
  const tab = tabs.find((one) => `#${one.getAttribute('aria-controls')}` === location.hash);
  if (tab === undefined) return;
  open(tab);
  tab.scrollIntoView({ block: 'nearest' });
};

document.documentElement.classList.add('with-script');
for (const [place, tab] of tabs.entries()) {
  tab.addEventListener('click', () => open(tab));
  tab.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const next = tabs[(place + step + tabs.length) % tabs.length]!;
    next.focus();
    open(next);
  });
}
for (const one of document.querySelectorAll('details')) one.addEventListener('toggle', drawSeen);
drawSeen();
openNamed();
addEventListener('hashchange', openNamed);
addEventListener('resize', refit);
for (const query of ['(prefers-color-scheme: dark)', 'print']) {
  matchMedia(query).addEventListener('change', () => {
    for (const one of drawn.values()) drawOne(one);
  });
}
