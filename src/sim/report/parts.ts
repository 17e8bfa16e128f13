/** What a report is made of: parts with a title and a verdict, listed at its top where they are several. */

/** One workload under some schedulers. All of it is HTML already. */
export interface Part {
  readonly title: string;
  /** What would be saved, in a sentence; empty where there is nothing to compare. */
  readonly verdict: string;
  readonly body: string;
}

/** What a comparison comes to: the verdict, and paragraphs that say why. */
export interface Findings {
  readonly verdict: string;
  readonly text: string;
}

export const noFindings: Findings = { verdict: '', text: '' };

const idOf = (index: number): string => `part-${index + 1}`;

/** A list of the verdicts, with links; nothing for a single part. */
export function contents(parts: readonly Part[]): string {
  if (parts.length < 2) return '';
  const entries = parts.map(
    ({ title, verdict }, index) => `<li><a href="#${idOf(index)}">${title}</a> <span>${verdict}</span></li>`,
  );
  return `<nav aria-label="Contents"><ol>${entries.join('')}</ol></nav>`;
}

/** The parts, one after the other. */
export function sections(parts: readonly Part[]): string {
  return parts
    .map(
      ({ title, verdict, body }, index) => `<section id="${idOf(index)}">
<h2>${title}</h2>
${verdict === '' ? '' : `<p class="headline">${verdict}</p>`}
${body}
</section>`,
    )
    .join('\n');
}
