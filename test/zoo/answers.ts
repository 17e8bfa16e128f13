/** The answers of a host to commands: those of an obedient host, on engines that take time. */
import { normal } from '../../src/sim/workload/random.ts';
import { answersTo as byContract } from '../../src/testing/hosts/contract.ts';
import type { Report } from '../../src/testing/hosts/obedience.ts';
import { specialAnswers } from '../../src/testing/hosts/obedient-answers.ts';
import type { Told, ZooHost } from './host.ts';

/** Returns the reports that answer a decision. */
export function answersTo(decision: Told, host: ZooHost): readonly Report[] {
  const { type } = decision;
  if (['request.launch', 'request.admit', 'request.resume'].includes(type)) return runs(decision, host);
  if (type === 'progress.query') return [host.answer('progress.reported', decision, { requests: progress(host) })];
  if (type === 'reward.scored') return [host.answer('reward.ready', decision)];
  if (type === 'response.accepted' && host.takes('reward.finished')) return [];
  if (type === 'round.planned') return [host.answer('round.opened', decision, { prompts: decision.queued })];
  const rule = specialAnswers[type];
  if (typeof rule === 'function') return rule(decision, host.desk) as readonly Report[];
  const names = rule === undefined ? (byContract(type) ?? []) : [rule as string];
  const name = names.find((one) => host.takes(one));
  return name === undefined ? [] : [host.answer(name, decision)];
}

/** A request starts on an engine: that of the decision, or the one with the fewest. */
function runs(decision: Told, host: ZooHost): Report[] {
  const { requestId, promptId } = decision as unknown as { requestId: string; promptId: string };
  // Behind a frontier a launched request waits until it is admitted.
  if (decision.type === 'request.launch' && host.policies.some((one) => 'width' in one.config)) return [];
  const { running, manner } = host;
  const { engines, seed, tail = 0.6, responseSeconds = 60, turns = 0 } = manner;
  const load = (id: string): number => [...running.values()].filter((one) => one.engineId === id).length;
  const least = (): string => engines.reduce((best, one) => (load(one) < load(best) ? one : best));
  const engineId = (decision.engineId as string | undefined) ?? running.get(requestId)?.engineId ?? least();
  // Half of the spread belongs to the prompt.
  const prompt = [...promptId].reduce((sum, one) => sum * 31 + one.charCodeAt(0), 7) % 1e9;
  const spread = tail * (0.7 * normal(seed, prompt) + 0.7 * normal(seed, host.nextDraw()));
  const seconds = Math.min(responseSeconds * Math.exp(spread), 8 * responseSeconds);
  running.set(requestId, { promptId, since: host.now, seconds, engineId });
  host.desk.engines.set(requestId, engineId);
  const started = host.answer('request.started', { requestId, engineId });
  const waits = decision.type !== 'request.resume' && host.draw() < turns;
  const end: Report[] = waits
    ? [
        host.answer('tool.started', { ...decision, tool: 'python' }),
        host.answer('tool.finished', { ...decision, outcome: 'success' }),
      ]
    : [host.answer('response.completed', decision)];
  return decision.engineId === undefined && decision.type !== 'request.resume' ? [started, ...end] : end;
}

function progress({ running, now }: ZooHost): object[] {
  return [...running].map(([requestId, { since, engineId }]) => ({
    requestId,
    engineId,
    tokens: Math.round(40 * (now - since)),
    promptTokens: 200,
  }));
}

const timed = ['reward.finished', 'sandbox.finished', 'update.consumed', 'train.consumed', 'train.finished'];

/** Fills in what only the machine knows that reports. */
export function filledIn(report: Report, seconds: number, host: ZooHost): Report {
  if (report.type === 'response.completed') return { ...report, tokens: Math.round(40 * seconds) };
  if (report.type === 'reward.ready') return { reward: Math.floor(host.draw() * 2), ...report };
  if (report.type === 'sample.preprocessed') return { ...report, bytes: 6e7 };
  return timed.includes(report.type) ? { ...report, seconds: Math.round(seconds * 100) / 100 } : report;
}
