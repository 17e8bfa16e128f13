import { RpcServer } from '../src/rpc/index.ts';
import { config, groupsOf } from './rpc/workload.ts';
const enc = new TextEncoder();
const make = (options: object) => {
  const server = new RpcServer(options);
  const c = server.connect({ write: () => undefined, waiting: 0, drained: () => Promise.resolve(), destroy: () => undefined } as never)!;
  return c;
};
let id = 0;
const line = (method: string, params: object) => enc.encode(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
const clients = { plain: make({}), watch: make({ watch: {} }) };
for (const size of [256, 1]) {
  const groups = groupsOf(size, 15);
  const n = groups.reduce((s, g) => s + g.length, 0);
  const all: Record<string, number[]> = { plain: [], watch: [] };
  for (let k = 0; k < 8; k++) for (const [name, c] of Object.entries(clients)) {
    await c.receive(line('session.open', { policy: 'tail-batching', config, session: 'x', onExisting: 'replace' }));
    const lines = groups.map((events) => line('session.send', { session: 'x', events }));
    const from = process.cpuUsage();
    for (const l of lines) { await c.receive(l); await new Promise((r) => setImmediate(r)); }
    const { user, system } = process.cpuUsage(from);
    if (k > 1) all[name]!.push((user + system) / n);
  }
  const med = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]!;
  console.log(size, n, 'cpu µs/event', med(all.plain!).toFixed(2), med(all.watch!).toFixed(2), (med(all.watch!) / med(all.plain!)).toFixed(2));
}
process.exit(0);
