/** The style of the pages that are served. */
import { dark, light, schemes } from '../../sim/report/styles.ts';

/** The style of the command line's pages. */
export const pageStyle = `
${schemes(`${light}--late:#b3261e;--good:#0a6b4c;`, `${dark}--late:#ff8a80;--good:#2fc79c;`)}
*{box-sizing:border-box}[hidden]{display:none!important}
body{margin:0 auto;max-width:1280px;padding:10px 20px 24px;background:var(--ground);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
button,input,select{font:inherit;color:var(--ink);background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:3px 9px;min-height:30px}
button{cursor:pointer;white-space:nowrap}button:hover{border-color:var(--accent)}:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
h1{font-size:18px;margin:0}h2{font-size:15px;margin:0}h2.second{margin-top:14px}h3{font-size:14px;margin:0;font-weight:400}p{margin:4px 0}
header{display:flex;flex-wrap:wrap;align-items:center;gap:4px 14px}header #name{overflow-wrap:anywhere;color:var(--soft)}
#live{color:var(--good);font-size:13px}#live.lost{color:var(--late)}
#bar{position:sticky;top:0;z-index:1;background:var(--ground);padding:8px 0 6px;border-bottom:1px solid var(--line);display:grid;gap:6px}
.row{display:flex;flex-wrap:wrap;gap:6px;align-items:center}#slider{flex:1 1 200px;min-width:120px;padding:0;accent-color:var(--accent)}
#number{width:9.5ch}#search{display:contents}#text{flex:1 1 150px;min-width:100px}#says{color:var(--soft);overflow-wrap:anywhere}#says:empty{display:none}
.soft{color:var(--soft)}.note{color:var(--soft);font-size:13px}.code{color:var(--train);font-weight:600}.type{color:var(--accent);font-weight:600}.text{color:var(--good)}.number{font-variant-numeric:tabular-nums}
.text,.id,.type,.code,dd,li,.answer{overflow-wrap:anywhere}td{overflow-wrap:break-word}
.panel{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:10px 14px;margin:10px 0 0;min-width:0}
#columns{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 14px;align-items:start}
.why{border-left:4px solid var(--line);padding:2px 0 2px 10px;margin:10px 0 0}.why.stuck,.why.suspended,.why.stalled{border-color:var(--late)}.why.waits,.why.idle{border-color:var(--good)}
.answer{font-size:16px}pre{margin:6px 0;overflow-x:auto;font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}summary{cursor:pointer}
.id{font:13px ui-monospace,monospace;padding:0 5px;min-height:0;background:var(--ground);white-space:normal;text-align:left;border-radius:4px;text-decoration:underline dotted;text-underline-offset:3px}
dl.fields{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:1px 12px;margin:4px 0}dt{color:var(--soft)}dd{margin:0}
.decisions{padding-left:22px;margin:6px 0 0}.decisions>li{margin:0 0 8px}.decisions>li::marker{color:var(--soft)}
ul.list,ul.object{margin:0;padding-left:18px}ul.tree{list-style:none;margin:0;padding-left:14px}ul.tree b,.list b,.object b{font-weight:500;color:var(--soft)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}th{text-align:left;font-weight:500;color:var(--soft);font-size:13px}
th,td{padding:3px 8px 3px 0;border-bottom:1px solid var(--line);vertical-align:top}td.time{white-space:nowrap;font-variant-numeric:tabular-nums}td .ids{display:flex;flex-wrap:wrap;gap:3px}
.overdue td.time{color:var(--late);font-weight:600}
#thing{border-color:var(--accent);scroll-margin-top:110px}#thing .row{justify-content:space-between}#locked{max-width:480px;margin:40px auto}
.chart{min-width:0}form.what-if{display:grid;grid-template-columns:repeat(auto-fill,minmax(190px,1fr));gap:6px 12px;align-items:end;margin:8px 0}.setting{display:grid;gap:1px;min-width:0}.setting span{overflow-wrap:anywhere;font-size:13px}.setting>input,.setting>select{width:100%;min-width:0}
footer{color:var(--soft);font-size:13px;margin-top:14px}kbd{font:12px ui-monospace,monospace;border:1px solid var(--line);border-radius:4px;padding:0 4px}
@media (max-width:900px){#columns{grid-template-columns:minmax(0,1fr)}}
@media (max-width:760px){#slider{order:1;flex-basis:100%}}
@media (max-width:520px){body{padding:8px 10px 20px}dl.fields{gap:1px 8px}.panel{padding:8px 10px}footer .keys{display:none}#bar{position:static}td.time{white-space:normal}td .ids{min-width:80px}}
`;
