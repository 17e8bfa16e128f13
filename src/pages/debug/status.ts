/// <reference lib="dom" />
/** What the page says of itself: what happened, whether its server is there, and that it needs the key. */
import { Failed } from '../kit/api.ts';
import { byId, element, lock } from '../kit/elements.ts';
import { log } from './view.ts';

export const says = byId('says');

/** Tells the reader what happened; an empty text takes it back. */
export function say(message: string): void {
  says.replaceChildren(element('span', '', message));
}

/** Says what went wrong; what was given up is no error. */
export function failed(error: unknown): void {
  if (error instanceof DOMException) return;
  if (error instanceof Failed && error.status === 401) return lock(true);
  if (error instanceof Failed && error.status === 0) return lost(true);
  say(error instanceof Error ? error.message : String(error));
}

/** Says whether the server is there. */
export function lost(isLost: boolean): void {
  const live = byId('live');
  live.textContent = isLost ? 'no connection; trying again' : log.follow ? 'follows the log' : '';
  live.className = isLost ? 'lost' : '';
}
