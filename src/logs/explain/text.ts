/** Puts an explanation into words: at most three lines of 80 columns, and the chain of events before. */

import { oneLine } from '../../core/ids/printable.ts';
import type { AnyDecision } from '../../core/machine/definition.ts';
import type { SuspendedTries } from '../../core/why/suspended-tries.ts';
import { show } from '../../errors.ts';
import { idIn } from '../format/message-ids.ts';
import type { ChainStep } from './chain.ts';
import { duration } from './duration.ts';
import type { Explanation, Owed } from './explain.ts';

const columns = 80;
const mostLines = 3;
/** Longest id in an answer; the middle of a longer id is left out. */
const longestId = 48;

const cutTo = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest / 2)}…${text.slice(1 - longest / 2)}`;
const short = (id: string): string => cutTo(oneLine(id), longestId);

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Names the actor: `engine e3`, `the host`. */
function actor({ who, by }: Owed): string {
  if (by === undefined) return `the ${who}`;
  // A name such as `engine-3` says what it is.
  return by.toLowerCase().startsWith(who.split(' ').at(-1)!) ? short(by) : `${who} ${short(by)}`;
}

/** The missing event, with the id that identifies it. */
function missing({ event }: Owed): string {
  const id = idIn(event);
  return id === undefined ? oneLine(event.type) : `${oneLine(event.type)} of ${short(id)}`;
}

/** How long the wait is, and how long such waits usually are. */
function waited({ waitedSeconds, atLeast, dueAt, usual }: Owed, at: number): string {
  if (waitedSeconds === undefined) return dueAt === undefined ? '' : `, due in ${duration(dueAt - at)}`;
  const since = `${atLeast ? ', for at least ' : dueAt === undefined ? ', for ' : ', due for '}${duration(waitedSeconds)}`;
  if (dueAt !== undefined) return since;
  if (usual === undefined) return `${since} (none came so far)`;
  return `${since} (usually ${duration(usual.medianSeconds)}, 99 of 100 within ${duration(usual.highSeconds)})`;
}

function reasonOf({ code, ...numbers }: AnyDecision['reason']): string {
  const shown = (one: unknown): string =>
    typeof one === 'string' ? one : show(typeof one === 'number' ? Math.round(1000 * one) / 1000 : one);
  const all = Object.entries(numbers).map(([name, one]) => `${name} ${shown(one)}`);
  return oneLine(all.length === 0 ? code : `${code}: ${all.join(', ')}`);
}

/** The word for one thing of a kind. */
export function singular(kind: string): string {
  if (kind === 'gpus') return 'GPU';
  return kind
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x)es$/, '$1')
    .replace(/s$/, '');
}

function named(what: string, id: string): string {
  const word = singular(what);
  return id.startsWith(word) ? short(id) : `${word} ${short(id)}`;
}

/**
 * Breaks sentences into lines. Long words, which are ids, are cut if the first `needed` sentences do not fit; later sentences are
 * left out if there is no room.
 */
function fitted(sentences: readonly string[], needed = 1): string[] {
  let lines: string[] = [];
  for (const longest of [longestId, 24, 12]) {
    const texts = sentences.map((text) => text.replace(/\S+/g, (word) => cutTo(word, longest)));
    lines = wrapped(texts.slice(0, needed).join(' '));
    if (lines.length > mostLines) continue;
    for (let count = needed + 1; count <= texts.length; count += 1) {
      const next = wrapped(texts.slice(0, count).join(' '));
      if (next.length > mostLines) break;
      lines = next;
    }
    break;
  }
  return lines.slice(0, mostLines);
}

/** Breaks text at spaces; a word longer than a line gets its own line. */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Returns the lines of the answer. */
export function answerOf(one: Explanation): string[] {
  const name = one.session === '' ? one.policy : `${short(one.session)} (${one.policy})`;
  const { asked, verdict, owed, chain, seq } = one;
  if (verdict === 'unknown') return fitted([`What ${name} waits for at event ${seq} is not known.`]);
  if (verdict === 'ended' || verdict === 'unborn') return fitted(fateOf(one, chain[0]!), 2);
  if (asked !== undefined) return fitted(ofThing(one), 2);
  const [first] = owed;
  if (verdict === 'stalled') return fitted([`${name} gains nothing: ${inVain(one)}.`, ...lasting(one)]);
  if (verdict === 'suspended') return fitted([`${name} is held up: ${failing(one)}.`, ...singly(one)]);
  if (first === undefined) return fitted([`Nothing waits in ${name} at event ${seq}.`]);
  const act = `${actor(first)} owes ${missing(first)}${waited(first, one.at)}`;
  if (verdict === 'waits')
    return fitted([`Nothing is stuck in ${name} at event ${seq}.`, `The oldest wait: ${act}.`], 2);
  return fitted([`${name} is stuck: ${act}.`, ...others(one), ...held(one), ...why(first)]);
}

function ofThing({ asked, standing, through, owed, verdict, at, ...one }: Explanation): string[] {
  const { word, id } = asked!;
  const label = word !== 'id' || standing === undefined ? word : singular(standing.what);
  const full = { asked, standing, through, owed, verdict, at, ...one };
  const isItself = verdict === 'stalled' && full.stalled!.id === id;
  const start = isItself
    ? capital(inVain(full))
    : `${capital(label)} ${short(id)} ${oneLine(standing?.stands ?? 'waits')}`;
  const [first] = owed;
  const last = through.at(-1);
  const leads = last === undefined ? '' : `; ${named(last.what, last.id)} ${oneLine(last.stands)}`;
  if (first === undefined) return [`${start}${leads}.`, 'Nobody owes anything for it.'];
  const owes = `${missing(first)}${waited(first, at)}`;
  // About an engine or worker, there is only to say what it owes.
  const act =
    asked!.kinds === undefined
      ? `${owed.length === 1 ? 'It is' : 'The oldest is'} ${owes}`
      : `${capital(actor(first))} owes ${owes}`;
  return [
    `${start}${leads}.`,
    `${act}${verdict === 'stuck' ? ': overdue' : '; nothing is overdue'}.`,
    ...(verdict === 'stuck' ? others(full) : []),
    ...(verdict === 'stalled' && !isItself ? [`${capital(inVain(full))}.`] : []),
    ...why(first),
  ];
}

/** Names the round for which work gains nothing, and since when. */
function inVain({ stalled, at }: Explanation): string {
  const { what, id, stands, filteredSince } = stalled!;
  return `${named(what, id)} ${oneLine(stands)} in ${duration(Math.max(0, at - filteredSince))}`;
}

/** Names whose tries fail, and since when. */
function failing({ suspended, at }: Explanation): string {
  const all = suspended!;
  const failures = all.reduce((sum, one) => sum + one.failures, 0);
  const since = duration(Math.max(0, at - all[0]!.since));
  return `${failures} tries have failed one after the other (${all.map(domainName).join(', ')}), ${since} ago, and none has succeeded since`;
}

const scopeNames: Readonly<Record<string, string>> = {
  engine: 'all engines',
  environment: 'all environments',
  reward: 'all rewards',
  loader: 'all loaders',
  prompt: 'the data of prompts',
  weights: 'weights that are too old',
};
const domainName = ({ scope, id }: SuspendedTries): string =>
  id === undefined ? (scopeNames[scope] ?? scope) : `${scope} ${short(id)}`;

/** Says that single tries are made, and that nobody is late. */
function singly({ suspended, owed, at }: Explanation): string[] {
  const [first] = owed;
  const oldest = first === undefined ? '' : `; the oldest wait is ${missing(first)}${waited(first, at)}`;
  const scopes = new Set(suspended!.map(({ scope }) => scope));
  const singles = scopes.has('weights') ? 'They are tried again after pauses.' : 'Only single tries are made.';
  return [scopes.has('prompt') ? 'No more prompts are asked for.' : singles, `Nothing is overdue${oldest}.`];
}

/** Says since when this is unusual, and that nobody is late. */
function lasting({ stalled, owed, at }: Explanation): string[] {
  const { mostFiltered } = stalled!;
  const [first] = owed;
  const oldest = first === undefined ? '' : `; the oldest wait is ${missing(first)}${waited(first, at)}`;
  return [`${mostFiltered} or more are unusual here.`, `Nothing is overdue${oldest}.`];
}

/** Names what else is overdue. */
function others({ owed, more }: Explanation): string[] {
  const late = owed.filter(({ overdue }) => overdue);
  if (late.length <= 1) return [];
  const others = late.slice(1);
  const count = `Also overdue: ${others.length}${more > 0 ? ' or more' : ''} ${others.length === 1 ? 'other' : 'others'}`;
  const actors = new Set(late.map(actor));
  if (actors.size === 1) return [`${count} of ${actor(late[0]!)}.`];
  const isOneKind = late.every(({ who }) => who === late[0]!.who);
  return [isOneKind ? `${count}, of ${actors.size} ${late[0]!.who}s in all.` : `${count}.`];
}

/** Names what is held up. */
function held({ standing, through }: Explanation): string[] {
  if (standing === undefined) return [];
  const all = [standing, ...through].slice(0, 2).map(({ what, id, stands }) => `${named(what, id)} ${oneLine(stands)}`);
  return [`So ${all.join(', and ')}.`];
}

const why = ({ asked }: Owed): string[] =>
  asked === undefined ? [] : [`Asked for by ${oneLine(asked.type)} (${reasonOf(asked.reason)}).`];

function fateOf({ asked, verdict, at, seq }: Explanation, step: ChainStep): string[] {
  const { word, id } = asked!;
  const [decision] = step.decisions.slice(-1);
  const what =
    decision === undefined ? oneLine(step.event.type) : `${oneLine(decision.type)} (${reasonOf(decision.reason)})`;
  if (verdict === 'unborn')
    return [`${capital(word)} ${short(id)} is not there yet at event ${seq}: event ${step.seq} brings it.`];
  const ago = duration(Math.max(0, at - step.at));
  const nothing = asked!.kinds === undefined ? 'owes nothing' : 'is not held, and waits for nothing,';
  return [
    `${capital(word)} ${short(id)} ${nothing} at event ${seq}.`,
    `Its last trace, ${ago} before: ${what}, at event ${step.seq}.`,
  ];
}

/** Returns notes, one line each. */
export const notesOf = ({ notes, singles = [], at }: Explanation): string[] =>
  [...notes, ...singles.map((one) => tried(one, at))].map((one) => `  ${oneLine(`${capital(one)}.`)}`);

const tried = ({ since, failures, ...one }: SuspendedTries, at: number): string =>
  `${domainName({ since, failures, ...one })}: only single tries for ${duration(Math.max(0, at - since))}, since ${failures} failed one after the other`;

/** Most decisions of a step that are shown. */
const mostDecisions = 3;

/** Returns owed events, and the events and reasons before them, as an indented list. */
export function chainText({ owed, more, chain, at }: Explanation): string[] {
  const lines: string[] = [];
  if (owed.length > 0) {
    lines.push('', 'owed');
    for (const one of owed)
      lines.push(`  ${one.overdue ? 'overdue ' : ''}${missing(one)} by ${actor(one)}${waited(one, at)}`);
    if (more > 0) lines.push(`  … and ${more} more`);
  }
  if (chain.length > 0) lines.push('', 'what led there');
  for (const { seq, at: then, event, decisions } of chain) {
    const ids = Object.entries(event).filter(([name, id]) => name.endsWith('Id') && typeof id === 'string');
    const about = ids.map(([, id]) => short(id as string)).join(', ');
    lines.push(
      `  ${duration(Math.max(0, at - then))} before, event ${seq}: ${oneLine(event.type)}${about === '' ? '' : ` of ${about}`}`,
    );
    for (const { type, reason } of decisions.slice(0, mostDecisions))
      lines.push(`    ${oneLine(type)}: ${reasonOf(reason)}`);
    if (decisions.length > mostDecisions) lines.push(`    … and ${decisions.length - mostDecisions} more decisions`);
  }
  return lines;
}
