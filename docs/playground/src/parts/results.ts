/// <reference lib="dom" />
/** A result in words and numbers: what was found, what it costs, the table, what each number means. */
import { defineComponent, h, type PropType, type VNode } from 'vue';
import { type Metric, metrics, metricsPage } from '../metrics.ts';
import type { Result, ShownRow } from '../worker/messages.ts';

/** A speedup never stands without what it costs. */
function card({ id, label, cells }: ShownRow, baseline: ShownRow): VNode {
  const detail =
    cells.capped === undefined ? '' : ` · ${cells.capped} at the cap (${baseline.label}: ${baseline.cells.capped})`;
  return h('li', { key: id, class: 'card', 'data-scheduler': id }, [
    h('h3', label),
    h('p', { class: 'big' }, [h('b', cells.speedup!.replace(/ \(.*/, '')), ' as fast']),
    ...(cells.equal === undefined ? [] : [h('p', `${cells.equal.replace(/ \(.*/, '')} as fast at equal tokens`)]),
    h('p', `on ${cells.kept} the tokens${detail}`),
  ]);
}

function table(rows: readonly ShownRow[], columns: readonly Metric[]): VNode {
  const head = columns.map((one) => h('th', { key: one.id, scope: 'col', title: one.meaning }, one.label));
  const body = rows.map((row) =>
    h('tr', { key: row.id, 'data-scheduler': row.id }, [
      h('th', { scope: 'row' }, row.label),
      ...columns.map((one) => h('td', { key: one.id, 'data-metric': one.id }, row.cells[one.id])),
    ]),
  );
  // A region that scrolls must be reachable by keyboard.
  return h('div', { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': 'Comparison' }, [
    h('table', [
      h('caption', 'Comparison'),
      h('thead', [h('tr', [h('th', { scope: 'col' }, 'scheduler'), ...head])]),
      h('tbody', body),
    ]),
  ]);
}

function meanings(columns: readonly Metric[]): VNode {
  const page = metricsPage(location.protocol);
  return h('details', { class: 'meanings', open: true }, [
    h('summary', 'What the numbers mean'),
    h(
      'dl',
      columns.flatMap(({ id, label, meaning, anchor }) => [
        h('dt', { key: `${id} name` }, label),
        h('dd', { key: id }, [
          meaning,
          ' ',
          h('a', { href: `${page}#${anchor}`, 'aria-label': `Definition of ${label}` }, 'definition'),
        ]),
      ]),
    ),
  ]);
}

export const Results = defineComponent({
  props: { result: { type: Object as PropType<Result>, required: true } },
  setup: (props) => () => {
    const { view, shown, seeds, took } = props.result;
    const [baseline, ...others] = shown.rows;
    const ofSeeds = seeds[1] === 1 ? '' : `${seeds[0]} of ${seeds[1]} seeds, `;
    return [
      h('p', { class: 'headline' }, shown.headline),
      h(
        'ul',
        { class: 'cards' },
        others.map((one) => card(one, baseline!)),
      ),
      h('p', shown.cost),
      table(shown.rows, metrics[view]),
      h('p', { class: 'note' }, `${shown.facts.join('; ')}. ${ofSeeds}simulated in ${took.toFixed(0)} ms.`),
    ];
  },
});

/** What stands below the charts. */
export const Reading = defineComponent({
  props: { result: { type: Object as PropType<Result>, required: true } },
  setup: (props) => () => [
    meanings(metrics[props.result.view]),
    h(
      'ul',
      { class: 'note' },
      props.result.shown.notes.map((note) => h('li', { key: note }, note)),
    ),
  ],
});
