/// <reference lib="dom" />
/** The shown log, and the reader's place in it. */
import type { SessionItem } from '../../logs/job/log-view.ts';
import { hashEntries, showHash } from '../kit/hash.ts';

/** The server's answer about the log. */
export interface LogAnswer {
  readonly name: string;
  readonly sessions: readonly SessionItem[];
  readonly lacks: { readonly droppedLines: number; readonly tornFiles: number };
  readonly start: { readonly session: string; readonly seq: number };
  readonly follow: boolean;
}

/** The reader's place, which the URL's hash keeps. */
export interface View {
  session: string;
  seq: number;
  /** Text of the search. */
  text: string;
  /** The id that is asked about. */
  thing: string;
}

export const view: View = { session: '', seq: 0, text: '', thing: '' };
/** The log as far as the page knows it. */
export const log: { -readonly [K in 'sessions' | 'start' | 'follow']: LogAnswer[K] } = {
  sessions: [],
  start: { session: '', seq: 0 },
  follow: false,
};
export const here = (): SessionItem | undefined => log.sessions.find(({ session }) => session === view.session);

/** Writes where the reader is into the URL. */
export function writeHash(isJump: boolean): void {
  showHash({ s: view.session, e: String(view.seq), q: view.text, why: view.thing }, isJump);
}

/** Goes to the place in the URL or, without one, to the place that the server names. */
export function readHash(): void {
  const hash = hashEntries();
  const wantedSession = [hash.get('s') ?? '', log.start.session].find((id) =>
    log.sessions.some(({ session }) => session === id),
  );
  view.session = wantedSession ?? log.sessions[0]?.session ?? '';
  const { first = 0, seq = 0 } = here() ?? {};
  const wanted = Number(hash.get('e') ?? (view.session === log.start.session ? log.start.seq : seq));
  view.seq = Number.isSafeInteger(wanted) ? Math.min(Math.max(wanted, first), seq) : seq;
  view.text = hash.get('q') ?? '';
  view.thing = hash.get('why') ?? '';
}
