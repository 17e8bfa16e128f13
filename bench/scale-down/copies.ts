/** Copies of the sources in which a part of gpu-scale-down is another. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

export type Edit = readonly [file: string, text: string, instead: string];

/** Makes a copy in `.cache`, and returns its folder. Throws unless each text stands once in its file. */
export function copyWith(name: string, edits: readonly Edit[]): string {
  const folder = `.cache/scale-down/${name}`;
  rmSync(folder, { recursive: true, force: true });
  cpSync('src', folder, { recursive: true });
  for (const [file, text, instead] of edits) {
    const path = `${folder}/policies/gpu-scale-down/${file}`;
    const source = readFileSync(path, 'utf8');
    if (source.split(text).length !== 2) throw new Error(`expected once in ${file}: ${text}`);
    writeFileSync(
      path,
      source.replace(text, () => instead),
    );
  }
  return folder;
}
