/** The configuration of the current settings, as code. */
import { defineComponent, h, type PropType } from 'vue';
import { codeOf } from '../code.ts';
import type { ShownConfig } from '../worker/messages.ts';
import { CopyButton } from './copying.ts';

export const Configs = defineComponent({
  props: { configs: { type: Array as PropType<readonly ShownConfig[]>, required: true } },
  setup: (props) => () =>
    h('section', { class: 'configs', 'aria-labelledby': 'configs-title' }, [
      h('h2', { id: 'configs-title' }, 'These settings as code'),
      ...props.configs.map((one, index) => {
        const code = codeOf(one);
        return h('details', { key: one.id, open: index === 0 }, [
          h('summary', `${one.kind} ${one.id}`),
          h('pre', { tabindex: 0, 'data-config': one.id, 'aria-label': `Configuration of ${one.id}` }, [
            h('code', code),
          ]),
          h(CopyButton, { label: `Copy ${one.id}`, text: code }),
        ]);
      }),
    ]),
});
