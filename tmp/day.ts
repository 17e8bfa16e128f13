import { create, tailBatching, losslessTail, agenticRollout, rollpacker, rolloutpipe } from '../src/index.ts';
type Msg = any;
export interface Scn { outages?: {from:number,to:number,rate?:number,kind?:string,after?:number, running?:'die'|'go'}[]; poison?: number; poisonKills?: boolean; prompts?: number; until?: number; engines?: string[]; log?: boolean; exhausted?: boolean; mean?: number; restoreEvery?: number; filter?: boolean }
function rng(seed:number){ let s=seed>>>0; return ()=>{ s=(s+0x6D2B79F5)|0; let t=Math.imul(s^s>>>15,1|s); t=t+Math.imul(t^t>>>7,61|t)^t; return ((t^t>>>14)>>>0)/4294967296; }; }
export function play(def:any, config:any, scn:Scn, opening:(n:number)=>Msg, seed=1) {
  const rand=rng(seed); let p:any=create(def, config) as any;
  const q:{t:number,n:number,e:Msg}[]=[]; let n=0; let now=0;
  const at=(t:number,e:Msg)=>{ q.push({t,n:n++,e}); };
  const total=scn.prompts??64; let supplied=0; const trained=new Map<string,number>(), failed=new Map<string,any>(); let launches=0, launchedIn=0; const live=new Map<string,{id:string,t:number,prompt:string}>();
  const timers=new Map<string,number>(); let round=0; const notices:string[]=[]; let errors:string[]=[]; let rounds=0, exhaustedSaid=false; let maxInFlight=0; let flightAtStart=-1; const reasons:Record<string,number>={};
  const poison=new Set(Array.from({length:scn.poison??0},(_,i)=>`p${i*5+3}`));
  const outage=(t:number)=>scn.outages?.find(o=>t>=o.from&&t<o.to);
  const open=(t:number)=>{ at(t, opening(++round)); };
  function handle(d:Msg){
    if (scn.log && now>=((scn as any).logFrom??0)) console.log(now.toFixed(2), d.type, d.requestId??d.promptId??d.scope??d.timerId??d.roundId??'', JSON.stringify(d.reason??''));
    switch(d.type){
      case 'request.launch': case 'request.resume': { launches++; reasons[d.reason.code]=(reasons[d.reason.code]??0)+1; const o=outage(now); if(o) launchedIn++; live.set(d.requestId,{id:d.requestId,t:now,prompt:d.promptId}); maxInFlight=Math.max(maxInFlight,live.size);
        if (poison.has(d.promptId)) at(now+0.5,{type:'response.failed',requestId:d.requestId,kind:'infrastructure',message:'poison'});
        else if (o && rand()<(o.rate??1)) at(now+(o.after??0.02),{type:'response.failed',requestId:d.requestId,kind:o.kind??'infrastructure',message:'refused'});
        else { const dur=(scn.mean??20)*Math.exp(rand()*1.6-0.6); const to=now+dur; const hit=scn.outages?.find(x=>x.running==='die'&&x.from>now&&x.from<to);
          if(hit) at(hit.from+0.02,{type:'response.failed',requestId:d.requestId,kind:hit.kind??'infrastructure',message:'died'}); else at(to,{type:'response.completed',requestId:d.requestId,tokens:Math.round(dur*50)}); }
        break; }
      case 'request.abort': at(now+0.1,{type:'request.aborted',requestId:d.requestId}); break;
      case 'timer.set': timers.set(d.timerId,d.fireAtSeconds); at(d.fireAtSeconds,{type:'timer.fired',timerId:d.timerId}); break;
      case 'prompts.request': { const prompts:any[]=[]; while(prompts.length<d.count&&supplied<total) prompts.push({promptId:`p${supplied++}`}); if(prompts.length) at(now+0.05,{type:'prompts.supplied',roundId:d.roundId,prompts}); if(supplied>=total&&!exhaustedSaid){exhaustedSaid=true; at(now+0.06,{type:'source.exhausted'});} break; }
      case 'round.completed': rounds++; for(const one of d.prompts) trained.set(one.promptId,(trained.get(one.promptId)??0)+1); break;
      case 'round.drained': if(trained.size+failed.size<total) open(now+1); break;
      case 'prompt.failed': failed.set(d.promptId,d.reason); break;
      case 'tries.suspended': case 'tries.recovered': notices.push(`${now.toFixed(1)} ${d.type} ${d.scope} ${d.id??''} ${JSON.stringify(d.reason)}`); break;
    }
  }
  for (const e of scn.engines??[]) { at(0,{type:'engine.added',engineId:e}); }
  open(0); let steps=0; const until=scn.until??20000;
  while(q.length){ let bi=0; for(let i=1;i<q.length;i++) if(q[i]!.t<q[bi]!.t||(q[i]!.t===q[bi]!.t&&q[i]!.n<q[bi]!.n)) bi=i; const {t,e}=q[bi]!; q[bi]=q[q.length-1]!; q.pop();
    if(t>until) break; now=t; if(++steps>300000){errors.push('too many steps');break;}
    if(e.type==='timer.fired'){ if(timers.get(e.timerId)!==t) continue; timers.delete(e.timerId); }
    if(e.requestId){ if(!live.has(e.requestId)) continue; live.delete(e.requestId); }
    const o=scn.outages?.[0]; if(o&&flightAtStart<0&&now>=o.from) flightAtStart=live.size;
    try { const out=p.send({...e,at:now}); for(const d of out) handle(d);
      if(scn.restoreEvery&&steps%scn.restoreEvery===0){ const snap=JSON.parse(JSON.stringify(p.snapshot())); p=create(def,config) as any; const { restore } = R; p=restore(def,snap); }
    } catch(x:any){ errors.push(`${now.toFixed(1)} ${e.type} ${e.requestId??e.roundId??''}: ${x.message}`.slice(0,200)); if(errors.length>5) break; }
    if(trained.size+failed.size>=total) break;
  }
  return { now:+now.toFixed(1), trained:trained.size, twice:[...trained.values()].filter(x=>x>1).length, failed:[...failed].map(([k,v])=>`${k}:${v.code}/${v.failures}`), wrong:[...failed.keys()].filter(k=>!poison.has(k)).length, launches, launchedIn, flightAtStart, rounds, reasons, notices, errors, live:live.size, p };
}
import * as R from '../src/index.ts';
const opened=(n:number)=>({type:'round.requested',roundId:`r${n}`,weightVersion:n});
const base={promptsPerRound:8,responsesPerPrompt:4};
const policies:[string,any,any][]=[['tail',tailBatching,base],['tail4',tailBatching,{...base,maxInFlight:16}],['tail-partial',tailBatching,{...base,partialRollout:true,maxStaleness:4}],['lossless',losslessTail,{...base,windowRounds:4}]];
const scns:Record<string,Scn>={ good:{}, out60:{outages:[{from:100,to:160}]}, out60die:{outages:[{from:100,to:160,running:'die'}]}, hour:{outages:[{from:100,to:3700}]}, env60:{outages:[{from:100,to:160,kind:'environment'}]}, ninety:{outages:[{from:100,to:700,rate:0.9}]}, poison1:{poison:1}, poison7:{poison:7}, poison7out:{poison:7,outages:[{from:100,to:160,running:'die'}]}, poison12:{poison:12}};
const only=process.argv[2]?.split(','), onlyP=process.argv[3]?.split(','), verbose=process.argv[4];
for(const [pn,def,config] of policies){ if(onlyP&&!onlyP.includes(pn)) continue; for(const [name,scn] of Object.entries(scns)){ if(only&&only[0]!=='all'&&!only.includes(name)) continue;
  const r=play(def,config,{...scn,log:verbose==='log',...(verbose==='log'?{logFrom:+(process.argv[5]??0)}:{})} as any,opened,+(process.env.SEED??1)); console.log(`${pn} ${name}: t=${r.now} trained ${r.trained} twice ${r.twice} failed ${r.failed.length} wrong ${r.wrong} launches ${r.launches} in outage ${r.launchedIn} (flight ${r.flightAtStart}) rounds ${r.rounds} ${JSON.stringify(r.reasons)} live ${r.live} ${r.errors.join(' | ')}`); if(verbose) { console.log('  '+r.notices.slice(0,20).join('\n  ')); console.log('  '+r.failed.join(' ')); } } }
