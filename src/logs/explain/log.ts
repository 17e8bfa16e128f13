/** Explains a log, from the selected sessions to what each of them waits for. */
import { refuse } from '../../errors.ts';
import type { Log, LoggedSession, LogLacks, Place } from '../format/log.ts';
import { sessionNamed } from '../format/session-names.ts';
import { traceless } from '../replay/traceless.ts';
import { type Asked, type Explanation, explainSession } from './explain.ts';
import { answerOf, chainText, notesOf } from './text.ts';

/** For each option: the kinds in which its id is looked up. */
const kinds = {
  prompt: ['prompts', 'groups'],
  request: ['requests', 'responses'],
  round: ['rounds'],
  gpu: ['gpus'],
  engine: undefined,
  id: [],
} as const;

/** A question to a log, with at most one id. Without an id, the answer says what each session waits for. */
export interface ExplainOptions {
  /** Why the prompt with this id waits. */
  readonly prompt?: string;
  /** Why the request with this id waits. */
  readonly request?: string;
  /** Why the round with this id waits. */
  readonly round?: string;
  /** What the engine or worker with this id owes. */
  readonly engine?: string;
  /** What is awaited from the GPU with this id. */
  readonly gpu?: string;
  /** Why any other thing with this id waits. */
  readonly id?: string;
  /** The event or time after which the state is explained; the end of the log if absent. */
  readonly at?: Place;
  /** Explains only this session. */
  readonly session?: string;
}

/** What a log says about why its sessions, or things in them, wait. */
export interface LogExplanation extends LogLacks {
  /** Explanations per selected session; stuck, suspended and stalled sessions come first. */
  readonly sessions: readonly Explanation[];
}

const order: readonly Explanation['verdict'][] = [
  'stuck',
  'suspended',
  'stalled',
  'waits',
  'unborn',
  'ended',
  'unknown',
  'idle',
];

/** The ids in the question, by option. */
export const idsIn = (options: ExplainOptions): (keyof typeof kinds)[] =>
  (Object.keys(kinds) as (keyof typeof kinds)[]).filter((name) => options[name] !== undefined);

function askedBy(options: ExplainOptions): Asked | undefined {
  const [word, other] = idsIn(options);
  if (other !== undefined) refuse('invalid_input', other, 'one id', `${word} beside it`);
  return word && { id: options[word]!, kinds: kinds[word], word };
}

/** Returns the sessions to explain: the named one, the sessions that know the id, or all. */
function sessionsOf(log: Log, session: string | undefined, asked: Asked | undefined): readonly LoggedSession[] {
  const { sessions } = log;
  if (session !== undefined) return [sessionNamed(sessions, session)];
  // Among several sessions with one id, the last one keeps the id; the others are named by the number of their opening.
  const last = sessions.filter(({ isLast }) => isLast);
  if (asked === undefined) return last;
  const having = last.filter((one) => knows(log, one.session, asked.id));
  return having.length > 0 ? having : last.slice(-1);
}

function knows(log: Log, session: string, id: string): boolean {
  for (const _ of log.linesOf(session, id)) return true;
  return false;
}

/**
 * Says what a log waits for: who has to act, since when, and why. An answer is overdue if it takes much longer than usual in this
 * log.
 *
 * @throws PolicyError `invalid_input` for two ids, for an event that the log lacks, or for a log without a session; `unknown_id`
 * for an id or a session that the log lacks. The path is the name of the option.
 */
export function explain(log: Log, options: ExplainOptions = {}): LogExplanation {
  const asked = askedBy(options);
  if (log.sessions.length === 0) refuse('invalid_input', 'log', 'a log with a session in it', 'no line of one');
  const sessions = traceless(() =>
    sessionsOf(log, options.session, asked).map((one) => explainSession(log, one, options.at, asked)),
  );
  return { sessions: sessions.sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict)), ...log.lacks };
}

/**
 * Returns an explanation in words, as lines: at most three of 80 columns, and notes.
 *
 * @param isWhole - also lists everything that is owed, and the events and reasons before
 */
export const explanationText = (one: Explanation, isWhole = false): string[] => [
  ...answerOf(one),
  ...notesOf(one),
  ...(isWhole ? chainText(one) : []),
];
