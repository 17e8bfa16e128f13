/**
 * Shows what packing the tail of agentic rollouts frees, against what the makespan loses: program-scheduling with `tailSlowdown`, and a
 * host that takes each engine away for good as soon as it is named free, against the default, on the named workloads. Prints the table of
 * docs/agentic.md. `npx tsx bench/simulated/packing.ts [seeds] [bound,...] [workload...]`: by default seeds 1 to 5, and
 * bounds of 1, 1.25, 1.5 and 2.
 */
import type { AnyDecision, AnyEvent } from '../../src/core/machine/definition.ts';
import {
  type AgenticJob,
  type AgenticScheduler,
  agenticPreset,
  agenticPresetIds,
  presetWorkload,
  programScheduler,
  simulateAgentic,
} from '../../src/sim/index.ts';

const [seedCount = '5', boundList = '1,1.25,1.5,2', ...chosen] = process.argv.slice(2);
const seeds = Array.from({ length: Number(seedCount) }, (_, index) => index + 1);
const bounds = boundList.split(',').map(Number);
const requestOf = (one: AnyEvent): string => (one as AnyEvent & { readonly requestId: string }).requestId;

/** When the last turn of each engine has ended, and when it was named free. */
class Engines {
  readonly lastTurn = new Map<string, number>();
  readonly freed = new Map<string, number>();
  readonly #routes = new Map<string, string>();

  /** Notes an event and its decisions; returns what the host answers. */
  heard(event: AnyEvent, decisions: readonly AnyDecision[]): AnyEvent[] {
    const events: AnyEvent[] = [];
    if (event.type === 'turn.finished') this.lastTurn.set(this.#routes.get(requestOf(event))!, event.at);
    for (const decision of decisions as readonly (AnyDecision & { readonly engineId: string })[]) {
      const { type, at, engineId } = decision;
      if (type === 'turn.route') this.#routes.set(requestOf(decision), engineId);
      if (type !== 'engine.freed') continue;
      this.freed.set(engineId, at);
      events.push({ type: 'engine.drained', at, engineId } as AnyEvent);
    }
    return events;
  }
}

/** program-scheduling before a host that takes away what is free. */
function taking(tailSlowdown: number | undefined, engines: Engines): AgenticScheduler {
  const inner = programScheduler({ tailSlowdown });
  const create: AgenticScheduler['create'] = (job, options) => {
    const policy = inner.create(job, options);
    const send = (event: AnyEvent): AnyDecision[] => {
      const decisions = policy.send(event);
      return [...decisions, ...engines.heard(event, decisions).flatMap(send)];
    };
    return { id: policy.id, takes: (type) => policy.takes!(type), send };
  };
  return { ...inner, create };
}

interface Outcome {
  readonly seconds: number;
  /** Shares of the time of all engines: after each was named free, and after the last turn of each. */
  readonly freed: number;
  readonly unused: number;
}

function run(id: string, job: AgenticJob, bound: number | undefined): Outcome {
  let [seconds, freed, unused] = [0, 0, 0];
  for (const seed of seeds) {
    const engines = new Engines();
    const { makespanSeconds } = simulateAgentic(job, taking(bound, engines), presetWorkload(agenticPreset(id), seed));
    const left = (since: ReadonlyMap<string, number>): number =>
      [...since.values()].reduce((sum, at) => sum + makespanSeconds - at, 0);
    seconds += makespanSeconds;
    freed += left(engines.freed);
    unused += left(engines.lastTurn);
  }
  return {
    seconds: seconds / seeds.length,
    freed: freed / job.engines / seconds,
    unused: unused / job.engines / seconds,
  };
}

const percent = (share: number): string => (100 * share).toFixed(1);
const head = [
  'workload',
  'engines',
  'makespan s',
  'after last turns %',
  ...bounds.map((one) => `${one}: freed %, longer %`),
];
for (const cells of [head, head.map(() => '---')]) console.log(`| ${cells.join(' | ')} |`);
for (const id of agenticPresetIds) {
  if (chosen.length > 0 && !chosen.includes(id)) continue;
  const { job } = agenticPreset(id);
  const base = run(id, job, undefined);
  const packed = bounds.map((bound) => {
    const { freed, seconds } = run(id, job, bound);
    return `${percent(freed)}, ${percent(seconds / base.seconds - 1)}`;
  });
  console.log(
    `| ${[`\`${id}\``, job.engines, base.seconds.toFixed(0), percent(base.unused), ...packed].join(' | ')} |`,
  );
}
