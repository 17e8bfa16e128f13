/** The files of the logs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the logs. */
export const logs = fileURLToPath(new URL('logs', import.meta.url));

/** Where a log is: a file of `recordEvents`, or the folder of a server. */
export function pathOf(log: string): string {
  const file = join(logs, `${log}.jsonl`);
  return existsSync(file) ? file : join(logs, log);
}

/** The files of a log, by name. */
export function filesOf(log: string): { name: string; read(): string }[] {
  const path = pathOf(log);
  const reading = (name: string, file: string) => ({ name, read: () => readFileSync(file, 'utf8') });
  if (path.endsWith('.jsonl')) return [reading(`${log}.jsonl`, path)];
  return readdirSync(path)
    .sort()
    .map((name) => reading(name, join(path, name)));
}
