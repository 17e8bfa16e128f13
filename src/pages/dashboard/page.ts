/** The page of a running job: elements and style, which the script fills. */

import { header, keyForm } from '../kit/markup.ts';
import { pageStyle } from '../kit/style.ts';

const style = `${pageStyle}

.columns{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 14px;align-items:start}@media (max-width:900px){.columns{grid-template-columns:minmax(0,1fr)}}
#facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(132px,1fr));gap:8px;margin:10px 0 0}
#facts div{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:6px 12px;min-width:0}
#facts b{display:block;font-size:18px;font-variant-numeric:tabular-nums;font-weight:600}#facts span{color:var(--soft);font-size:13px}
#verdict{font-size:18px;line-height:1.35}.chart{min-width:0;margin:6px 0 0}.panel .row{justify-content:space-between}
tr[data-session]{cursor:pointer}tr[aria-selected=true] td:first-child{font-weight:600;color:var(--accent)}.late{color:var(--late);font-weight:600}
#rounds td{min-width:64px}#rounds td:nth-child(n+4){min-width:130px}
label,select{min-width:0;max-width:100%}td .code{white-space:nowrap}
@media (max-width:760px){#refused td{min-width:96px}}
`;

const title = 'rollflex serve';

const body = `
${header(title)}
${keyForm('The key of this server (its key file, or what stands behind <b>key=</b> in the URL that it printed; a server that was started anew has printed a new one). The whole URL will do, too.')}
<main id="view" hidden>
<section id="sessions" class="panel" hidden aria-label="Sessions"></section>
<section id="owed" class="panel" aria-live="polite" aria-label="Who has to act"><div id="verdict"></div><div id="owes"></div></section>
<aside id="thing" class="panel" hidden aria-label="Why it waits"><div class="row"><b>Why does <span id="thing-name"></span> wait?</b><button type="button" id="thing-close" title="Close (Escape)">✕</button></div><div id="thing-why"></div></aside>
<div id="facts"></div>
<p id="lacks" class="note"></p>
<section class="panel" aria-label="Rounds and engines"><div class="row"><h2>Rounds, and what each has to do</h2><select id="window" aria-label="Window"></select></div><p class="note">Rounds: grey, long ones pink, behind its rollout orange. Others: the darker, the more they owe.</p><div id="gantt" class="chart"></div></section>
<div id="columns">
<section class="panel" aria-label="Queue and idle engines"><h2>Put off, and idle while others work</h2><div id="queue" class="chart"></div></section>
<section class="panel" aria-label="Rates"><h2>Rates</h2><div id="rates" class="chart"></div></section>
</div>
<section class="panel" aria-label="Requests"><div class="row"><h2>The longest requests</h2><label>of <select id="round"></select></label></div><p id="requests-note" class="note"></p><div id="requests" class="chart"></div></section>
<section id="rounds" class="panel" aria-label="Rounds"></section>
<div class="columns"><section id="deferred" class="panel" aria-label="Put off"></section><section id="held" class="panel" aria-label="What is held"></section></div>
<section id="refused" class="panel" aria-label="Refused"></section>
<footer><p>Any id is a button: it says why the thing waits. The page reads, and changes nothing.</p></footer>
</main>
<noscript>This page needs JavaScript.</noscript>`;

export const dashboardPage = { title, body, style };
