/// <reference lib="dom" />
/** Sliders and choices, each with its label, its value and one line about it. */
import { defineComponent, h, type PropType } from 'vue';
import type { Field, Fields, Settings } from '../settings/fields.ts';

function control(
  key: string,
  field: Field,
  value: number | string,
  problem: string | undefined,
  set: (key: string, value: number | string) => void,
) {
  const id = `set-${key}`;
  const isWrong = problem !== undefined;
  const described = {
    id,
    name: key,
    'aria-describedby': isWrong ? `${id}-error ${id}-help` : `${id}-help`,
    'aria-invalid': isWrong,
  };
  const help = [
    isWrong ? h('p', { id: `${id}-error`, class: 'error' }, problem) : undefined,
    h('small', { id: `${id}-help` }, field.help),
  ];
  if (field.kind === 'choice') {
    const change = (event: Event): void => set(key, (event.target as HTMLSelectElement).value);
    return h('div', { class: 'control', key }, [
      h('label', { for: id }, field.label),
      h(
        'select',
        { ...described, value, onChange: change },
        field.options.map(([one, label]) => h('option', { key: one, value: one, selected: one === value }, label)),
      ),
      ...help,
    ]);
  }
  const { min, max, step, unit } = field;
  const text = `${Number(value).toLocaleString('en-US')}${unit === undefined ? '' : ` ${unit}`}`;
  const input = (event: Event): void => set(key, Number((event.target as HTMLInputElement).value));
  return h('div', { class: 'control', key }, [
    h('label', { for: id }, field.label),
    h('output', { for: id }, text),
    h('input', { ...described, type: 'range', min, max, step, value, 'aria-valuetext': text, onInput: input }),
    ...help,
  ]);
}

export const Controls = defineComponent({
  props: {
    fields: { type: Object as PropType<Fields>, required: true },
    settings: { type: Object as PropType<Settings>, required: true },
    problems: { type: Object as PropType<Readonly<Record<string, string>>>, required: true },
    set: { type: Function as PropType<(key: string, value: number | string) => void>, required: true },
  },
  setup: (props) => () =>
    Object.entries(props.fields).map(([key, field]) =>
      control(key, field, props.settings[key]!, props.problems[key], props.set),
    ),
});
