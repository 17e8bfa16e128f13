/** Snippets of the documentation, as they stand in Markdown. A fence `ts continued` goes on from the snippet before it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageFiles, root } from './pages.ts';

/** A fenced block. */
export interface Snippet {
  readonly file: string;
  /** Line of the first line of code, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/** The blocks of a Markdown text, each `continued` one joined with those before it. */
export function extractSnippets(file: string, markdown: string): Snippet[] {
  const snippets: Snippet[] = [];
  const lines = markdown.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const fence = /^```(\w+)( continued)?\s*$/.exec(lines[index]!);
    if (fence === null) continue;
    const from = index + 1;
    while (index + 1 < lines.length && lines[index + 1] !== '```') index += 1;
    const code = lines.slice(from, index + 1).join('\n');
    const before = fence[2] === undefined ? undefined : snippets.findLast((one) => one.language === fence[1]);
    index += 1;
    snippets.push({
      file,
      line: from + 1,
      language: fence[1]!,
      code: before === undefined ? code : `${before.code}\n${code}`,
    });
  }
  return snippets;
}

/** Those of the README and of every page. */
export const documentedSnippets = (): Snippet[] =>
  ['README.md', ...pageFiles()].flatMap((file) => extractSnippets(file, readFileSync(join(root, file), 'utf8')));

/** Those in TypeScript. One that another goes on from is a part of that one, with its claims. */
export function typescriptIn(snippets: readonly Snippet[]): Snippet[] {
  const isContinued = ({ file, language, code }: Snippet): boolean =>
    snippets.some((one) => one.file === file && one.language === language && one.code.startsWith(`${code}\n`));
  return snippets.filter((one) => one.language === 'ts' && !isContinued(one));
}
