/// <reference lib="dom" />
/** Asks the server. The key is part of the URL that was printed; it is kept for this tab, and leaves the URL. */

import { hashEntries } from './hash.ts';

const storage = 'rollflex-key';

/** Takes the key out of the URL. */
export function takeKey(): void {
  const hash = hashEntries();
  const key = hash.get('key');
  if (key === null) return;
  setKey(key);
  hash.delete('key');
  history.replaceState(null, '', `#${hash}`);
}
export const setKey = (key: string): void => sessionStorage.setItem(storage, key);

/** An unsuccessful answer: the server has refused, or is not there (status 0). */
export class Failed extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Returns the server's objection to a question. Rethrows other errors: the server is not there, or does not know the key. */
export function refusal(error: unknown): string {
  if (!(error instanceof Failed) || error.status === 0 || error.status === 401) throw error;
  return error.message;
}

/** Sends a question. Throws {@link Failed}; `AbortError` if the answer is not needed any more. */
export async function ask<T>(name: string, query: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<T> {
  const authorization = `Bearer ${sessionStorage.getItem(storage) ?? ''}`;
  let response: Response;
  try {
    const init = { headers: { authorization }, ...(signal === undefined ? undefined : { signal }) };
    response = await fetch(`api/${name}?${new URLSearchParams(query)}`, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Failed(0, 'no connection');
  }
  const body = (await response.json()) as T & { readonly error?: string };
  if (!response.ok) throw new Failed(response.status, body.error ?? response.statusText);
  return body;
}
