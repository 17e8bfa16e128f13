/** A place in a log, as `--at` names it. */
import { refuse } from '../../errors.ts';
import type { Place } from '../../logs/format/log.ts';

/** Returns the place that `--at` means: an event, a time of the session's clock, a date, or now. Throws `invalid_input` for anything else. */
export function placeBy(text: string): Place {
  if (/^\d+$/.test(text)) return { seq: Number(text) };
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(text) ?? [];
  // `Date.parse` takes `-1` and `1.5`, too, for days of 2001.
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) / 1000 : Number.NaN;
  const at = text === 'now' ? Date.now() / 1000 : seconds === undefined ? date : Number(seconds);
  if (Number.isFinite(at)) return { at };
  const expected = 'the number of an event (4711), a time in seconds (1795284199.9s), a date in ISO 8601, or now';
  return refuse('invalid_input', '--at', expected, text);
}
