/// <reference lib="dom" />
/** The page of a running job, which asks for news every second. */

import { binSeconds, finestLevel, mostBins } from '../../logs/job/bins.ts';
import type { Timeline } from '../../logs/job/job-view.ts';
import type { JobAnswer, RequestsAnswer, SessionAnswer, TimelineAnswer } from '../../logs/job/live-answers.ts';
import type { WhyText } from '../../logs/job/log-view.ts';
import { ask, Failed, refusal, setKey, takeKey } from '../kit/api.ts';
import { draw, followLook } from '../kit/draw.ts';
import { byId, element, idButton, lock, option, refill } from '../kit/elements.ts';
import { hashEntries, showHash } from '../kit/hash.ts';
import { heldTable, whySection } from '../kit/held.ts';
import { ganttHeight, jobGantt } from '../kit/job-gantt.ts';
import { queueLines } from '../kit/job-lines.ts';
import { rateLines, requestsGantt, requestsHeight } from './charts.ts';
import {
  deferredSection,
  factSections,
  lacksText,
  owedTable,
  type Rates,
  refusedSection,
  roundTable,
  sessionTable,
  verdictSection,
} from './panels.ts';
import { joined } from './state.ts';

const latest = ' latest';
/** Milliseconds between two requests: normally, while the server is away, and while nobody sees the page. */
const often = { looks: 1000, lost: 2000, hidden: 10_000 };

/** The reader's place; a window of −1 fits the last rounds, and without a round the latest one is meant. */
const view = { session: '', level: -1, round: latest, thing: '' };
let timeline: { readonly run: string; readonly bins: Timeline } | undefined;
let before: { readonly run: string; readonly now: number; readonly answer: SessionAnswer } | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let isAsking = false;

/** Puts new content into a panel, unless the reader is selecting text there. */
function fill(id: string, ...contents: readonly Node[]): void {
  const panel = byId(id);
  const selection = getSelection();
  const isSelected = selection !== null && !selection.isCollapsed && panel.contains(selection.anchorNode);
  const focused = panel.contains(document.activeElement) ? (document.activeElement as HTMLElement) : undefined;
  if (isSelected) return;
  const id_ = focused?.dataset.id ?? focused?.textContent;
  panel.replaceChildren(...contents);
  if (focused === undefined) return;
  for (const one of panel.querySelectorAll<HTMLElement>('button'))
    if ((one.dataset.id ?? one.textContent) === id_) return one.focus({ preventScroll: true });
}

function live(text: string, isLost: boolean): void {
  const said = byId('live');
  if (said.textContent !== text) said.textContent = text;
  said.className = isLost ? 'lost' : '';
  document.body.dataset.live = isLost ? 'lost' : 'live';
}

function readHash(): void {
  const hash = hashEntries();
  view.session = hash.get('s') ?? '';
  view.thing = hash.get('why') ?? '';
  const level = Number(hash.get('w') ?? -1);
  view.level = binSeconds[level] === undefined ? -1 : level;
}

function writeHash(): void {
  const level = view.level < 0 ? '' : String(view.level);
  showHash({ s: view.session, w: level, why: view.thing });
}

/** Rates per second since the last answer, by the server's clock. */
function ratesOf(job: JobAnswer, answer: SessionAnswer, run: string): Rates {
  const last = before?.run === run ? before : undefined;
  if (last === undefined || job.now - last.now > 0.5) before = { run, now: job.now, answer };
  const seconds = last === undefined ? 0 : job.now - last.now;
  const rate = (of: (one: SessionAnswer) => number | undefined): number | undefined => {
    const [from, to] = [last && of(last.answer), of(answer)];
    return from === undefined || to === undefined || seconds <= 0 ? undefined : Math.max(0, to - from) / seconds;
  };
  return {
    events: rate(({ seq }) => seq),
    decisions: rate(({ followed }) => followed?.totals.decisions),
    completed: rate(({ followed }) => followed?.totals.completed),
    tokens: rate(({ followed }) => followed?.totals.tokens),
  };
}

async function showThing(): Promise<void> {
  const panel = byId('thing');
  panel.hidden = view.thing === '';
  if (panel.hidden) return;
  byId('thing-name').replaceChildren(idButton(view.thing));
  try {
    const why = await ask<WhyText>('why', { session: view.session, id: view.thing });
    refill(panel, () => fill('thing-why', whySection(why)));
  } catch (error) {
    byId('thing-why').replaceChildren(element('p', 'note', refusal(error)));
  }
}

/** The level that shows the last four rounds, or everything that was followed. */
function levelFor({ followed, at }: SessionAnswer): number {
  const begun = followed?.begun ?? at;
  const from = Math.max(begun, followed?.rounds.at(-4)?.from ?? begun);
  return finestLevel(at - from, mostBins);
}

function drawCharts(answer: SessionAnswer, bins: Timeline): void {
  const { rounds = [], missed = [] } = answer.followed ?? {};
  const drawn = { timeline: bins, rounds, missed };
  draw(byId('gantt'), ganttHeight(drawn), (width) => jobGantt(drawn, width));
  draw(byId('queue'), 220, (width) => queueLines(drawn, width));
  draw(byId('rates'), 220, (width) => rateLines(drawn, width));
}

async function showRequests(answer: SessionAnswer): Promise<void> {
  const picker = byId<HTMLSelectElement>('round');
  const rounds = answer.followed?.rounds.map(({ id }) => id).reverse() ?? [];
  const options = [latest, '', ...rounds];
  if ([...picker.options].map(({ value }) => value).join('\n') !== options.join('\n')) {
    picker.replaceChildren(
      ...options.map((id) => option(id, id === latest ? 'the latest round' : id === '' ? 'all rounds' : id)),
    );
    if (!options.includes(view.round)) view.round = latest;
    picker.value = view.round;
  }
  const round = view.round === latest ? (rounds[0] ?? '') : view.round;
  const found = await ask<RequestsAnswer>('requests', { session: view.session, round });
  const note = byId('requests-note');
  const { bars, of, at } = found ?? { bars: [], of: 0, at: 0 };
  note.textContent =
    of === 0 ? 'None so far.' : of > bars.length ? `The ${bars.length} longest of the latest ${of}.` : '';
  byId('requests').hidden = of === 0;
  if (of > 0) draw(byId('requests'), requestsHeight(bars), (width) => requestsGantt(bars, at, width));
}

async function look(): Promise<void> {
  const job = await ask<JobAnswer>('job', {});
  if (!job.sessions.some(({ session }) => session === view.session) && (view.session === '' || job.next === null)) {
    // The page first shows a session in which something is overdue.
    view.session = (job.sessions.find(({ load }) => load?.overdue) ?? job.sessions[0])?.session ?? '';
  }
  lock(false);
  byId('sessions').hidden = job.count < 2;
  fill('sessions', sessionTable(job, view.session));
  byId('name').textContent = `version ${job.version}, ${job.connections} connection${job.connections === 1 ? '' : 's'}`;
  if (view.session === '') {
    byId('verdict').replaceChildren(element('p', 'why idle', 'No session is open yet.'));
    return live('live', false);
  }
  const answer = await ask<SessionAnswer>('session', { session: view.session });
  const run = `${job.server} ${answer.run}`;
  const level = view.level < 0 ? levelFor(answer) : view.level;
  byId('fits').textContent = `last rounds (${windows[level]})`;
  const known = timeline?.run === run && timeline.bins.width === binSeconds[level] ? timeline.bins : undefined;
  const query = { session: view.session, level: String(level), ...(known && { since: String(known.to) }) };
  const bins = await ask<TimelineAnswer>('timeline', query);
  writeHash();
  byId('name').textContent += `, ${answer.session} (${answer.policy})`;
  fill('verdict', verdictSection(answer));
  fill('owes', owedTable(answer));
  byId('facts').replaceChildren(...factSections(answer, ratesOf(job, answer, run)));
  byId('lacks').textContent = lacksText(answer, job);
  const { rounds = [], deferred = { count: 0, oldest: [] } } = answer.followed ?? {};
  fill('rounds', roundTable(rounds, answer.at));
  fill('deferred', deferredSection(deferred.count, deferred.oldest, answer.at));
  fill('held', element('h2', '', 'What is held, and where it stands'), heldTable(answer.held));
  fill('refused', refusedSection(answer, job));
  if (bins !== null) {
    timeline = { run, bins: joined(known, bins) };
    drawCharts(answer, timeline.bins);
  }
  await showRequests(answer);
  await showThing();
  live('live', false);
  document.body.dataset.seq = String(answer.seq);
}

function failed(error: unknown): number {
  if (error instanceof Failed && error.status === 401) {
    lock(true);
    live('the server asks for its key', true);
    return often.lost;
  }
  if (error instanceof Failed && error.status === 404) view.session = '';
  const isAway = error instanceof Failed && error.status === 0;
  const text = isAway
    ? 'the server is not there; trying again'
    : error instanceof Error
      ? error.message
      : String(error);
  live(text, true);
  return often.lost;
}

/** Looks now, and again later. */
async function lookAgain(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  clearTimeout(timer);
  let later = document.hidden ? often.hidden : often.looks;
  try {
    await look();
  } catch (error) {
    later = failed(error);
  }
  isAsking = false;
  timer = setTimeout(() => void lookAgain(), later);
}

const windows = ['minute', '4 minutes', '16 minutes', 'hour', '4 hours', '17 hours', '3 days'];

function listen(): void {
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    const { id } = target.dataset;
    const row = target.closest<HTMLElement>('[data-session]');
    if (id !== undefined) view.thing = id;
    else if (target.id === 'thing-close') view.thing = '';
    else if (row !== null) Object.assign(view, { session: row.dataset.session!, round: latest, thing: '' });
    else return;
    writeHash();
    byId('thing').hidden = view.thing === '';
    if (id !== undefined) byId('thing').scrollIntoView({ block: 'nearest' });
    void lookAgain();
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') byId('thing-close').click();
  });
  document.addEventListener('visibilitychange', () => void lookAgain());
  const picker = byId<HTMLSelectElement>('window');
  picker.append(
    ...['last rounds', ...windows.map((name) => `last ${name}`)].map((name, number) => {
      const made = option(String(number - 1), name);
      if (number === 0) made.id = 'fits';
      return made;
    }),
  );
  picker.value = String(view.level);
  picker.addEventListener('change', () => {
    view.level = Number(picker.value);
    writeHash();
    void lookAgain();
  });
  byId('round').addEventListener('change', ({ target }) => {
    view.round = (target as HTMLSelectElement).value;
    void lookAgain();
  });
  byId('locked').addEventListener('submit', (event) => {
    event.preventDefault();
    const given = byId<HTMLInputElement>('key').value.trim();
    setKey(/[#&]key=([^&]+)/.exec(given)?.[1] ?? given);
    void lookAgain();
  });
  followLook();
}

takeKey();
readHash();
listen();
void lookAgain();
