/// <reference lib="dom" />
/** Text that can be copied, with a button that says when it is. */
import { defineComponent, h, ref } from 'vue';

/** Copies text; where the clipboard is refused (some browsers, from a folder), by a selection. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

export const CopyButton = defineComponent({
  props: { label: { type: String, required: true }, text: { type: String, required: true } },
  setup(props) {
    const said = ref('');
    const click = async (): Promise<void> => {
      said.value = (await copy(props.text)) ? 'Copied.' : 'It could not be copied: select it.';
      setTimeout(() => {
        said.value = '';
      }, 3000);
    };
    return () =>
      h('span', { class: 'copying' }, [
        h('button', { type: 'button', onClick: click }, props.label),
        h('span', { role: 'status' }, said.value),
      ]);
  },
});
