/// <reference lib="dom" />
/** The part of a page's URL behind `#`, which keeps the reader's place. */

export const hashEntries = (): URLSearchParams => new URLSearchParams(location.hash.slice(1));

/** Writes entries into the URL, except empty ones; a jump is a step in the history. */
export function showHash(entries: Readonly<Record<string, string>>, isJump = false): void {
  const hash = new URLSearchParams(Object.entries(entries).filter(([, value]) => value !== ''));
  if (`#${hash}` === location.hash) return;
  if (isJump) history.pushState(null, '', `#${hash}`);
  else history.replaceState(null, '', `#${hash}`);
}
