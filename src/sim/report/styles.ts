/** Colours that colour-blind readers can distinguish (Okabe and Ito); the charts use them from the style sheet. */
export const light =
  '--ground:#fff;--panel:#f6f7f9;--ink:#1c2024;--soft:#56606c;--line:#d9dde3;--accent:#0067a3;--rollout:#0072b2;' +
  '--train:#d55e00;--sync:#8a6d00;--reward:#009e73;--reference:#7b4fa3;--overhead:#8a919c;--short:#d9dde3;--long:#cc79a7;--band:rgba(204,121,167,.2);' +
  '--seq0:#0072b2;--seq1:#c44e00;--seq2:#007a5a;--seq3:#a3457c;--seq4:#8a6d00;--seq5:#3f3fa8;';
/** The same colours for a dark scheme. */
export const dark =
  '--ground:#14171b;--panel:#1c2127;--ink:#e8eaed;--soft:#a3adb9;--line:#333b45;--accent:#56b4e9;--rollout:#56b4e9;' +
  '--train:#f08c4b;--sync:#e0c04a;--reward:#2fc79c;--reference:#b99ae0;--overhead:#6f7884;--short:#3d4651;--long:#cc79a7;--band:rgba(204,121,167,.22);' +
  '--seq0:#56b4e9;--seq1:#f08c4b;--seq2:#2fc79c;--seq3:#e39cc4;--seq4:#e0c04a;--seq5:#a9a4f2;';
/** Sets the colours of a page for both colour schemes. */
export const schemes = (inLight: string, inDark: string): string =>
  `:root{${inLight}}\n@media (prefers-color-scheme:dark){:root{${inDark}}}`;
const kinds = ['rollout', 'train', 'sync', 'reward', 'reference', 'overhead', 'short', 'long'];
const sequences = Array.from({ length: 6 }, (_, index) => `seq${index}`);

/** A shadow at the edge of a table with more content beyond the edge; at the end of the table, the table hides it. */
const edges = [
  'linear-gradient(to right,var(--ground) 40%,transparent) left/36px 100% no-repeat local',
  'linear-gradient(to left,var(--ground) 40%,transparent) right/36px 100% no-repeat local',
  'linear-gradient(to right,var(--line),transparent) left/16px 100% no-repeat scroll',
  'linear-gradient(to left,var(--line),transparent) right/16px 100% no-repeat scroll',
].join(',');

/** The style sheet of a report. */
export const styles = `
${schemes(light, dark)}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1280px;padding:14px 24px;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 16px}header p{margin:0}
h1{font-size:22px;margin:0}h2{margin:12px 0 0;font-size:15px;color:var(--soft)}h3{font-size:16px;margin:0 0 4px}
.tabs{display:flex;flex-wrap:wrap;gap:4px;margin:10px 0 0;border-bottom:1px solid var(--line);padding-bottom:6px}
.tabs button{font:inherit;font-size:13px;padding:2px 9px;border:1px solid var(--line);border-radius:6px;background:var(--panel);color:var(--ink);cursor:pointer;white-space:nowrap}
.tabs button[aria-selected=true]{background:var(--accent);border-color:var(--accent);color:var(--ground)}
.with-script section[role=tabpanel]:not(.open){display:none}
section>details,footer>details{border-top:1px solid var(--line)}summary{font-weight:600}
p{max-width:110ch;margin:8px 0}.headline{font-size:20px;line-height:1.35;font-weight:600;color:var(--accent);margin:2px 0 0;max-width:none}
.scroll{overflow-x:auto;margin:16px 0;background:${edges}}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding-bottom:4px}
th,td{padding:8px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child{text-align:left}thead th{color:var(--soft);font-weight:500;font-size:14px;white-space:normal;vertical-align:bottom}
.range{color:var(--soft);font-size:13px;font-weight:400}.oracle,.oracle th{color:var(--soft);font-weight:400}
nav{border-top:1px solid var(--line);margin-top:16px}nav ol{padding-left:28px;margin:4px 0}nav li{margin:2px 0}nav span{color:var(--soft)}a{color:var(--accent)}
.note,header p,footer,small{color:var(--soft);font-size:14px}
figure{margin:16px 0;min-width:0}.argument figure{margin:8px 0}.sides{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:0 24px}
.costs{align-self:start;margin:8px 0;padding:8px 14px;background:var(--panel);border:1px solid var(--line);border-radius:8px}.costs dl{margin:0;grid-template-columns:1fr max-content;font-size:15px;gap:2px 12px}.costs dt{font-weight:400;color:var(--soft)}.costs dd{font-weight:600;text-align:right}
figcaption{font-weight:600;margin-bottom:4px}small{font-weight:400;margin-left:12px}
.chart{height:300px;background:var(--panel);border:1px solid var(--line);border-radius:8px;overflow:hidden}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(340px,100%),1fr));gap:0 24px}
.legend{display:flex;flex-wrap:wrap;gap:2px 16px;list-style:none;padding:0;margin:0 0 4px;font-size:13px;color:var(--soft)}
.legend i{display:inline-block;width:14px;height:14px;margin-right:6px;vertical-align:-2px;border:1px solid var(--line);border-radius:3px;background:var(--panel)}
${[...kinds, ...sequences].map((kind) => `.legend i.${kind}{background:var(--${kind})}`).join('')}
.legend i.sent{background:var(--soft)}.legend i.pale{background:linear-gradient(90deg,var(--seq0),var(--seq2),var(--seq4));opacity:.45}
.facts{columns:2 320px}summary{cursor:pointer;padding:4px 0}.numbers table{font-size:14px}.numbers th,.numbers td{padding:4px 8px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px}dt{font-weight:600}dd{margin:0}
@media (max-width:1000px){th,td{padding:8px 6px}th:first-child{white-space:normal}.range{display:block}}
@media (max-width:960px){.sides{grid-template-columns:minmax(0,1fr)}}
@media (max-width:760px){body{padding:12px}.headline{font-size:18px}small{display:block;margin:0}
.tabs{flex-wrap:nowrap;overflow-x:auto}.costs dd{white-space:normal;max-width:40vw}footer dl{grid-template-columns:1fr}}
@media print{:root{${light}}*{print-color-adjust:exact}body{padding:0;font-size:12px}.tabs,summary::marker,details:not([open]){display:none}
figure,.costs,tr,nav li{break-inside:avoid}.chart{height:auto!important}.chart>div{width:100%!important;height:auto!important}.chart canvas{position:static!important;width:100%!important;height:auto!important}
.scroll{overflow:visible}th,td{padding:3px 4px;font-size:10px;white-space:normal}.with-script section[role=tabpanel]:not(.open){display:none}}
`;
