/// <reference lib="dom" />
/** A chart on a canvas: drawn when it can be seen, and again when its data, its size or the colours change. */
import { BarChart, CustomChart, LineChart } from 'echarts/charts';
import {
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { defineComponent, h, onBeforeUnmount, onMounted, type PropType, ref, watch } from 'vue';

echarts.use([
  BarChart,
  CustomChart,
  LineChart,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
  CanvasRenderer,
]);

/** Says how a chart looks at a width in pixels. */
export type Draw = (width: number) => object;

export const Chart = defineComponent({
  props: {
    kind: { type: String, required: true },
    title: { type: String, required: true },
    hint: { type: String, default: '' },
    height: { type: Number, required: true },
    draw: { type: Function as PropType<Draw>, required: true },
    colours: { type: Number, required: true },
  },
  setup(props) {
    const place = ref<HTMLElement>();
    let chart: echarts.ECharts | undefined;
    let isSeen = false;
    let isStale = true;

    const paint = (): void => {
      if (!isSeen || chart === undefined) {
        isStale = true;
        return;
      }
      isStale = false;
      if (chart.getHeight() !== props.height) chart.resize({ height: props.height });
      chart.setOption({ animation: false, backgroundColor: 'transparent', ...props.draw(chart.getWidth()) }, true);
    };
    const seen = new IntersectionObserver(
      ([entry]) => {
        isSeen = entry!.isIntersecting;
        if (isSeen && isStale) paint();
      },
      { rootMargin: '100px' },
    );
    const sized = new ResizeObserver(() => {
      if (chart === undefined || place.value!.clientWidth === chart.getWidth()) return;
      chart.resize({ width: place.value!.clientWidth });
      paint();
    });
    onMounted(() => {
      chart = echarts.init(place.value!, null, { height: props.height });
      seen.observe(place.value!);
      sized.observe(place.value!);
    });
    onBeforeUnmount(() => {
      seen.disconnect();
      sized.disconnect();
      chart?.dispose();
    });
    watch(() => [props.draw, props.colours, props.height], paint, { flush: 'post' });
    return () =>
      h('figure', [
        h('figcaption', [props.title, props.hint === '' ? undefined : h('small', props.hint)]),
        h('div', {
          ref: place,
          class: 'chart',
          'data-chart': props.kind,
          style: { height: `${props.height}px` },
          role: 'img',
          'aria-label': `${props.title}. The table above has its numbers.`,
        }),
      ]);
  },
});
