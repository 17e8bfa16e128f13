/** `--open`: opens a report in the user's browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as passed } from 'node:timers/promises';
import { say } from './output.ts';
import { reasonOf } from './system-errors.ts';

/** The program of each platform that opens a file with the default application. */
const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer.exe' };
/** A program that cannot open the file fails within this time; a browser may run for days. */
const mostMilliseconds = 1500;

/** Opens a file in the browser. Without a browser, it prints a message; this is no error. */
export async function openInBrowser(path: string): Promise<void> {
  const opener = openers[process.platform] ?? 'xdg-open';
  const waited = new AbortController();
  let why = '';
  try {
    const child = spawn(opener, [path], { detached: true, stdio: 'ignore' });
    child.unref();
    const ended = once(child, 'exit', waited) as Promise<[number | null, string?]>;
    const [code, signal] = await Promise.race([ended, passed(mostMilliseconds, [0] as const, waited)]);
    // The program on Windows exits with 1 after it has opened the file.
    if (code === 0 || process.platform === 'win32') return;
    why = signal ? `was ended by ${signal}` : `left with exit code ${code}`;
  } catch (error) {
    why = reasonOf(error as NodeJS.ErrnoException);
  } finally {
    waited.abort();
  }
  say(`no browser could be opened (${opener}: ${why}): open ${path} yourself`);
}
