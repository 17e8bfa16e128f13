/** Names of sessions in a log, where an id may be opened several times. */
import { refuse } from '../../errors.ts';
import type { LoggedSession } from './log.ts';

/** Returns the separator between an id and the number of an opening; no id contains it. */
export function markOf(ids: Iterable<string>): string {
  let mark = '@';
  for (const id of ids) while (id.includes(mark)) mark += '@';
  return mark;
}

/** Returns the id in a name, and the number of the meant opening, from 0; `run` is absent for the last one. */
export function openingIn(name: string, mark: string): { readonly id: string; readonly run?: number } {
  const at = name.lastIndexOf(mark);
  const number = at < 0 ? '' : name.slice(at + mark.length);
  return /^[1-9]\d{0,8}$/.test(number) ? { id: name.slice(0, at), run: Number(number) - 1 } : { id: name };
}

/**
 * Returns the session with a name.
 *
 * @param path - name of the caller's argument, for the error
 * @throws PolicyError `unknown_id`
 */
export function sessionNamed<T extends Pick<LoggedSession, 'session'>>(
  sessions: readonly T[],
  name: string,
  path = 'session',
): T {
  const found = sessions.find(({ session }) => session === name);
  if (found !== undefined) return found;
  const ids = sessions.slice(0, 20).map(({ session }) => session);
  const expected = sessions.length === 1 && ids[0] === '' ? `no ${path}: this log has one` : `one of ${ids.join(', ')}`;
  return refuse('unknown_id', path, expected, name);
}
