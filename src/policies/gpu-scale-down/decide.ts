/** The decision at a milestone: which GPUs, where their requests go, and whether the KV cache has room for them. */
import type { RunningRequest } from '../../schemas/gpus.ts';
import { chooseEngines, wantedGpus } from './choose.ts';
import { orderByEnd } from './ends.ts';
import type { Report } from './load.ts';
import { migrate } from './migrations.ts';
import { Outlook } from './outlook.ts';
import { type Plan, planFor } from './plan.ts';
import { readReport } from './report.ts';
import { targetOf } from './schema.ts';
import type { Query, ScaleDownState } from './state.ts';
import type { Ctx, DecisionOf } from './words.ts';

type RejectReason = DecisionOf<'scale-down.rejected'>['reason'];

// So many choices of engines are tried before a milestone is given up.
const mostChoices = 4;

/** The first choice of engines that leaves room, or why the first of all does not. */
function firstThatFits(
  state: ScaleDownState,
  report: Report,
  progress: { finished: number; target: number },
): Plan | RejectReason {
  const { topology, config, status, columns } = state;
  const { engines } = topology;
  const isUp = (place: number): boolean => status[place] !== 'lost';
  const tokens = engines.map((_, place) => report.loads.kvTokens(place));
  const choose = (most: number) => chooseEngines(topology, { isUp, tokens }, most);
  const [first] = choose(1);
  if (first === undefined) return { code: 'no_partition', ...wantedGpus(topology, isUp) };
  const size = orderByEnd(columns, report.requests.length);
  const rows = columns.order.subarray(0, size);
  const curve = state.histories[state.kind].curve();
  const outlook = new Outlook(curve, config.maxResponseTokens, report.loads.together(), rows, columns);
  const best = planFor(state, report, outlook, first, progress);
  // Who may take requests does not depend on how many they are.
  if (!('code' in best) || best.code === 'no_target') return best;
  for (const chosen of choose(mostChoices).slice(1)) {
    const plan = planFor(state, report, outlook, chosen, progress);
    if (!('code' in plan)) return plan;
  }
  return best;
}

/** Answers a report with `gpus.release` or `scale-down.rejected`. */
export function decide(state: ScaleDownState, query: Query, requests: readonly RunningRequest[], ctx: Ctx): void {
  const { config } = state;
  const { engines } = state.topology;
  const report = state.checked?.requests === requests ? state.checked : readReport(state, requests);
  state.checked = undefined;
  const progress = { finished: query.finished, target: targetOf(config) };
  const found = firstThatFits(state, report, progress);
  if ('code' in found) {
    ctx.emit({ type: 'scale-down.rejected', at: ctx.at, roundId: query.roundId, reason: found });
    return;
  }
  const { chosen, keep, open, moving, free, fullest } = found;
  const releaseId = `${state.idPrefix}release-${state.nextId++}`;
  const { moves, migrations } = migrate(state, report, moving, { from: chosen, to: open });
  state.release = { releaseId, phase: 'releasing', engines: chosen, moves, free };
  ctx.emit({
    type: 'gpus.release',
    at: ctx.at,
    releaseId,
    roundId: query.roundId,
    release: chosen.map((place) => ({ engineId: engines[place]!.engineId, gpuIds: [...engines[place]!.gpuIds] })),
    keep: keep.map((place) => engines[place]!.engineId),
    migrations,
    reason: { code: config.trigger === 'adaptive' ? 'fits' : 'fixed_fraction', ...progress, ...fullest },
  });
}
