/// <reference lib="dom" />
/** Light and dark: as the system says, or as the reader chose. */
import { ref } from 'vue';
import { dark, light } from '../../../src/sim/report/styles.ts';

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];
const key = 'rollflex-playground-theme';

/** The colours of the report, as a style sheet that follows the choice. */
const sheet = `:root{${light}}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${dark}}}
:root[data-theme=dark]{${dark}}`;

function stored(): Theme {
  try {
    return themes.find((one) => one === localStorage.getItem(key)) ?? 'auto';
  } catch {
    // No storage here: the choice lasts as long as the page.
    return 'auto';
  }
}

export function useTheme() {
  const style = document.createElement('style');
  style.textContent = sheet;
  document.head.append(style);
  const theme = ref<Theme>(stored());
  /** Counts changes of colours, whoever made them: charts are drawn again. */
  const colours = ref(0);
  const apply = (): void => {
    if (theme.value === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
    colours.value += 1;
  };
  apply();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    colours.value += 1;
  });
  return {
    theme,
    colours,
    choose(next: Theme): void {
      theme.value = next;
      try {
        localStorage.setItem(key, next);
      } catch {
        // As above.
      }
      apply();
    },
  };
}
