/// <reference lib="dom" />
/** Messages of the page about itself: what happened, whether the server is there, and that a key is needed. */
import { Failed } from '../kit/api.ts';
import { byId, element, lock } from '../kit/elements.ts';
import { log } from './view.ts';

export const says = byId('says');

/** Tells the reader what happened; an empty text clears the message. */
export function say(message: string): void {
  says.replaceChildren(element('span', '', message));
}

/** Tells the reader what went wrong; a cancelled request is no error. */
export function failed(error: unknown): void {
  if (error instanceof DOMException) return;
  if (error instanceof Failed && error.status === 401) return lock(true);
  if (error instanceof Failed && error.status === 0) return lost(true);
  say(error instanceof Error ? error.message : String(error));
}

/** Shows whether the server is there. */
export function lost(isLost: boolean): void {
  const live = byId('live');
  live.textContent = isLost ? 'no connection; trying again' : log.follow ? 'follows the log' : '';
  live.className = isLost ? 'lost' : '';
}
