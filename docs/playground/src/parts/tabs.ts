/// <reference lib="dom" />
/** Tabs: arrow keys move between them, as readers of a keyboard expect. */
import { h, type VNode } from 'vue';

export function tabs<T extends string>(
  all: readonly { readonly id: T; readonly title: string }[],
  selected: T,
  select: (id: T) => void,
): VNode {
  const move = (event: KeyboardEvent): void => {
    const place = all.findIndex((one) => one.id === selected);
    const places: Readonly<Record<string, number>> = {
      ArrowRight: place + 1,
      ArrowLeft: place - 1 + all.length,
      Home: 0,
      End: all.length - 1,
    };
    const next = places[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const { id } = all[next % all.length]!;
    select(id);
    document.getElementById(`tab-${id}`)?.focus();
  };
  return h(
    'div',
    { class: 'tabs', role: 'tablist', 'aria-label': 'What is simulated', onKeydown: move },
    all.map(({ id, title }) =>
      h(
        'button',
        {
          key: id,
          id: `tab-${id}`,
          type: 'button',
          role: 'tab',
          'aria-selected': id === selected,
          'aria-controls': 'panel',
          tabindex: id === selected ? 0 : -1,
          onClick: () => select(id),
        },
        title,
      ),
    ),
  );
}
