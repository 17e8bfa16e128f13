/** The lines of a session in a segment. */
import { parseEventLine, parseLogLine } from '../format/line.ts';
import type { SessionInSegment } from './files.ts';
import { linesIn } from './lines.ts';

/** Returns the lines of a session in a segment from an offset on, opening lines and events, each with its end. */
export function* linesInSegment(
  { file, segment: { head }, here }: SessionInSegment,
  from: number,
  seq: () => number | undefined,
) {
  // A session that was opened again has the same id.
  const next = head.sessions.find(({ session, run }) => session === here.session && run > here.run)?.from;
  for (const block of here.blocks) {
    const begin = Math.max(head.blocks[block]!, here.from, from);
    const end = Math.min(head.blocks[block + 1] ?? head.to, next ?? Number.POSITIVE_INFINITY);
    if (end <= begin) continue;
    for (const { text, ended, ...range } of linesIn(file.name, file.file, begin, end)) {
      const where = () => file.name;
      const at = { where, isLazy: ended };
      const line =
        head.kind === 'decisions'
          ? parseLogLine(text, at)
          : parseEventLine(text, range.from === 0 ? undefined : seq(), '', at);
      if ((line.kind === 'event' || line.kind === 'session') && line.session === here.session)
        yield { line, to: range.to };
    }
  }
}
