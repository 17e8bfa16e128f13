/**
 * Compares gpu-scale-down with a host that decides about releases itself; afterwards an oracle that knows all lengths judges the
 * decisions of the policy.
 */
import type { LogLineOf } from '../../logs/format/decision-log.ts';
import type {
  GpuScaleDownConfig,
  GpuScaleDownDecision,
  GpuScaleDownEvent,
} from '../../policies/gpu-scale-down/index.ts';
import type { PlacedEngine, RunningRequest } from '../../schemas/gpus.ts';
import type { ShadowBook } from './book.ts';
import { type Decoding, peakTokens } from './oracle.ts';
import { Pairs } from './pairs.ts';

type Release = Extract<GpuScaleDownDecision, { type: 'gpus.release' }>;
type Rejected = Extract<GpuScaleDownDecision, { type: 'scale-down.rejected' }>;

/** Verdicts on releases and refusals, given all response lengths. */
export interface ScaleDownWorth {
  /** Number of releases. */
  readonly released: number;
  /** Releases after which the requests fitted into the remaining engines. */
  readonly releasedFitted: number;
  /** Releases after which the requests would not have fitted. */
  readonly releasedTooEarly: number;
  /** Number of refusals for lack of KV cache. */
  readonly rejected: number;
  /** Correct refusals: even all remaining engines together could not have held the requests. */
  readonly rejectedRightly: number;
  /**
   * Refusals that may have been wrong: the remaining engines together could have held all requests in flight, although perhaps
   * not each engine its share.
   */
  readonly rejectedMightFit: number;
  /** Evaluations that include a response whose end is not in the log. */
  readonly unknown: number;
}

interface Evaluation {
  readonly requests: readonly RunningRequest[];
  readonly released: boolean;
  /** Requests by engine (or all together), with the available KV capacity. */
  readonly bins: readonly { readonly requestIds: readonly string[]; readonly capacityTokens: number }[];
}

/** Reasons of refusals that depend on response lengths. */
const forRoom: ReadonlySet<string> = new Set(['kv_cache', 'kv_cache_together']);

export class ScaleDownBook implements ShadowBook {
  readonly #config: GpuScaleDownConfig;
  readonly #pairs = new Pairs('gpus.release');
  readonly #released = new Set<string>();
  readonly #lengths = new Map<string, number>();
  readonly #evaluations: Evaluation[] = [];
  #capacities = new Map<string, number>();

  constructor(config: GpuScaleDownConfig) {
    this.#config = config;
    this.#place(config.engines);
  }

  event({ event, decisions }: LogLineOf<'event'>, where: string): void {
    const scaleDownEvent = event as unknown as GpuScaleDownEvent;
    if (scaleDownEvent.type === 'engines.placed') this.#place(scaleDownEvent.engines);
    else if (scaleDownEvent.type === 'response.completed')
      this.#lengths.set(scaleDownEvent.requestId, scaleDownEvent.tokens);
    else if (scaleDownEvent.type === 'request.aborted' && scaleDownEvent.tokens !== undefined)
      this.#lengths.set(scaleDownEvent.requestId, scaleDownEvent.tokens);
    const requests = scaleDownEvent.type === 'progress.reported' ? scaleDownEvent.requests : [];
    for (const decision of decisions as unknown as GpuScaleDownDecision[]) {
      if (decision.type === 'gpus.release') this.#release(decision, requests, where);
      else if (decision.type === 'scale-down.rejected') this.#reject(decision, requests, where);
    }
  }

  decided({ decision }: LogLineOf<'decided'>): void {
    const { type, roundId } = decision as unknown as Release | Rejected;
    if (roundId === undefined || (type !== 'gpus.release' && type !== 'scale-down.rejected')) return;
    this.#pairs.ofHost(roundId, { released: type === 'gpus.release' });
  }

  counts() {
    return [this.#pairs.counts()];
  }

  worth(): ScaleDownWorth {
    const worth = { released: 0, releasedFitted: 0, releasedTooEarly: 0 };
    const rejections = { rejected: 0, rejectedRightly: 0, rejectedMightFit: 0, unknown: 0 };
    for (const { requests, released, bins } of this.#evaluations) {
      if (released) worth.released += 1;
      else rejections.rejected += 1;
      const known = this.#known(requests);
      if (known === undefined) {
        rejections.unknown += 1;
        continue;
      }
      const fits = bins.every(({ requestIds, capacityTokens }) => {
        const mine = requestIds.map((id) => known.get(id)!);
        return peakTokens(mine) <= capacityTokens;
      });
      if (released) worth[fits ? 'releasedFitted' : 'releasedTooEarly'] += 1;
      else rejections[fits ? 'rejectedMightFit' : 'rejectedRightly'] += 1;
    }
    return { ...worth, ...rejections };
  }

  #place(engines: readonly PlacedEngine[]): void {
    this.#capacities = new Map(
      engines.map(({ engineId, kvCapacityTokens, kvCapacityBytes = 0 }) => [
        engineId,
        kvCapacityTokens ?? Math.floor(kvCapacityBytes / this.#config.bytesPerToken!),
      ]),
    );
  }

  #release({ roundId, keep, migrations, reason }: Release, requests: readonly RunningRequest[], where: string): void {
    this.#released.add(roundId);
    this.#pairs.ofPolicy(roundId, { released: true }, reason, where);
    const goesTo = new Map(migrations.flatMap(({ to, requestIds }) => requestIds.map((id) => [id, to] as const)));
    const bins = new Map(keep.map((engineId) => [engineId, [] as string[]]));
    for (const { requestId, engineId } of requests) bins.get(goesTo.get(requestId) ?? engineId)?.push(requestId);
    this.#evaluations.push({
      requests,
      released: true,
      bins: [...bins].map(([engineId, requestIds]) => ({
        requestIds,
        capacityTokens: this.#capacities.get(engineId) ?? 0,
      })),
    });
  }

  #reject({ roundId, reason }: Rejected, requests: readonly RunningRequest[], where: string): void {
    // A release is final for its round.
    if (!this.#released.has(roundId)) this.#pairs.ofPolicy(roundId, { released: false }, reason, where);
    if (!forRoom.has(reason.code)) return;
    const all = [...this.#capacities.values()].reduce((sum, one) => sum + one, 0);
    const capacityTokens = reason.code === 'kv_cache_together' ? reason.capacityTokens : all / 2;
    const requestIds = requests.map(({ requestId }) => requestId);
    this.#evaluations.push({ requests, released: false, bins: [{ requestIds, capacityTokens }] });
  }

  /**
   * Returns, by request id, the tokens held at the report and the tokens generated afterwards; `undefined` if any final length is
   * unknown.
   */
  #known(requests: readonly RunningRequest[]): Map<string, Decoding> | undefined {
    const known = new Map<string, Decoding>();
    for (const { requestId, tokens, promptTokens } of requests) {
      const length = this.#lengths.get(requestId);
      if (length === undefined) return undefined;
      known.set(requestId, { heldTokens: tokens + promptTokens, leftTokens: Math.max(0, length - tokens) });
    }
    return known;
  }
}
