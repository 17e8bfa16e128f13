/// <reference lib="dom" />
/** A trace of one's own: chosen, dropped or pasted. It is read in the worker and goes nowhere else. */
import { defineComponent, h, nextTick, onBeforeUnmount, onMounted, type PropType, ref, watch } from 'vue';
import type { Loading } from '../simulation.ts';
import type { Load } from '../worker/messages.ts';

/** Beyond this a browser tab has no room for it. */
const mostBytes = 100e6;
/** Of a text in English, or of code, a quarter to a third: what is offered where nobody has counted. */
const usualTokensPerCharacter = 0.3;

const namesOf = (files: readonly File[]): string => files.map(({ name }) => name).join(', ');

/** The text of a file; a dump that was packed is unpacked. */
function textOf(file: File): Promise<string> {
  if (!file.name.endsWith('.gz')) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

export const OwnTrace = defineComponent({
  props: {
    loading: { type: Object as PropType<Loading | undefined>, default: undefined },
    reading: { type: String as PropType<string | undefined>, default: undefined },
    load: {
      type: Function as PropType<(files: Load['files'] | undefined, tokensPerCharacter?: number) => void>,
      required: true,
    },
  },
  setup(props) {
    const pasted = ref('');
    const problem = ref<string>();
    const isOver = ref(false);
    const tokens = ref(String(usualTokensPerCharacter));
    const message = ref<HTMLElement>();
    // A file may be dropped anywhere on the page: what came of it is brought to the eye.
    watch([() => props.loading, problem], async () => {
      await nextTick();
      message.value?.scrollIntoView({ block: 'nearest' });
    });

    async function read(files: FileList | null | undefined): Promise<void> {
      const chosen = [...(files ?? [])];
      if (chosen.length === 0) return;
      problem.value = undefined;
      const bytes = chosen.reduce((sum, one) => sum + one.size, 0);
      if (bytes > mostBytes) {
        problem.value = `${namesOf(chosen)}: expected at most ${mostBytes / 1e6} MB, got ${Math.round(bytes / 1e6)} MB; the command line reads it.`;
        return;
      }
      const texts: { name: string; text: string }[] = [];
      for (const file of chosen) {
        try {
          texts.push({ name: file.name, text: await textOf(file) });
        } catch {
          problem.value = `${file.name}: it cannot be read${file.name.endsWith('.gz') ? ': expected a whole gzip file' : ''}.`;
          return;
        }
      }
      props.load(texts);
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
      props.load([{ name: 'pasted', text: pasted.value }]);
    };
    const estimate = (): void => {
      const factor = Number(tokens.value);
      if (factor >= 0.001 && factor <= 10) props.load(undefined, factor);
      else
        problem.value = `Tokens of a character: expected a number from 0.001 to 10, got ${tokens.value || 'nothing'}.`;
    };
    const estimating = () => [
      h('label', { for: 'own-tokens' }, 'Tokens of a character'),
      h('input', {
        id: 'own-tokens',
        inputmode: 'decimal',
        value: tokens.value,
        onInput: (event: Event) => {
          problem.value = undefined;
          tokens.value = (event.target as HTMLInputElement).value;
        },
      }),
      h('button', { type: 'button', onClick: estimate }, 'Read with this estimate'),
      h('small', 'Exact lengths come from a tokenizer: rollflex import --tokenizer tokenizer.json.'),
    ];

    return () => {
      const said = problem.value ?? props.loading?.message;
      const ok = problem.value === undefined && props.loading?.ok === true;
      return h('section', { class: ['own', { over: isOver.value }], 'aria-labelledby': 'own-title' }, [
        h('h2', { id: 'own-title' }, 'Your own trace'),
        h('label', { for: 'own-file' }, 'Choose files, or drop them on the page'),
        h('input', {
          id: 'own-file',
          type: 'file',
          multiple: true,
          accept: '.jsonl,.json,.csv,.txt,.gz',
          onChange: choose,
        }),
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
        props.reading === undefined ? undefined : h('p', { role: 'status' }, `Reading ${props.reading} …`),
        said === undefined
          ? undefined
          : h('p', { ref: message, class: ok ? 'good' : 'error', role: ok ? 'status' : 'alert' }, said),
        ...(props.loading?.needsTokens === true ? estimating() : []),
        h('small', [
          'A trace, or what verl, slime, ROLL and NeMo-RL write: all files of a job together. They stay in this page: nothing is ',
          'sent anywhere, and they are not part of the link that you share.',
        ]),
      ]);
    };
  },
});
