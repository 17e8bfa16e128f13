import { playSeed } from '../../test/support/simulated-server/story.ts';
const [from, to] = [Number(process.argv[2]), Number(process.argv[3])];
const t = process.cpuUsage(); let occ=0; const seen: Record<string, number> = {};
let fails = 0; const digests: string[] = [];
for (let s = from; s < to; s++) {
  try { const r = await playSeed(s, {traced: process.argv[4]==='t'}); occ += r.occurred; digests.push(r.digest); for (const [k,v] of Object.entries(r.seen)) seen[k]=(seen[k]??0)+v; if (process.argv[4]==='t') console.log(r.trace) }
  catch (e) { fails++; if (process.argv[4]==='t') console.log((e as any).trace); console.log((e as Error).message.slice(0,1500)); if (process.argv[4]) console.log((e as any).cause?.stack); if (fails>Number(process.argv[5] ?? 3)) break; }
}
console.log((process.cpuUsage(t).user/1000/(to-from)).toFixed(2),'ms a seed', occ/(to-from), seen, fails, digests.slice(0,3));
