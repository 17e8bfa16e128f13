/** The examples: what each page says of itself, and how long its program is. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../examples/', import.meta.url));

/** One example. */
export interface Variant {
  /** Its folder. */
  readonly name: string;
  /** Its first heading. */
  readonly adds: string;
  /** Lines of its programs, without blank ones and comments. */
  readonly lines: number;
  /** The last command of its first block. */
  readonly command: string;
  /** What it prints, as its page says, if that is the same each time. */
  readonly prints: string | undefined;
}

/** Without blank lines, and without comments and docstrings that have lines of their own. */
const linesOfCode = (text: string): number =>
  text
    .replace(/^\s*(\/\*[\s\S]*?\*\/|"""[\s\S]*?""")\s*$/gm, '')
    .split('\n')
    .filter((line) => !/^\s*((\/\/|#).*)?$/.test(line)).length;

/** All examples, the shortest first. */
export function exampleList(): Variant[] {
  const names = readdirSync(root).filter((name) => /^\d\d-/.test(name));
  return names.sort().map((name) => {
    const page = readFileSync(`${root}${name}/README.md`, 'utf8');
    const programs = readdirSync(root + name).filter((file) => /\.(ts|py)$/.test(file));
    const lines = programs.map((file) => linesOfCode(readFileSync(`${root}${name}/${file}`, 'utf8')));
    const [, title] = /^# (.+)$/m.exec(page)!;
    const [, block] = /^```(?:sh|text)\n([\s\S]*?)\n```$/m.exec(page)!;
    return {
      name,
      adds: title!,
      lines: lines.reduce((sum, one) => sum + one, 0),
      command: block!.split('\n').at(-1)!,
      prints: /^It prints:\n\n```text\n([\s\S]*?)\n```$/m.exec(page)?.[1],
    };
  });
}

/** Whether a program printed what its page says: `…` stands for any lines. */
export function printed(expected: string, output: string): boolean {
  const escaped = expected.split('\n').map((line) => (line === '…' ? '[\\s\\S]*' : literal(line)));
  return new RegExp(`^${escaped.join('\n')}\n*$`).test(output);
}
const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
