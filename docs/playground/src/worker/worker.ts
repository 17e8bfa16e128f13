/// <reference lib="dom" />
/**
 * Simulates off the main thread. The newest request wins: what was asked for meanwhile is skipped, and the further seeds of
 * a request are given up when another one comes.
 */
import { isPolicyError } from 'rollflex';
import { Keep } from './keep.ts';
import { filesOf, Library } from './library.ts';
import type { FromWorker, ToWorker } from './messages.ts';
import { readOwn, TextsWithoutTokens } from './own.ts';
import { seedsOf, simulateView } from './simulate.ts';
import { textOf } from './texts.ts';

type Request = Extract<ToWorker, { type: 'simulate' }>;

const library = new Library(textOf);
const keep = new Keep();
const say = (message: FromWorker): void => postMessage(message);
let latest: Request | undefined;
let isBusy = false;
let isStopped = false;

/** A first result that takes longer than this, in milliseconds, is given up when it is not needed any more. */
const patience = 1000;

const channel = new MessageChannel();
/** Lets messages in. */
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    channel.port1.onmessage = () => resolve();
    channel.port2.postMessage(0);
  });

/** So long, in milliseconds, nothing may move before the other seeds are begun: until then the page draws. */
const quiet = 120;
let wake: (() => void) | undefined;
/** Rests until something is said, or the time is over; gives the milliseconds that it was. */
async function rest(milliseconds: number): Promise<number> {
  const begun = performance.now();
  await new Promise<void>((resolve) => {
    wake = resolve;
    setTimeout(resolve, milliseconds);
  });
  return performance.now() - begun;
}

async function serve(request: Request): Promise<void> {
  const { id, view, settings } = request;
  let begun = performance.now();
  isStopped = false;
  try {
    await library.prepare(filesOf(String(settings.t), view));
    keep.next();
    let isFirst = true;
    for (const result of simulateView(view, settings, library, keep)) {
      if (result !== undefined) {
        const seeds = [result.seeds, seedsOf(settings)] as const;
        say({ type: 'result', id, view, settings, shown: result.shown, seeds, took: performance.now() - begun });
        if (isFirst && seeds[0] < seeds[1]) begun += await rest(quiet);
        isFirst = false;
      }
      if (isFirst && performance.now() - begun < patience) continue;
      await turn();
      if (latest !== undefined || isStopped) return;
    }
  } catch (error) {
    const path = isPolicyError(error) ? error.path : '';
    say({ type: 'failed', id, view, settings, message: messageOf(error), path });
  }
}

/** What went wrong. A refusal says it by itself; anything else is a defect, and says so. */
function messageOf(error: unknown): string {
  if (isPolicyError(error)) return error.message;
  return `internal error: ${error instanceof Error ? error.message : String(error)}`;
}

async function work(): Promise<void> {
  isBusy = true;
  while (latest !== undefined) {
    const request = latest;
    latest = undefined;
    await serve(request);
    say({ type: 'idle', id: request.id });
  }
  isBusy = false;
}

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  wake?.();
  if (data.type === 'simulate') {
    latest = data;
    if (!isBusy) void work();
    return;
  }
  if (data.type === 'stop') {
    isStopped = true;
    return;
  }
  try {
    const own = readOwn(data);
    library.own = own;
    say({ type: 'loaded', name: own.name, what: own.what, isSequences: own.kind === 'sequences' });
  } catch (error) {
    const needsTokens = error instanceof TextsWithoutTokens;
    say({ type: 'refused', message: needsTokens ? error.message : messageOf(error), needsTokens });
  }
});
