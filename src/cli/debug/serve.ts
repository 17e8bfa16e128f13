/** Serves the page of a log: what it may ask for. */
import { basename } from 'node:path';
import { refuse } from '../../errors.ts';
import type { LogView } from '../../logs/job/log-view.ts';
import { debugPage } from '../../pages/debug/page.ts';
import { pageScript } from '../../sim/report/page-script.ts';
import { formOf } from '../../sim/what-if/form.ts';
import { type Answer, type PageLimits, type PageServer, servePage } from '../page-server.ts';
import { questionOf, WhatIfDesk } from './what-if.ts';

/** What is served, and where. */
export interface DebugServing {
  readonly paths: readonly string[];
  /** Where the page begins. */
  readonly start: { readonly session: string; readonly seq: number };
  /** Whether it looks for what is added to the log. */
  readonly follow: boolean;
  readonly port: number;
  readonly host: string;
  readonly tokenFile?: string | undefined;
  readonly limits?: Partial<PageLimits>;
}

/** Longest text that is looked for. */
const longestText = 1000;
/** Milliseconds after which the log is looked at again, however many pages ask. */
const freshMilliseconds = 500;

function whole(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  if (!/^\d{1,15}$/.test(text)) refuse('invalid_input', name, 'a whole number', text);
  return Number(text);
}

function textOf(query: URLSearchParams, name: string): string {
  const text = query.get(name) ?? '';
  if (text.length > longestText) refuse('limit_exceeded', name, `at most ${longestText} characters`, text.length);
  return text;
}

function pathOf(query: URLSearchParams): string[] {
  const text = textOf(query, 'path') || '[]';
  try {
    const path: unknown = JSON.parse(text);
    if (Array.isArray(path) && path.every((one) => typeof one === 'string')) return path;
  } catch {
    // The error below says what is expected.
  }
  return refuse('invalid_input', 'path', 'a list of keys', text);
}

/** Serves a log. Throws as {@link servePage} does. */
export async function serveDebug(view: LogView, options: DebugServing): Promise<PageServer> {
  const { paths, start, follow } = options;
  const name = paths.length === 1 ? basename(paths[0]!) : `${basename(paths[0]!)} and ${paths.length - 1} more`;
  const desk = new WhatIfDesk(paths);
  let fresh = performance.now();
  const answers: Record<string, Answer> = {
    log: () => {
      if (follow && performance.now() - fresh > freshMilliseconds) {
        view.refresh();
        fresh = performance.now();
      }
      return { name, start, follow, sessions: view.sessions, lacks: view.lacks };
    },
    event: (query) => view.moment(textOf(query, 'session'), whole(query, 'seq')),
    state: (query) =>
      view.state(
        textOf(query, 'session'),
        whole(query, 'seq'),
        pathOf(query),
        query.has('from') ? whole(query, 'from') : 0,
      ),
    why: (query) => view.why(textOf(query, 'session'), whole(query, 'seq'), textOf(query, 'id') || undefined),
    find: (query) => {
      const wanted = query.get('change') === null ? { text: textOf(query, 'text') } : ({ change: true } as const);
      return view.find(textOf(query, 'session'), whole(query, 'from'), query.get('back') === '1', wanted);
    },
    job: (query) => view.job(textOf(query, 'session'), whole(query, 'seq')),
    'what-if-form': (query) => formOf(view.snapshot(textOf(query, 'session'), whole(query, 'seq'))),
    'what-if': (query, gone) => {
      const [session, seq] = [textOf(query, 'session'), whole(query, 'seq')];
      view.snapshot(session, seq);
      return desk.answer(questionOf(query, session, seq), gone);
    },
  };
  const server = await servePage({
    ...options,
    page: { ...debugPage, script: await pageScript('debug', import.meta.url) },
    answers,
  });
  return {
    ...server,
    close: async () => {
      await desk.close();
      await server.close();
    },
  };
}
