/// <reference lib="dom" />
/** The page: settings on one side, what the simulator says of them on the other. */
import { computed, defineComponent, h, nextTick, onMounted, ref, shallowRef, watch } from 'vue';
import { Charts } from './parts/charts.ts';
import { Configs } from './parts/configs.ts';
import { Controls } from './parts/controls.ts';
import { CopyButton } from './parts/copying.ts';
import { OwnTrace } from './parts/own-trace.ts';
import { Reading, Results } from './parts/results.ts';
import { tabs } from './parts/tabs.ts';
import { type Settings, usual } from './settings/fields.ts';
import { type SynchronousSettings, usualTp } from './settings/synchronous.ts';
import { fieldOf, type ViewId, viewIds, views } from './settings/views.ts';
import { addressOf, readAddress, writeAddress } from './sharing.ts';
import { useSimulation } from './simulation.ts';
import { themes, useTheme } from './theme.ts';

export const App = defineComponent({
  setup() {
    const { theme, colours, choose } = useTheme();
    const simulation = useSimulation();
    const { result, failure, finished, requested, loading, reading } = simulation;
    const isLoaded = ref(false);
    const first = readAddress(false);
    const view = ref<ViewId>(first.view);
    const problems = shallowRef(first.problems);
    /** Of every view, so that a reader who comes back finds them as they were. */
    const all = shallowRef<Readonly<Record<ViewId, Settings>>>({
      sync: usual(views.sync.fields),
      pools: usual(views.pools.fields),
      vlm: usual(views.vlm.fields),
      [first.view]: first.settings,
    });
    const settings = computed(() => all.value[view.value]);

    const change = (id: ViewId, next: Settings): void => {
      view.value = id;
      all.value = { ...all.value, [id]: next };
      simulation.simulate(id, next);
      writeAddress(id, next);
    };
    const set = (key: string, value: number | string): void => {
      problems.value = [];
      const next = { ...settings.value, [key]: value };
      const isOther = view.value === 'sync' && (key === 'm' || key === 'u');
      change(view.value, isOther ? { ...next, TP: usualTp(next as SynchronousSettings) } : next);
    };
    const show = (id: ViewId): void => {
      problems.value = [];
      change(id, all.value[id]);
    };
    const reset = (): void => {
      problems.value = [];
      change(view.value, usual(views[view.value].fields));
    };
    addEventListener('hashchange', () => {
      const found = readAddress(isLoaded.value);
      problems.value = found.problems;
      change(found.view, found.settings);
    });
    watch(loading, (now) => {
      if (now?.ok !== true) return;
      isLoaded.value = true;
      change(now.isSequences ? 'vlm' : view.value, { ...all.value[now.isSequences ? 'vlm' : view.value], t: 'own' });
    });
    onMounted(() => simulation.simulate(view.value, settings.value));

    // Each result that is painted is marked, so that how many there are can be measured.
    watch(result, async (now) => {
      if (now === undefined) return;
      await nextTick();
      performance.mark('rollflex:painted', { detail: { id: now.id, settings: now.settings, took: now.took } });
    });

    const isSettled = computed(() => finished.value === requested.value);
    const shown = computed(() => (result.value?.view === view.value ? result.value : undefined));
    /** What is wrong, by the field that it stands beside. */
    const wrong = computed((): Readonly<Record<string, string>> => {
      const found = problems.value.flatMap(({ key, text }) => (key === undefined ? [] : [[key, text]]));
      const failed = failure.value;
      const key = failed === undefined ? undefined : fieldOf(view.value, failed.path);
      return Object.fromEntries(key === undefined ? found : [...found, [key, failed!.message]]);
    });
    /** For screen readers: what was found, when it has come to rest. */
    const said = computed((before?: string) =>
      isSettled.value ? (failure.value?.message ?? shown.value?.shown.headline ?? '') : (before ?? ''),
    );

    const header = () =>
      h('header', [
        h('h1', 'rollflex playground'),
        h('p', [
          'What would these scheduling policies save your job? The real policies and the real simulator run in this page; ',
          'nothing leaves it. ',
          h(
            'a',
            { href: location.protocol === 'file:' ? '../../playground.md' : '../playground.html' },
            'How to read it',
          ),
        ]),
        h('div', { class: 'theme' }, [
          h('label', { for: 'theme' }, 'Colours'),
          h(
            'select',
            {
              id: 'theme',
              value: theme.value,
              onChange: (event: Event) => choose((event.target as HTMLSelectElement).value as (typeof themes)[number]),
            },
            themes.map((one) => h('option', { key: one, value: one, selected: one === theme.value }, one)),
          ),
        ]),
      ]);
    /** Above both sides: on a phone the results are far below. */
    const misread = () =>
      problems.value.length === 0
        ? undefined
        : h('div', { class: 'error', role: 'alert' }, [
            h('p', 'Not all of this link could be used:'),
            h(
              'ul',
              problems.value.map(({ text }) => h('li', { key: text }, text)),
            ),
          ]);
    const failed = () =>
      failure.value === undefined ? undefined : h('p', { class: 'error', role: 'alert' }, failure.value.message);
    const share = () =>
      h('section', { class: 'share', 'aria-labelledby': 'share-title' }, [
        h('h2', { id: 'share-title' }, 'Share'),
        h(CopyButton, { label: 'Copy link', text: addressOf(view.value, settings.value) }),
        h('button', { type: 'button', onClick: reset }, 'Default settings'),
        settings.value.t === 'own'
          ? h(
              'small',
              'Your own trace is not in the link: whoever opens it sees these settings on the default lengths.',
            )
          : h('small', 'All settings are in the address of this page.'),
      ]);
    /** Seen when it takes long enough to be waited for: the style sheet keeps it back for a moment. */
    const busy = () => {
      const what =
        reading.value === undefined ? (isSettled.value ? undefined : 'Simulating …') : `Reading ${reading.value} …`;
      return what === undefined
        ? undefined
        : h('p', { class: 'busy' }, [h('i', { class: 'turning', 'aria-hidden': true }), what]);
    };
    const results = () => {
      if (shown.value === undefined) return [];
      return [
        h(Results, { result: shown.value }),
        h(Charts, { charts: shown.value.shown.charts, colours: colours.value }),
        h(Reading, { result: shown.value }),
        h(Configs, { configs: shown.value.shown.configs }),
      ];
    };

    /** Where the settings stand above the results: what a slider changes is seen while it moves. */
    const bar = () =>
      h('div', { class: 'bar' }, [
        isSettled.value ? undefined : h('i', { class: 'turning', 'aria-hidden': true }),
        h('span', failure.value?.message ?? shown.value?.shown.headline ?? 'Simulating …'),
        h('button', { type: 'button', onClick: () => document.querySelector('main')?.scrollIntoView() }, 'Results'),
      ]);

    return () => [
      header(),
      tabs(
        viewIds.map((id) => ({ id, title: views[id].title })),
        view.value,
        show,
      ),
      misread(),
      h('div', { class: 'sides', id: 'panel', role: 'tabpanel', 'aria-labelledby': `tab-${view.value}` }, [
        h('form', { 'aria-label': 'Settings', onSubmit: (event: Event) => event.preventDefault() }, [
          h(Controls, { fields: views[view.value].fields, settings: settings.value, problems: wrong.value, set }),
          h(OwnTrace, { loading: loading.value, reading: reading.value, load: simulation.load }),
          share(),
        ]),
        h(
          'main',
          {
            'aria-busy': !isSettled.value || reading.value !== undefined,
            'data-settled': isSettled.value ? finished.value : '',
          },
          [
            busy(),
            failed(),
            h('p', { class: 'hidden', role: 'status', 'aria-live': 'polite' }, said.value),
            h('div', { class: { stale: failure.value !== undefined } }, results()),
          ],
        ),
      ]),
      bar(),
    ];
  },
});
