/// <reference lib="dom" />
/** The page of `rollflex debug`: the events of a log, one after the other, with what the policy knew then. */
import type { TreePage } from '../tree.ts';
import type { Moment, SessionItem, WhyText } from '../view.ts';
import { ask, Failed, setKey, takeKey } from './api.ts';
import { byId, element, idButton } from './elements.ts';
import { eventPart, standingPart, whyPart } from './moment.ts';
import { branch } from './tree.ts';
import { onWhatIf, whatIfAt } from './what-if.ts';

interface LogAnswer {
  readonly name: string;
  readonly sessions: readonly SessionItem[];
  readonly lacks: { readonly droppedLines: number; readonly tornFiles: number };
  readonly start: { readonly session: string; readonly seq: number };
  readonly follow: boolean;
}

/** Where the reader is; the hash of the URL keeps it. */
interface Place {
  session: string;
  seq: number;
  /** What is looked for. */
  text: string;
  /** The id that is asked about. */
  thing: string;
}

const place: Place = { session: '', seq: 0, text: '', thing: '' };
let sessions: readonly SessionItem[] = [];
let start = { session: '', seq: 0 };
let follows = false;
const here = (): SessionItem | undefined => sessions.find(({ session }) => session === place.session);

const slider = byId<HTMLInputElement>('slider');
const number = byId<HTMLInputElement>('number');
const text = byId<HTMLInputElement>('text');
const picker = byId<HTMLSelectElement>('session');
const says = byId('says');

/** Tells the reader what happened; an empty text takes it back. */
function say(message: string): void {
  says.replaceChildren(element('span', '', message));
}

/** What is asked for the present event; what was asked for the last one is not needed any more. */
let asked = new AbortController();
/** Asks beside the others; a later question of the kind makes an earlier one void. */
let searching = new AbortController();

function failed(error: unknown): void {
  if (error instanceof DOMException) return;
  if (error instanceof Failed && error.status === 401) return askForKey();
  if (error instanceof Failed && error.status === 0) return lost(true);
  say(error instanceof Error ? error.message : String(error));
}

function askForKey(): void {
  byId('locked').hidden = false;
  byId('view').hidden = true;
}

function lost(isLost: boolean): void {
  const live = byId('live');
  live.textContent = isLost ? 'no connection; trying again' : follows ? 'follows the log' : '';
  live.className = isLost ? 'lost' : '';
}

function writeHash(isJump: boolean): void {
  const entries = { s: place.session, e: String(place.seq), q: place.text, why: place.thing };
  const hash = new URLSearchParams(Object.entries(entries).filter(([, value]) => value !== ''));
  if (`#${hash}` === location.hash) return;
  if (isJump) history.pushState(null, '', `#${hash}`);
  else history.replaceState(null, '', `#${hash}`);
}

/** Goes where the URL says; without a word of it, where the server says. */
function readHash(): void {
  const hash = new URLSearchParams(location.hash.slice(1));
  const wantedSession = [hash.get('s') ?? '', start.session].find((id) =>
    sessions.some(({ session }) => session === id),
  );
  place.session = wantedSession ?? sessions[0]?.session ?? '';
  const { first = 0, seq = 0 } = here() ?? {};
  const wanted = Number(hash.get('e') ?? (place.session === start.session ? start.seq : seq));
  place.seq = Number.isSafeInteger(wanted) ? Math.min(Math.max(wanted, first), seq) : seq;
  place.text = hash.get('q') ?? '';
  place.thing = hash.get('why') ?? '';
  text.value = place.text;
}

/** Shows the present place. */
async function show(isJump = false): Promise<void> {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  if (here() === undefined) return say('The log has no session yet.');
  const { session, seq } = place;
  const { first = 0, seq: last = 0 } = here() ?? {};
  slider.min = String(first);
  slider.max = String(last);
  slider.value = String(seq);
  number.value = String(seq);
  byId('last').textContent = `of ${last.toLocaleString('en-US')}`;
  picker.value = session;
  writeHash(isJump);
  const query = { session, seq: String(seq) };
  const state = byId<HTMLDetailsElement>('state');
  try {
    const moment = await ask<Moment>('event', query, signal);
    byId('event').replaceChildren(eventPart(moment));
    byId('standing').replaceChildren(standingPart(moment));
    document.body.dataset.seq = String(seq);
    lost(false);
    const askTree = (path: readonly string[], from: number) =>
      ask<TreePage>('state', { ...query, path: JSON.stringify(path), from: String(from) }, signal);
    if (state.open) byId('tree').replaceChildren(await branch(askTree, []));
    else byId('tree').replaceChildren();
    byId('whole').replaceChildren(whyPart(await ask<WhyText>('why', query, signal)));
    if (place.thing !== '') await showThing(signal);
    await whatIfAt(() => place, failed, signal);
    document.body.dataset.shown = String(seq);
  } catch (error) {
    failed(error);
  }
}

async function showThing(signal: AbortSignal): Promise<void> {
  const { session, seq, thing } = place;
  const panel = byId('thing');
  panel.hidden = false;
  panel.scrollIntoView({ block: 'nearest' });
  const title = byId('thing-name');
  title.replaceChildren(idButton(thing));
  try {
    const why = await ask<WhyText>('why', { session, seq: String(seq), id: thing }, signal);
    byId('thing-why').replaceChildren(whyPart(why));
  } catch (error) {
    if (!(error instanceof Failed) || error.status === 0 || error.status === 401) throw error;
    byId('thing-why').replaceChildren(element('p', 'note', error.message));
  }
}

function go(seq: number, isJump = false): void {
  const { first = 0, seq: last = 0 } = here() ?? {};
  place.seq = Math.min(Math.max(seq, first), last);
  void show(isJump);
}

/** Looks for something from the present event on. */
async function find(query: Readonly<Record<string, string>>, back: boolean, what: string): Promise<void> {
  searching.abort();
  searching = new AbortController();
  say('…');
  try {
    const { session, seq } = place;
    const given = { session, from: String(seq), back: back ? '1' : '', ...query };
    const found = await ask<{ seq?: number; meant?: string }>('find', given, searching.signal);
    if (found.seq !== undefined) {
      say('');
      return go(found.seq, true);
    }
    say(`No ${back ? 'earlier' : 'later'} event ${what}.`);
    if (found.meant !== undefined) says.append(' Did you mean ', idButton(found.meant), '?');
  } catch (error) {
    failed(error);
  }
}

function search(back: boolean): void {
  place.text = text.value.trim();
  if (place.text !== '') void find({ text: place.text }, back, `has ${place.text}`);
}
const change = (back: boolean): Promise<void> => find({ change: '1' }, back, 'led to other decisions');

function closeThing(): void {
  place.thing = '';
  byId('thing').hidden = true;
  writeHash(false);
}

const buttons: Readonly<Record<string, () => void>> = {
  begin: () => go(0, true),
  back: () => go(place.seq - 1),
  on: () => go(place.seq + 1),
  end: () => go(Number.MAX_SAFE_INTEGER, true),
  'change-back': () => void change(true),
  'change-on': () => void change(false),
  'find-back': () => search(true),
  'find-on': () => search(false),
  'thing-close': closeThing,
  'thing-back': () => void find({ text: place.thing }, true, 'has it'),
  'thing-on': () => void find({ text: place.thing }, false, 'has it'),
};

function listen(): void {
  for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener('click', act);
  slider.addEventListener('input', () => go(Number(slider.value)));
  number.addEventListener('change', () => go(Number(number.value), true));
  byId('search').addEventListener('submit', (event) => {
    event.preventDefault();
    search(false);
  });
  picker.addEventListener('change', () => {
    place.session = picker.value;
    closeThing();
    go(Number.MAX_SAFE_INTEGER, true);
  });
  byId('state').addEventListener('toggle', () => void show());
  onWhatIf(() => void show());
  document.addEventListener('click', ({ target }) => {
    const id = target instanceof HTMLElement ? target.closest<HTMLElement>('button.id')?.dataset.id : undefined;
    if (id === undefined) return;
    place.thing = id;
    writeHash(false);
    showThing(asked.signal).catch(failed);
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement && event.target.type !== 'range';
    if (event.key === 'Escape') return closeThing();
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys: Readonly<Record<string, string>> = {
      ArrowLeft: event.shiftKey ? 'change-back' : 'back',
      ArrowRight: event.shiftKey ? 'change-on' : 'on',
      Home: 'begin',
      End: 'end',
      n: 'find-on',
      N: 'find-back',
    };
    if (event.key === '/') text.focus();
    else if (Object.hasOwn(keys, event.key)) buttons[keys[event.key]!]!();
    else return;
    event.preventDefault();
  });
  window.addEventListener('popstate', () => {
    readHash();
    void show();
  });
  byId('locked').addEventListener('submit', (event) => {
    event.preventDefault();
    setKey(byId<HTMLInputElement>('key').value.trim());
    void load();
  });
}

function showLog({ name, sessions: found, lacks, follow, start: from }: LogAnswer): void {
  sessions = found;
  start = from;
  follows = follow;
  byId('name').replaceChildren(element('span', '', name));
  const ids = found.map(
    ({ session, policy }) => [session, session === '' ? policy : `${session} (${policy})`] as const,
  );
  if (picker.options.length !== ids.length) {
    picker.replaceChildren(
      ...ids.map(([session, label]) => {
        const option = element('option', '', label);
        option.value = session;
        return option;
      }),
    );
  }
  picker.disabled = ids.length < 2;
  const { droppedLines, tornFiles } = lacks;
  const missing = [
    ...(droppedLines > 0 ? [`${droppedLines} lines of this log were dropped by the server.`] : []),
    ...(tornFiles > 0 && !follow ? ['A file ends in the middle of a line.'] : []),
  ];
  byId('lacks').textContent = missing.join(' ');
  lost(false);
}

/** Milliseconds between two looks at a log that is followed. */
const often = 1000;
/** After so many of them without anything new, what waits has become older. */
const seldom = 10;
let looks = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows again what waits, and for how long. */
async function age(): Promise<void> {
  const { signal } = asked;
  const query = { session: place.session, seq: String(place.seq) };
  byId('standing').replaceChildren(standingPart(await ask<Moment>('event', query, signal)));
  const whole = byId('whole');
  const isOpen = whole.querySelector('details')?.open === true;
  whole.replaceChildren(whyPart(await ask<WhyText>('why', query, signal)));
  const details = whole.querySelector('details');
  if (details !== null) details.open = isOpen;
}

/** Looks whether the log has grown. Who stands at its end goes on with it. */
async function look(): Promise<void> {
  try {
    const before = here();
    const answer = await ask<LogAnswer>('log', {});
    showLog(answer);
    const now = here();
    if (now === undefined) {
      readHash();
      say('');
      await show();
    } else if (place.seq === now.seq && now.seq === before?.seq && ++looks % seldom === 0) await age();
    else if (now.seq !== before?.seq || now.closed !== before?.closed) {
      if (before === undefined || place.seq === before.seq || place.seq > now.seq) go(now.seq);
      else {
        slider.max = String(now.seq);
        byId('last').textContent = `of ${now.seq.toLocaleString('en-US')}`;
      }
    }
  } catch (error) {
    failed(error);
  }
  lookSoon();
}

function lookSoon(): void {
  clearTimeout(timer);
  if (follows) timer = setTimeout(() => void look(), often);
}

async function load(): Promise<void> {
  try {
    showLog(await ask<LogAnswer>('log', {}));
    byId('locked').hidden = true;
    byId('view').hidden = false;
    readHash();
    await show();
    lookSoon();
  } catch (error) {
    failed(error);
  }
}

takeKey();
listen();
void load();
