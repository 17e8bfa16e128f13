/** Makes one segment of the index from lines of a log: offsets, ids, gaps, and states at intervals. */

import { refuse } from '../../errors.ts';
import { type LogLine, type LogLineOf, logFormat } from '../format/decision-log.ts';
import { eachIdOf, isAsLogged, parseEventLine, parseLogLine } from '../format/line.ts';
import { eachId } from '../format/message-ids.ts';
import { isNewSession, SessionPlay, unopened } from '../replay/play.ts';
import type { FileLine } from './lines.ts';
import { type BuildContext, type BuiltFile, type Played, playedFrom } from './played.ts';
import { digestOf, type Segment, SegmentDraft, type SegmentSession } from './segment.ts';

/** A state is saved at the latest when the log has grown by this multiple of the state's length. */
const stateTimes = 2;
/**
 * A state is saved sooner if playing the lines since the last state takes at least so many milliseconds, and so many times as
 * long as saving. The cost of a step depends on the policy and on the machine, and the acceptable cost of the index depends on
 * it.
 */
const [leastPlaying, savingTimes] = [25, 2];

/** Milliseconds of processor time, which other work on the machine does not increase. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export class Building {
  readonly from: number;
  to: number;
  torn = false;
  readonly #file: BuiltFile;
  readonly #context: BuildContext;
  readonly #before: number;
  readonly #draft = new SegmentDraft();
  readonly #blocks: number[];
  readonly #sessions = new Map<Played, SegmentSession>();
  readonly #begun = processorTime();
  /** Part of the time since then that went into saving states, in milliseconds. */
  #saving = 0;
  readonly #found = (id: string): void => this.#draft.mention(id, this.#blocks.length - 1);
  /** Names the present line. */
  readonly #where = (): string => `${this.#file.name}:${this.#lines}`;
  #lines: number;
  #events = 0;
  #droppedLines = 0;
  #time = 0;

  constructor(file: BuiltFile, context: BuildContext, from: number, before: number) {
    this.#file = file;
    this.#context = context;
    this.from = from;
    this.to = from;
    this.#before = before;
    this.#lines = before;
    this.#blocks = [from];
  }

  get isEmpty(): boolean {
    return this.to === this.from;
  }

  /** @param number - number of the line in its file */
  take(fileLine: FileLine, number: number): void {
    this.#lines = number;
    const line = this.#parse(fileLine);
    const { from, to } = fileLine;
    this.to = to;
    if (from - this.#blocks[this.#blocks.length - 1]! >= this.#file.grain.block) this.#blocks.push(from);
    if (line.kind === 'log') {
      if (line.format !== logFormat)
        refuse('invalid_input', `${this.#where()}.format`, `format ${logFormat}`, line.format);
      return;
    }
    if (line.time > this.#time) this.#time = line.time;
    if (line.kind === 'dropped') this.#droppedLines += line.lines;
    else if (line.kind === 'session' || line.kind === 'event') this.#play(line, fileLine);
    else if (line.kind === 'closed') this.#close(line, from);
  }

  #parse({ text, from, ended }: FileLine): LogLine {
    const at = { where: this.#where, isLazy: ended };
    if (this.#file.kind === 'events')
      return parseEventLine(text, from === 0 ? undefined : this.#playedOf('')?.play.seq, '', at);
    if (from === 0 && !text.startsWith('{"kind":"log"'))
      return refuse('invalid_input', this.#where(), 'the first line of a decision log', text);
    return parseLogLine(text, at);
  }

  #playedOf(session: string): Played | undefined {
    const { plays, resume } = this.#context;
    const found = plays.get(session) ?? resume(session);
    if (found !== undefined) plays.set(session, found);
    return found;
  }

  #play(line: LogLineOf<'session'> | LogLineOf<'event'>, { from, to }: FileLine): void {
    const { session } = line;
    let played = this.#playedOf(session);
    if (line.kind === 'session' && (played === undefined || isNewSession(played, line))) {
      const run = played === undefined ? 0 : played.run + 1;
      const play = new SessionPlay(this.#context.restore, line.seq);
      played = playedFrom({ play, run, policy: line.policy, closed: false, at: 0, time: 0 });
      this.#context.plays.set(session, played);
    }
    if (played === undefined) return unopened(this.#where(), line.seq);
    const { play } = played;
    const seqBefore = play.seq;
    const gapsBefore = play.gaps.length;
    const made = play.take(line, this.#where);
    const at = line.kind === 'event' ? line.event.at : (play.policy?.at ?? 0);
    if (at > played.at) played.at = at;
    if (line.time > played.time) played.time = line.time;
    const here = this.#here(session, played, seqBefore, from);
    if (play.gaps.length > gapsBefore) here.gaps.push(...play.gaps.slice(gapsBefore));
    if (line.kind === 'event' && made !== undefined && !isAsLogged(line, made)) here.differs ??= line.seq;
    this.#mention(line);
    here.seq = play.seq;
    here.at = played.at;
    here.time = played.time;
    here.closed = undefined;
    played.pending += to - from;
    if (line.kind === 'event') this.#events += 1;
    if (this.#isDue(played)) this.#save(here, played, to);
  }

  /** Whether the state should be saved now, because playing from the last saved state would cost a step too much. */
  #isDue(played: Played): boolean {
    const { state, block } = this.#file.grain;
    const { pending, plain, saving, look } = played;
    if (pending >= Math.max(state, stateTimes * plain)) return true;
    if (pending < look) return false;
    played.look = pending + block;
    const playing = processorTime() - this.#begun - this.#saving;
    const share = pending / Math.max(pending, this.to - this.from);
    return look > 0 && playing * share >= Math.max(leastPlaying, savingTimes * saving);
  }

  /** Returns this segment's entry for a session, and notes a block that contains a line of it. */
  #here(session: string, played: Played, seq: number, from: number): SegmentSession {
    let here = this.#sessions.get(played);
    if (here === undefined) {
      const { run, policy, at, time } = played;
      here = { session, run, policy, from, blocks: [], seqs: [], times: [], points: [], gaps: [], seq, at, time };
      this.#sessions.set(played, here);
    }
    const block = this.#blocks.length - 1;
    if (here.blocks[here.blocks.length - 1] !== block) {
      here.blocks.push(block);
      here.seqs.push(seq);
      here.times.push(played.at);
    }
    return here;
  }

  #mention(line: LogLineOf<'session'> | LogLineOf<'event'>): void {
    if (line.kind === 'event') eachIdOf(line, this.#found);
    else if (line.snapshot !== null) eachId(line.snapshot, this.#found);
  }

  #save(here: SegmentSession, played: Played, offset: number): void {
    const begun = processorTime();
    const saved = played.play.save();
    if (saved === undefined) return;
    const { plain, ...stored } = this.#draft.add(saved);
    here.points.push({ seq: played.play.seq, at: played.at, offset, ...stored });
    played.pending = 0;
    played.look = 0;
    played.plain = plain;
    played.saving = processorTime() - begun;
    this.#saving += played.saving;
  }

  #close({ session, reason, seq }: LogLineOf<'closed'>, from: number): void {
    const played = this.#playedOf(session);
    if (played === undefined) return;
    // The policy's state before closing stays, so that one can ask why it waited.
    if (reason !== 'stopped') played.closed = true;
    const here = this.#here(session, played, played.play.seq, from);
    here.closed = reason;
    if (seq > here.seq) here.gaps.push({ where: `the end of ${session}`, from: here.seq + 1, to: seq });
  }

  /** Ends the segment. The last segment of a file also holds the states at its end. */
  finish(lines: number, isLast: boolean): Segment {
    const { to } = this;
    for (const [played, here] of this.#sessions) {
      if (this.#context.plays.get(here.session) !== played) continue;
      if (isLast && played.pending >= this.#file.grain.state / 4) this.#save(here, played, to);
      here.problem = played.play.problem;
    }
    const { file, writer, kind, size, modified } = this.#file;
    return this.#draft.segment({
      writer,
      kind,
      from: this.from,
      to,
      linesBefore: this.#before,
      lines: lines - this.#before,
      events: this.#events,
      size,
      modified,
      digest: digestOf(file, to),
      blocks: this.#blocks,
      sessions: [...this.#sessions.values()],
      droppedLines: this.#droppedLines,
      torn: this.torn,
      time: this.#time,
    });
  }
}
