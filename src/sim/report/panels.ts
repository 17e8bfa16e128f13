/** The panels of a report, each with a title, a verdict and its reasons. One panel is visible; the others are behind tabs. */

import { escapeHtml } from './format.ts';

/** One workload under several schedulers. All texts are HTML. */
export interface Panel {
  readonly title: string;
  /** Text on the tab. */
  readonly tab: string;
  /** A sentence on the time that would be saved; empty without a comparison. */
  readonly verdict: string;
  /** The content that is visible at once. */
  readonly argument: string;
  /** The details, in folded sections. */
  readonly folds: readonly Fold[];
}

/** A folded section, whose content is hidden until the reader opens it. */
export interface Fold {
  readonly title: string;
  readonly body: string;
}

/** Returns a list of notes. */
export const noteList = (notes: readonly string[]): string =>
  `<ul class="note">${notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul>`;

/** The findings of a comparison: a verdict, and paragraphs with the reasons. */
export interface Findings {
  readonly verdict: string;
  readonly text: string;
}

export const noFindings: Findings = { verdict: '', text: '' };

const idOf = (index: number): string => `part-${index + 1}`;

/** Returns one tab per panel; an empty text for a single panel. */
export function tabs(panels: readonly Panel[]): string {
  if (panels.length < 2) return '';
  const buttons = panels.map(
    ({ tab }, index) =>
      `<button role="tab" id="tab-${index + 1}" aria-controls="${idOf(index)}" aria-selected="${index === 0}" tabindex="${index === 0 ? 0 : -1}">${tab}</button>`,
  );
  return `<div class="tabs" role="tablist" aria-label="Workloads">${buttons.join('')}</div>`;
}

/** Returns a list of the verdicts, with links; nothing for a single panel. */
export function contents(panels: readonly Panel[]): string {
  if (panels.length < 2) return '';
  const entries = panels.map(
    ({ title, verdict }, index) => `<li><a href="#${idOf(index)}">${title}</a> <span>${verdict}</span></li>`,
  );
  return `<nav aria-label="Contents"><h2>Every workload in a sentence</h2><ol>${entries.join('')}</ol></nav>`;
}

/** Returns the panels, one of them visible. */
export function sections(panels: readonly Panel[]): string {
  const role = (index: number): string =>
    panels.length < 2 ? '' : ` role="tabpanel" aria-labelledby="tab-${index + 1}" tabindex="-1"`;
  return panels
    .map(
      (
        { title, verdict, argument, folds },
        index,
      ) => `<section id="${idOf(index)}"${role(index)}${index === 0 ? ' class="open"' : ''}>
<h2>${title}</h2>
${verdict === '' ? '' : `<p class="headline">${verdict}</p>`}
${argument}
${folds.map((fold) => `<details><summary>${fold.title}</summary>\n${fold.body}\n</details>`).join('\n')}
</section>`,
    )
    .join('\n');
}

/** A chart with its title, and a legend for colours that the chart does not explain. */
export interface Figure {
  readonly chart: string;
  /** Index of the workload in the data, and index of the run. */
  readonly workload: number;
  readonly run?: number;
  readonly title: string;
  readonly hint?: string;
  readonly legend?: string;
}

/** Returns the placeholder of a chart; the script of the page draws the chart when it becomes visible. */
export function figure({ chart, workload, run = 0, title, hint = '', legend = '' }: Figure): string {
  return `<figure><figcaption>${title}${hint === '' ? '' : `<small>${hint}</small>`}</figcaption>${legend}
<div class="chart ${chart}" data-chart="${chart}" data-workload="${workload}" data-run="${run}" role="img"
 aria-label="${title}. The tables have its numbers."></div></figure>`;
}

/** Returns a legend: colours of the style sheet, each with a text. */
export const legendOf = (entries: readonly (readonly [colour: string, text: string])[]): string =>
  `<ul class="legend">${entries.map(([name, text]) => `<li><i class="${name}"></i>${text}</li>`).join('')}</ul>`;
