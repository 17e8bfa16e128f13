/// <reference lib="dom" />
/** The log that is shown, and where the reader is in it. */
import type { SessionItem } from '../../logs/job/log-view.ts';
import { hashEntries, showHash } from '../kit/hash.ts';

/** What the server says of the log. */
export interface LogAnswer {
  readonly name: string;
  readonly sessions: readonly SessionItem[];
  readonly lacks: { readonly droppedLines: number; readonly tornFiles: number };
  readonly start: { readonly session: string; readonly seq: number };
  readonly follow: boolean;
}

/** Where the reader is; the hash of the URL keeps it. */
export interface View {
  session: string;
  seq: number;
  /** What is looked for. */
  text: string;
  /** The id that is asked about. */
  thing: string;
}

export const view: View = { session: '', seq: 0, text: '', thing: '' };
/** The log, as far as it is known. */
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

/** Goes where the URL says; without a word of it, where the server says. */
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
