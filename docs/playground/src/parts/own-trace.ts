/// <reference lib="dom" />
/** A trace of one's own: chosen, dropped or pasted. It is read in the worker and goes nowhere else. */
import { defineComponent, h, onBeforeUnmount, onMounted, type PropType, ref } from 'vue';
import type { Loading } from '../simulation.ts';

/** Beyond this a browser tab has no room for it. */
const mostBytes = 100e6;

export const OwnTrace = defineComponent({
  props: {
    loading: { type: Object as PropType<Loading | undefined>, default: undefined },
    load: { type: Function as PropType<(name: string, text: string) => void>, required: true },
  },
  setup(props) {
    const pasted = ref('');
    const problem = ref<string>();
    const isOver = ref(false);

    async function read(files: FileList | null | undefined): Promise<void> {
      const file = files?.[0];
      if (file === undefined) return;
      problem.value = undefined;
      if (file.size > mostBytes) {
        problem.value = `${file.name}: expected at most ${mostBytes / 1e6} MB, got ${Math.round(file.size / 1e6)} MB; the command line reads it.`;
        return;
      }
      try {
        props.load(file.name, await file.text());
      } catch {
        problem.value = `${file.name}: it cannot be read.`;
      }
    }
    const choose = async (event: Event): Promise<void> => {
      const input = event.target as HTMLInputElement;
      await read(input.files);
      // So that the same file can be chosen again after it was mended.
      input.value = '';
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      isOver.value = false;
      void read(event.dataTransfer?.files);
    };
    const over = (event: DragEvent): void => {
      event.preventDefault();
      isOver.value = true;
    };
    // Anywhere on the page: next to the section, the browser would leave the page for the file.
    const leave = (): void => {
      isOver.value = false;
    };
    onMounted(() => {
      addEventListener('dragover', over);
      addEventListener('dragleave', leave);
      addEventListener('drop', drop);
    });
    onBeforeUnmount(() => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    });
    const paste = (): void => {
      problem.value = undefined;
      props.load('pasted', pasted.value);
    };

    return () => {
      const said = problem.value ?? props.loading?.message;
      const ok = problem.value === undefined && props.loading?.ok === true;
      return h('section', { class: ['own', { over: isOver.value }], 'aria-labelledby': 'own-title' }, [
        h('h2', { id: 'own-title' }, 'Your own trace'),
        h('label', { for: 'own-file' }, 'Choose a file, or drop one on the page'),
        h('input', { id: 'own-file', type: 'file', accept: '.jsonl,.json,.csv,.txt', onChange: choose }),
        h('details', [
          h('summary', 'Paste lines'),
          h('label', { for: 'own-text' }, 'One prompt a line'),
          h('textarea', {
            id: 'own-text',
            rows: 5,
            spellcheck: false,
            placeholder: '{"responses":[{"tokens":812},{"tokens":6044}]}',
            value: pasted.value,
            onInput: (event: Event) => {
              pasted.value = (event.target as HTMLTextAreaElement).value;
            },
          }),
          h('button', { type: 'button', onClick: paste }, 'Use these lines'),
        ]),
        said === undefined ? undefined : h('p', { class: ok ? 'good' : 'error', role: ok ? 'status' : 'alert' }, said),
        h('small', [
          'JSON lines, or any format that rollflex reads. It stays in this page: nothing is sent anywhere, and it is not part ',
          'of the link that you share.',
        ]),
      ]);
    };
  },
});
