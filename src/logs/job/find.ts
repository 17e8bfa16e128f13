/** Searches a session of a log from an event on, block by block, so that other work gets its turn. */
import type { FoundLine, Log } from '../format/log.ts';

/** The target of a search. */
export type Wanted =
  /** An id, the type of an event or decision, the code of a reason, or any other text that is a whole value. */
  | { readonly text: string }
  /** An event that led to other decisions, or other reasons, than the previous event with decisions. */
  | { readonly change: true };

/**
 * Returns the next wanted event after, or before, another one; `undefined` without one. The search pauses between blocks.
 *
 * @param from - number of the event to begin at, which is not part of the search
 */
export function* findEvent(
  index: Log,
  session: string,
  from: number,
  back: boolean,
  wanted: Wanted,
): Generator<undefined, FoundLine | undefined> {
  const matches = 'text' in wanted ? hasValue(wanted.text) : yield* differsFrom(index, session, from);
  const needle = 'text' in wanted ? JSON.stringify(wanted.text) : undefined;
  // A text that the index knows as an id is looked up; any other text is searched for.
  const id = 'text' in wanted && index.hasId(wanted.text) ? wanted.text : undefined;
  for (const block of index.blocksOf(session, from, back, id)) {
    yield;
    // This test skips nearly all blocks.
    if (needle !== undefined && !block.mayHave(needle)) continue;
    const events = block.events();
    for (const line of back ? events.reverse() : events) {
      if ((back ? line.seq < from : line.seq > from) && matches(line)) return line;
    }
  }
  return undefined;
}

/** Returns all events of a session. */
export function* eventsOf(index: Log, session: string): Generator<FoundLine> {
  for (const block of index.blocksOf(session, 0, false)) yield* block.events();
}

/** Returns the event with this number; `undefined` where the log lacks it. */
export function eventAt(index: Log, session: string, seq: number): FoundLine | undefined {
  for (const block of index.blocksOf(session, seq, false)) {
    const found = block.events().find((line) => line.seq >= seq);
    if (found !== undefined) return found.seq === seq ? found : undefined;
  }
  return undefined;
}

const hasValue =
  (text: string) =>
  ({ event, decisions, producer }: FoundLine): boolean =>
    producer === text || holds(event, text) || holds(decisions, text);

const holds = (value: unknown, text: string): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some((one) => holds(one, text))
    : value === text || (typeof value === 'number' && String(value) === text);

/** Summary of an event's decisions. */
const outcome = ({ decisions }: FoundLine): string =>
  [...new Set((decisions as readonly { type: string; reason?: { code?: string } }[]).map(briefly))].sort().join(' ');
const briefly = ({ type, reason }: { type: string; reason?: { code?: string } }): string =>
  `${type}:${reason?.code ?? ''}`;

function* differsFrom(index: Log, session: string, from: number) {
  let last = '';
  search: for (const block of index.blocksOf(session, from + 1, true)) {
    yield;
    for (const line of block.events().reverse()) {
      if (line.seq > from) continue;
      last = outcome(line);
      if (last !== '') break search;
    }
  }
  return (line: FoundLine): boolean => {
    const found = outcome(line);
    return found !== '' && found !== last;
  };
}
