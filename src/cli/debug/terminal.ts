/** `rollflex debug --terminal`: the same in a terminal, or in a pipe: one command a line. */
import { createInterface } from 'node:readline';
import { oneLine } from '../../core/ids/printable.ts';
import { isPolicyError, refuse, show } from '../../errors.ts';
import { duration } from '../../logs/explain/duration.ts';
import type { Wanted } from '../../logs/job/find.ts';
import type { LogView, Moment } from '../../logs/job/log-view.ts';
import type { TreeNode } from '../../logs/job/tree.ts';
import { columnsOfOutput, look, print } from '../terminal/output.ts';
import { prose } from '../terminal/plain-table.ts';

const help = `
  next [N], back [N]     N events on, or back (an empty line: the last command again)
  goto N, begin, end     event N, the first, the last one
  change [back]          the next (last) event that led to other decisions or reasons
  find TEXT [back]       the next (last) event that has an id, a reason or a type
  why [ID]               why it waits; without an id, the whole session
  state [KEY …]          a part of the state
  held                   what is held and where it stands, and what is not answered yet
  sessions, session ID   the sessions of the log; another one
  quit`;

/** Most lines of an event's decisions that are shown; `state` shows the rest. */
const mostDecisions = 8;

export class DebugTerminal {
  readonly #view: LogView;
  readonly #follow: boolean;
  #session: string;
  #seq: number;
  #last = 'next';

  constructor(view: LogView, follow: boolean, start: { readonly session: string; readonly seq: number }) {
    this.#view = view;
    this.#follow = follow;
    this.#session = start.session;
    this.#seq = start.seq;
  }

  /** Answers commands until the input ends. */
  async run(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<void> {
    const isTerminal = input.isTTY === true && output.isTTY === true;
    const lines = createInterface({ input, ...(isTerminal ? { output, prompt: 'debug> ' } : undefined) });
    lines.on('SIGINT', () => lines.close());
    this.#moment();
    if (isTerminal) print(`Type help for the commands.`);
    lines.prompt();
    for await (const line of lines) {
      const said = line.trim() === '' ? this.#last : line.trim();
      if (said === 'quit' || said === 'q' || said === 'exit') break;
      this.#last = said;
      try {
        this.#obey(said);
      } catch (error) {
        if (!isPolicyError(error)) throw error;
        print(oneLine(error.message));
      }
      lines.prompt();
    }
    lines.close();
  }

  get #item() {
    return this.#view.sessions.find(({ session }) => session === this.#session)!;
  }

  #obey(said: string): void {
    if (this.#follow) this.#view.refresh();
    const [command = '', ...args] = said.split(/\s+/);
    const isBack = args.length > 0 && args.at(-1) === 'back';
    const rest = isBack ? args.slice(0, -1) : args;
    const steps = (): number => (rest[0] === undefined ? 1 : wholeOf(rest[0]));
    switch (command) {
      case 'next':
      case 'n':
        return this.#goto(this.#seq + steps());
      case 'back':
      case 'b':
        return this.#goto(this.#seq - steps());
      case 'goto':
      case 'g':
        return this.#goto(wholeOf(rest[0] ?? ''));
      case 'begin':
        return this.#goto(0);
      case 'end':
        return this.#goto(Number.MAX_SAFE_INTEGER);
      case 'change':
      case 'c':
        return this.#find({ change: true }, isBack);
      case 'find':
      case 'f':
        if (rest.length === 0) refuse('invalid_input', 'find', 'an id, a reason or a type', '');
        return this.#find({ text: rest.join(' ') }, isBack);
      case 'why':
      case 'w':
        return this.#why(rest.join(' '));
      case 'state':
      case 's':
        return this.#state(args);
      case 'held':
      case 'h':
        return this.#held(this.#view.moment(this.#session, this.#seq));
      case 'sessions':
        return this.#sessions();
      case 'session':
        return this.#other(rest.join(' '));
      case 'help':
      case '?':
        return print(help.slice(1));
      default:
        return refuse('invalid_input', 'command', 'one that help lists', command);
    }
  }

  #goto(seq: number): void {
    const { first, seq: last } = this.#item;
    this.#seq = Math.min(Math.max(seq, first), last);
    this.#moment();
  }

  #find(wanted: Wanted, back: boolean): void {
    const steps = this.#view.find(this.#session, this.#seq, back, wanted);
    let step = steps.next();
    while (!step.done) step = steps.next();
    const { seq, meant } = step.value;
    if (seq !== undefined) return this.#goto(seq);
    const hint = meant === undefined ? '' : ` (did you mean "${oneLine(meant)}"?)`;
    print(`There is no ${back ? 'earlier' : 'later'} one${hint}.`);
  }

  #why(id: string): void {
    const { answer, notes, chain } = this.#view.why(this.#session, this.#seq, id === '' ? undefined : id);
    print(prose(answer, '', columnsOfOutput()));
    for (const note of notes) print(`  ${note}`);
    for (const line of chain) print(line);
  }

  #state(path: readonly string[]): void {
    const { nodes, size } = this.#view.state(this.#session, this.#seq, path);
    for (const node of nodes) print(`  ${oneLine(node.key)}  ${look('dim', oneLine(below(node)))}`);
    if (size > nodes.length) print(`  … and ${size - nodes.length} more`);
    if (size === 0) print('  nothing below it');
  }

  #sessions(): void {
    for (const { session, policy, seq, closed } of this.#view.sessions) {
      const name = session === '' ? policy : `${session} (${policy})`;
      print(
        `${session === this.#session ? '* ' : '  '}${oneLine(name)}, ${seq} events${closed === null ? '' : `, ${closed}`}`,
      );
    }
  }

  #other(id: string): void {
    const { sessions } = this.#view;
    const found = sessions.find(({ session }) => session === id);
    if (found === undefined) {
      const known = sessions.slice(0, 20).map(({ session }) => session);
      refuse('unknown_id', 'session', `one of ${known.join(', ')}`, id);
    }
    this.#session = id;
    this.#goto(Number.MAX_SAFE_INTEGER);
  }

  #moment(): void {
    const moment = this.#view.moment(this.#session, this.#seq);
    const { seq, at, sinceSeconds, event, decisions, notes } = moment;
    const { type, at: _, ...rest } = event ?? { type: seq === 0 ? 'before the first event' : 'not in the log', at };
    const since = sinceSeconds > 0 ? `, ${duration(sinceSeconds)} after the one before` : '';
    print(`${look('bold', `${seq} of ${this.#item.seq}  ${oneLine(type)}`)}  at ${Number(at.toFixed(3))} s${since}`);
    print(briefly(rest, '  '));
    for (const { type: what, reason, at: __, ...fields } of decisions.slice(0, mostDecisions)) {
      const { code, ...numbers } = reason;
      print(`  → ${oneLine(what)}  ${look('cost', oneLine(code))}`);
      print(briefly({ ...fields, ...numbers }, '    '));
    }
    if (decisions.length > mostDecisions) print(`  … and ${decisions.length - mostDecisions} more decisions`);
    for (const note of notes) print(`  ${oneLine(note)}`);
  }

  #held({ asked, standing }: Moment): void {
    const ids = (all: readonly string[], count: number): string =>
      `${all.map(oneLine).join(', ')}${count > all.length ? `, … ${count - all.length} more` : ''}`;
    for (const { answer, by, count, ids: shown, seconds, overdue } of asked) {
      const who = by === undefined ? '' : ` of ${oneLine(by)}`;
      const time = seconds < 0 ? `in ${duration(-seconds)}` : duration(seconds);
      const late = overdue ? look('loss', ', overdue') : '';
      print(`  awaited  ${count} ${oneLine(answer)}${who}, ${time}${late}: ${ids(shown, count)}`);
    }
    for (const { what, stands, count, ids: shown, seconds } of standing) {
      const since = seconds === undefined ? '' : `, ${duration(seconds)}`;
      print(
        `  held     ${count} ${oneLine(what)}${count === 1 ? '' : ', each'} ${oneLine(stands)}${since}: ${ids(shown, count)}`,
      );
    }
    if (asked.length + standing.length === 0) print('  nothing');
  }
}

function wholeOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) refuse('invalid_input', 'number', 'a whole number', text);
  return Number(text);
}

/** Longest line of fields. */
const longest = 400;

function briefly(fields: object, indent: string): string {
  const all = Object.entries(fields).map(([name, one]) => `${name} ${typeof one === 'string' ? one : show(one)}`);
  const text = oneLine(all.join(', '));
  return `${indent}${text.length > longest ? `${text.slice(0, longest)}…` : text}`;
}

function below({ value, size, isList, label }: TreeNode): string {
  if (size === undefined) return JSON.stringify(value);
  return `${isList ? `[${size}]` : `{${size}}`}${label === undefined ? '' : ` ${label}`}`;
}
