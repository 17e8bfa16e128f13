/** The page of `rollflex debug`: elements and style, which the script fills. */

import { header, keyForm } from '../kit/markup.ts';
import { pageStyle } from '../kit/style.ts';

const button = (id: string, text: string, title: string): string =>
  `<button type="button" id="${id}" title="${title}">${text}</button>`;

const title = 'rollflex debug';

const body = `
${header(title, '<select id="session" aria-label="Session"></select>')}
${keyForm('The key of this server (its token file, or what stands behind <b>key=</b> in the URL that was printed)')}
<main id="view" hidden>
<div id="bar">
<div class="row">${button('begin', 'first', 'First event (Home)')}${button('back', '◀ back', 'One event back (←)')}${button('on', 'on ▶', 'One event on (→)')}${button('end', 'last', 'Last event (End)')}
<input id="slider" type="range" step="1" aria-label="Event"><label>event <input id="number" type="number" inputmode="numeric"> <span id="last" class="soft"></span></label></div>
<form id="search"><div class="row">${button('change-back', '◁ other decision', 'The last event that led to other decisions or reasons (Shift ←)')}${button('change-on', 'other decision ▷', 'The next event that led to other decisions or reasons (Shift →)')}
<input id="text" type="search" placeholder="an id, a reason, a type" aria-label="Find an id, a reason or a type" autocomplete="off" spellcheck="false">${button('find-back', '◁ find', 'The last event that has it (N)')}${button('find-on', 'find ▷', 'The next event that has it (n)')}</div></form>
<div id="says" role="status"></div>
</div>
<p id="lacks" class="note"></p>
<div id="whole" aria-live="polite"></div>
<aside id="thing" class="panel" hidden aria-label="Why it waits"><div class="row"><b>Why does <span id="thing-name"></span> wait?</b>${button('thing-close', '✕', 'Close (Escape)')}</div>
<div id="thing-why"></div><div class="row"><span>${button('thing-back', '◁ event with it', 'The last event that has it')} ${button('thing-on', 'event with it ▷', 'The next event that has it')}</span></div></aside>
<details id="what-if" class="panel"><summary>What if a setting had been other from here on</summary><div id="what-if-form"></div><div id="what-if-answer" role="status"></div></details>
<details id="charts" class="panel"><summary>Rounds, requests and queue up to here</summary><p id="charts-note" class="note"></p><div id="gantt" class="chart"></div><div id="queue" class="chart"></div></details>
<div id="columns"><div id="event"></div><div><div id="standing"></div>
<details id="state" class="panel"><summary>The state, as the policy would save it</summary><div id="tree"></div></details></div></div>
<footer><p class="keys">Keys: <kbd>←</kbd> <kbd>→</kbd> one event, with <kbd>Shift</kbd> to another decision; <kbd>/</kbd> find, <kbd>n</kbd> <kbd>N</kbd> next, last; <kbd>Home</kbd> <kbd>End</kbd>; <kbd>Esc</kbd>.</p>
<p>Any id is a button: it says why the thing waits. The page reads the log and changes nothing.</p></footer>
</main>
<noscript>This page needs JavaScript.</noscript>`;

export const debugPage = { title, body, style: pageStyle };
