/**
 * The usual way with an asynchronous trainer, to compare `staleness-pacing` with: a fixed number of groups is generated at all
 * times, the trainer takes the oldest complete groups, and groups that are too old by then are discarded, complete or not. The
 * rule makes the same decisions as the policy, without reasons.
 */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';
import { sumOf } from '../comparison/metrics.ts';

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
  /** Number of groups in generation at all times. */
  readonly concurrency: number;
}

/** Makes the rule. */
export function discarding(settings: DiscardingSettings): DrivenPolicy {
  const { groupsPerBatch, maxStaleness, concurrency } = settings;
  const groups = new Map<string, Group>();
  let [version, launches, batches, inFlight, asked] = [0, 0, 0, 0, 0];
  let isTraining = false;
  return {
    id: 'discarding',
    send: (given: AnyEvent): readonly AnyDecision[] => {
      const event = given as VocabularyEvent;
      const { at } = event;
      const decisions: object[] = [];
      switch (event.type) {
        case 'prompts.supplied':
          asked -= event.prompts.length;
          for (const { promptId: groupId } of event.prompts) {
            const group = { groupId, launchId: `launch#${launches++}`, weightVersion: version };
            groups.set(group.launchId, { ...group, tokens: undefined, samples: 0 });
            inFlight += 1;
            decisions.push({ type: 'group.launch', at, ...group });
          }
          break;
        case 'group.completed':
          Object.assign(groups.get(event.launchId!)!, { tokens: event.tokens, samples: event.samples });
          inFlight -= 1;
          break;
        case 'weights.published':
          version = event.weightVersion;
          isTraining = false;
          for (const { launchId, weightVersion, tokens } of [...groups.values()]) {
            if (version - weightVersion <= maxStaleness) continue;
            groups.delete(launchId);
            if (tokens === undefined) inFlight -= 1;
            decisions.push({ type: 'group.drop', at, launchId, reason: { tokens: tokens ?? 0 } });
          }
      }
      const complete = isTraining ? [] : [...groups.values()].filter(({ tokens }) => tokens !== undefined);
      if (complete.length >= groupsPerBatch) {
        isTraining = true;
        const batch = complete.slice(0, groupsPerBatch);
        for (const { launchId } of batch) groups.delete(launchId);
        decisions.push({
          type: 'train.batch',
          at,
          publicationId: `batch#${batches++}`,
          weightVersion: version + 1,
          groups: batch.map(({ groupId, launchId, weightVersion }) => ({ groupId, launchId, weightVersion })),
          samples: sumOf(batch, 'samples'),
          tokens: sumOf(batch, ({ tokens }) => tokens!),
        });
      }
      const missing = concurrency - inFlight - asked;
      if (missing > 0) {
        asked += missing;
        decisions.push({ type: 'prompts.request', at, count: missing });
      }
      return decisions as AnyDecision[];
    },
  };
}
