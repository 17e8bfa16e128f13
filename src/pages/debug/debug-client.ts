/// <reference lib="dom" />
/** The page of `rollflex debug`: the events of a log one by one, with the policy's knowledge at that point. */

import type { Moment, WhyText } from '../../logs/job/log-view.ts';
import type { TreePage } from '../../logs/job/tree.ts';
import { ask, refusal, setKey, takeKey } from '../kit/api.ts';
import { byId, element, idButton, lock, option } from '../kit/elements.ts';
import { whySection } from '../kit/held.ts';
import { chartsAt, onCharts } from './charts.ts';
import { lookSoon, type Pager } from './follow.ts';
import { eventSection, standingSection } from './moment.ts';
import { failed, lost, say, says } from './status.ts';
import { branch } from './tree.ts';
import { here, type LogAnswer, log, readHash, view, writeHash } from './view.ts';
import { onWhatIf, whatIfAt } from './what-if.ts';

const slider = byId<HTMLInputElement>('slider');
const number = byId<HTMLInputElement>('number');
const text = byId<HTMLInputElement>('text');
const picker = byId<HTMLSelectElement>('session');
/** Requests data for the present event, and cancels requests for the previous one. */
let asked = new AbortController();
/** Requests run in parallel; a later request of a kind cancels the earlier one. */
let searching = new AbortController();

/** Shows the present view. */
async function show(isJump = false): Promise<void> {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  if (here() === undefined) return say('The log has no session yet.');
  const { session, seq } = view;
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
    byId('event').replaceChildren(eventSection(moment));
    byId('standing').replaceChildren(standingSection(moment));
    document.body.dataset.seq = String(seq);
    lost(false);
    const askTree = (path: readonly string[], from: number) =>
      ask<TreePage>('state', { ...query, path: JSON.stringify(path), from: String(from) }, signal);
    if (state.open) byId('tree').replaceChildren(await branch(askTree, []));
    else byId('tree').replaceChildren();
    byId('whole').replaceChildren(whySection(await ask<WhyText>('why', query, signal)));
    if (view.thing !== '') await showThing(signal);
    await whatIfAt(() => view, failed, signal);
    document.body.dataset.shown = String(seq);
    await chartsAt(query, signal);
  } catch (error) {
    failed(error);
  }
}

async function showThing(signal: AbortSignal): Promise<void> {
  const { session, seq, thing } = view;
  const panel = byId('thing');
  panel.hidden = false;
  panel.scrollIntoView({ block: 'nearest' });
  const title = byId('thing-name');
  title.replaceChildren(idButton(thing));
  try {
    const why = await ask<WhyText>('why', { session, seq: String(seq), id: thing }, signal);
    byId('thing-why').replaceChildren(whySection(why));
  } catch (error) {
    byId('thing-why').replaceChildren(element('p', 'note', refusal(error)));
  }
}

function go(seq: number, isJump = false): void {
  const { first = 0, seq: last = 0 } = here() ?? {};
  view.seq = Math.min(Math.max(seq, first), last);
  void show(isJump);
}

/** Looks for something from the present event on. */
async function find(query: Readonly<Record<string, string>>, back: boolean, what: string): Promise<void> {
  searching.abort();
  searching = new AbortController();
  say('…');
  try {
    const { session, seq } = view;
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
  view.text = text.value.trim();
  if (view.text !== '') void find({ text: view.text }, back, `has ${view.text}`);
}
const change = (back: boolean): Promise<void> => find({ change: '1' }, back, 'led to other decisions');

function closeThing(): void {
  view.thing = '';
  byId('thing').hidden = true;
  writeHash(false);
}

const buttons: Readonly<Record<string, () => void>> = {
  begin: () => go(0, true),
  back: () => go(view.seq - 1),
  on: () => go(view.seq + 1),
  end: () => go(Number.MAX_SAFE_INTEGER, true),
  'change-back': () => void change(true),
  'change-on': () => void change(false),
  'find-back': () => search(true),
  'find-on': () => search(false),
  'thing-close': closeThing,
  'thing-back': () => void find({ text: view.thing }, true, 'has it'),
  'thing-on': () => void find({ text: view.thing }, false, 'has it'),
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
    view.session = picker.value;
    closeThing();
    go(Number.MAX_SAFE_INTEGER, true);
  });
  byId('state').addEventListener('toggle', () => void show());
  onWhatIf(() => void show());
  onCharts(() => void show());
  document.addEventListener('click', ({ target }) => {
    const id = target instanceof HTMLElement ? target.closest<HTMLElement>('button.id')?.dataset.id : undefined;
    if (id === undefined) return;
    view.thing = id;
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
    void pager.begin();
  });
  byId('locked').addEventListener('submit', (event) => {
    event.preventDefault();
    setKey(byId<HTMLInputElement>('key').value.trim());
    void load();
  });
}

function showLog({ name, sessions: found, lacks, follow, start: from }: LogAnswer): void {
  Object.assign(log, { sessions: found, start: from, follow });
  byId('name').replaceChildren(element('span', '', name));
  const ids = found.map(
    ({ session, policy }) => [session, session === '' ? policy : `${session} (${policy})`] as const,
  );
  if (picker.options.length !== ids.length) {
    picker.replaceChildren(...ids.map(([session, label]) => option(session, label)));
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

const pager: Pager = {
  showLog,
  go,
  signal: () => asked.signal,
  begin: () => {
    readHash();
    text.value = view.text;
    return show();
  },
};

async function load(): Promise<void> {
  try {
    showLog(await ask<LogAnswer>('log', {}));
    lock(false);
    await pager.begin();
    lookSoon(pager);
  } catch (error) {
    failed(error);
  }
}

takeKey();
listen();
void load();
