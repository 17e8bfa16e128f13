/** The hosts of logs of outages, collapses and skews, and of runs that look like them and go on. */
import type { AnyDecision } from '../../src/core/machine/definition.ts';
import type { Report } from '../../src/testing/hosts/obedience.ts';
import type { ZooHost } from './host.ts';
import { judged, judges, round, type Scene, scene, whole } from './scene.ts';
import type { Manner } from './times.ts';

type Fault = NonNullable<Manner['fault']>;

/** Whether a time is in one of these spans, in seconds. */
const within =
  (...spans: readonly (readonly [from: number, to: number])[]) =>
  ({ now }: ZooHost): boolean =>
    spans.some(([from, to]) => now >= from && now < to);

/** Responses that fail in the place of their completion, as long as it holds. */
const fails =
  (kind: string, message: string, holds: (host: ZooHost, report: Report, cause?: AnyDecision) => boolean): Fault =>
  (report, cause, host) =>
    report.type === 'response.completed' && holds(host, report, cause)
      ? { type: 'response.failed', requestId: report.requestId, kind, message }
      : report;

const onEngine =
  (engineId: string, holds: (host: ZooHost) => boolean) =>
  (host: ZooHost, { requestId }: Report): boolean =>
    holds(host) && host.running.get(requestId as string)?.engineId === engineId;

/** Responses that come from other weights than asked for, as long as it holds. */
const says =
  (weightVersion: number, holds: (host: ZooHost, report: Report) => boolean): Fault =>
  (report, _, host) =>
    report.type === 'response.completed' && holds(host, report)
      ? { ...report, weightVersions: [weightVersion] }
      : report;

/** Rewards that are all the same, as long as it holds. */
const collapses =
  (holds: (host: ZooHost) => boolean): Fault =>
  (report, _, host) =>
    report.type === 'reward.ready' && holds(host) ? { ...report, reward: 0 } : report;

const placing = { ...round, placement: 'policy' };
const composed = { ...round, windowRounds: 2, rememberedPrompts: 40 };
const forEver = (from: number) => within([from, Number.POSITIVE_INFINITY]);

/** Scenes of logs with a fault that all share, by the name of the log. */
export const outages: Readonly<Record<string, () => Scene>> = {
  'slime-1148': () =>
    scene([['tail-batching', placing]], 201, {
      until: 3000,
      fault: fails('infrastructure', '503: no available workers', forEver(400)),
    }),
  'prime-rl-1622': () =>
    scene([['lossless-tail', composed]], 202, {
      until: 3000,
      fault: fails('infrastructure', 'name resolution failed', forEver(500)),
    }),
  'rllm-176': () =>
    scene([['tail-batching', whole]], 203, {
      until: 3000,
      fault: fails('environment', 'invalid kube-config file', forEver(300)),
    }),
  'sandboxfusion-67': () =>
    scene([['lossless-tail', composed]], 204, {
      until: 3000,
      fault: fails('environment', 'request timed out', forEver(600)),
    }),
  'gym-1351': () =>
    scene(judged({ budgetSeconds: { judge: 600 } }), 205, {
      until: 1500,
      workers: judges,
      fault: ({ reward, ...report }, _, host) => {
        const left = { ...report, ...(reward !== undefined && { reward }) };
        return report.type === 'reward.finished' && host.now > 400 ? { ...report, outcome: 'infrastructure' } : left;
      },
    }),
  'verl-953': () =>
    scene([['tail-batching', { ...whole, filter: 'zero-variance' }]], 206, {
      until: 8000,
      fault: collapses(forEver(900)),
    }),
  'dapo-28': () =>
    scene([['lossless-tail', { ...composed, filter: 'zero-variance' }]], 207, {
      until: 8000,
      fault: collapses(forEver(900)),
    }),
  'marin-1829': () =>
    scene([['tail-batching', { ...placing, maxStaleness: 1 }]], 208, {
      until: 1500,
      fault: says(1, ({ round }) => round >= 4),
    }),
  'miles-1724': () =>
    scene([['lossless-tail', { ...composed, maxStaleness: 1 }]], 209, {
      until: 2400,
      fault: says(1, ({ round }) => round >= 4),
    }),
  'gym-3070': () =>
    scene([['tail-batching', { ...whole, filter: 'zero-variance' }]], 210, {
      until: 1800,
      fault: (report, _, host) =>
        report.type === 'reward.ready' && host.now > 500
          ? { type: 'reward.failed', requestId: report.requestId, kind: 'judge' }
          : report,
    }),
};

/** Scenes of runs that look like these, and go on. */
export const mended: Readonly<Record<string, () => Scene>> = {
  'slow-10': () =>
    scene([['tail-batching', placing]], 301, {
      until: 1200,
      fault: fails('infrastructure', 'connection refused', within([400, 460])),
      isHealthy: true,
    }),
  'slow-11': () =>
    scene([['tail-batching', placing]], 302, {
      until: 1500,
      fault: fails('infrastructure', 'connection refused', onEngine('e1', forEver(300))),
      isHealthy: true,
    }),
  'slow-12': () =>
    scene([['lossless-tail', composed]], 303, {
      until: 1500,
      fault: fails(
        'environment',
        'image not found',
        (host, { requestId }) => Number(/\d+/.exec(String(requestId))![0]) % 7 === 0 && host.now % 3 < 1,
      ),
      isHealthy: true,
    }),
  'slow-13': () =>
    scene([['tail-batching', { ...whole, filter: 'zero-variance' }]], 304, {
      until: 2000,
      fault: collapses(({ now }) => now % 300 < 120),
      isHealthy: true,
    }),
  'slow-14': () =>
    scene([['tail-batching', { ...placing, maxStaleness: 1 }]], 305, {
      until: 1500,
      fault: says(
        1,
        (host, { requestId }) => host.round === 4 && host.running.get(requestId as string)?.engineId === 'e2',
      ),
      isHealthy: true,
    }),
};
