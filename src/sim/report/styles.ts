/** Colours are told apart with colour-blind eyes (Okabe and Ito), and read from here by the charts. */
export const styles = `
:root{--ground:#fff;--panel:#f6f7f9;--ink:#1c2024;--soft:#5b6470;--line:#d9dde3;--rollout:#0072b2;--train:#d55e00;--sync:#8a6d00;--reward:#009e73;--overhead:#8a919c;--long:rgba(204,121,167,.22);--accent:#0072b2}
@media (prefers-color-scheme:dark){:root{--ground:#14171b;--panel:#1c2127;--ink:#e8eaed;--soft:#a3adb9;--line:#333b45;--rollout:#56b4e9;--train:#f08c4b;--sync:#e0c04a;--reward:#2fc79c;--overhead:#6f7884;--long:rgba(204,121,167,.3);--accent:#56b4e9}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1280px;padding:24px;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:28px;margin:0}h2{margin:40px 0 8px;font-size:22px;border-top:1px solid var(--line);padding-top:24px}
.headline{font-size:20px;font-weight:600;margin:8px 0;color:var(--accent)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:8px 12px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th[scope=row],th:first-child{text-align:left}thead th{color:var(--soft);font-weight:500;font-size:14px}
td.main{font-weight:600}.range{color:var(--soft);font-size:13px;font-weight:400}.bound{color:var(--soft)}
.note,header p,footer{color:var(--soft);font-size:14px}
figure{margin:24px 0;min-width:0}figcaption{font-weight:600;margin-bottom:4px}
.chart{height:300px;background:var(--panel);border:1px solid var(--line);border-radius:8px}.timeline{height:360px}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(360px,1fr));gap:0 24px}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;list-style:none;padding:0;margin:12px 0 0;font-size:14px;color:var(--soft)}
.legend i{display:inline-block;width:14px;height:14px;margin-right:6px;vertical-align:-2px;border:1px solid var(--line);border-radius:3px}
i.rollout{background:var(--rollout)}i.train{background:var(--train)}i.sync{background:var(--sync)}i.reward{background:var(--reward)}i.long{background:var(--long)}i.bubble{background:var(--panel)}
.facts{columns:2 320px}summary{cursor:pointer}
`;
