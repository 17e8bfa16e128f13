/// <reference lib="dom" />
/** What the URL of a page keeps behind `#`: where the reader is. */

export const hashEntries = (): URLSearchParams => new URLSearchParams(location.hash.slice(1));

/** Writes entries into the URL, but for empty ones; a jump is a step of the history. */
export function showHash(entries: Readonly<Record<string, string>>, isJump = false): void {
  const hash = new URLSearchParams(Object.entries(entries).filter(([, value]) => value !== ''));
  if (`#${hash}` === location.hash) return;
  if (isJump) history.pushState(null, '', `#${hash}`);
  else history.replaceState(null, '', `#${hash}`);
}
