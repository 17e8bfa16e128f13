/** Parts of the site that are not made of Markdown. */
import { readFileSync } from 'node:fs';
import { root } from './pages.ts';

/** Where `npm run playground:build` leaves the playground. */
export const playgroundFolder = `${root}docs/playground/dist`;

/** Whether the repository has a playground to build. */
export function hasPlayground(): boolean {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> };
  return scripts['playground:build'] !== undefined;
}
