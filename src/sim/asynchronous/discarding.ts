/**
 * The usual way with an asynchronous trainer, to compare `staleness-pacing` with: so many groups are generated at all times, the
 * trainer takes the oldest complete ones, and what is too old by then is discarded, complete or not. It speaks as the policy does.
 */
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';

interface Group {
  readonly groupId: string;
  readonly launchId: string;
  readonly weightVersion: number;
  tokens: number | undefined;
  samples: number;
}

/** Settings of the rule. */
export interface DiscardingSettings {
  readonly groupsPerBatch: number;
  readonly maxStaleness: number;
  /** Groups that are generated at all times. */
  readonly concurrency: number;
}

/** Makes the rule. */
export function discarding(settings: DiscardingSettings): DrivenPolicy {
  const { groupsPerBatch, maxStaleness, concurrency } = settings;
  const groups = new Map<string, Group>();
  let [version, launches, batches, inFlight, asked] = [0, 0, 0, 0, 0];
  let isTraining = false;
  const reason = { code: 'rule' } as never;
  return {
    id: 'discarding',
    send: (event: AnyEvent): readonly AnyDecision[] => {
      const { at } = event;
      const told: AnyDecision[] = [];
      const one = event as never as Record<string, never>;
      const roundId = one.roundId as string;
      if (event.type === 'prompts.supplied') {
        const { prompts } = one as never as { prompts: { promptId: string }[] };
        asked -= prompts.length;
        for (const { promptId: groupId } of prompts) {
          const group: Group = {
            groupId,
            launchId: `launch#${launches++}`,
            weightVersion: version,
            tokens: undefined,
            samples: 0,
          };
          groups.set(group.launchId, group);
          inFlight += 1;
          const { launchId, weightVersion } = group;
          told.push({ type: 'group.launch', at, roundId, groupId, launchId, weightVersion, reason } as AnyDecision);
        }
      } else if (event.type === 'group.completed') {
        Object.assign(groups.get(one.launchId)!, { tokens: one.tokens, samples: one.samples });
        inFlight -= 1;
      } else if (event.type === 'weights.published') {
        version = one.weightVersion;
        isTraining = false;
        for (const { groupId, launchId, weightVersion, tokens } of [...groups.values()]) {
          if (version - weightVersion <= maxStaleness) continue;
          groups.delete(launchId);
          if (tokens === undefined) inFlight -= 1;
          const numbers = { startVersion: weightVersion, weightVersion: version, maxStaleness, tokens: tokens ?? 0 };
          told.push({
            type: 'group.drop',
            at,
            roundId,
            groupId,
            launchId,
            reason: { code: 'rule', ...numbers },
          } as AnyDecision);
        }
      }
      const complete = isTraining ? [] : [...groups.values()].filter(({ tokens }) => tokens !== undefined);
      if (complete.length >= groupsPerBatch) {
        isTraining = true;
        const batch = complete.slice(0, groupsPerBatch);
        for (const { launchId } of batch) groups.delete(launchId);
        told.push({
          type: 'train.batch',
          at,
          roundId,
          publicationId: `batch#${batches++}`,
          weightVersion: version + 1,
          groups: batch.map(({ groupId, launchId, weightVersion }) => ({ groupId, launchId, weightVersion })),
          samples: batch.reduce((sum, { samples }) => sum + samples, 0),
          tokens: batch.reduce((sum, { tokens }) => sum + tokens!, 0),
          reason,
        } as AnyDecision);
      }
      const missing = concurrency - inFlight - asked;
      if (missing > 0) {
        asked += missing;
        told.push({ type: 'prompts.request', at, roundId, count: missing, reason } as AnyDecision);
      }
      return told;
    },
  };
}
