/** group-assembly and complete-group-pipelining joined, as a recipe joins them: rewards in, updates out. */
import { completeGroupPipelining, defineRecipe, groupAssembly } from '../../../src/index.ts';
import { pipeliningConfig } from '../../../src/policies/complete-group-pipelining/schema.ts';

const fromTrainer = completeGroupPipelining.events.filter(
  (message) => message.type !== 'group.rewarded' && message.type !== 'round.rewarded',
);

/** Every event by the parts that want it: those of the rewards, those of the trainer. */
export const rewardedPipelining = defineRecipe({
  id: 'test/rewarded-pipelining',
  version: 1,
  summary: 'Rewards that come one by one, trained as soon as their groups are complete.',
  source: 'a test',
  config: pipeliningConfig,
  parts: { assembly: groupAssembly, pipelining: completeGroupPipelining },
  configure: (config) => ({ assembly: {}, pipelining: config }),
  events: [...groupAssembly.events, ...fromTrainer.filter((message) => message.type !== 'host.restarted')],
  decisions: [...groupAssembly.decisions, ...completeGroupPipelining.decisions] as never,
  deliver: (event: { type: string }) => {
    if (event.type === 'host.restarted') return ['assembly', 'pipelining'];
    return groupAssembly.events.some((message) => message.type === event.type) ? ['assembly'] : ['pipelining'];
  },
  routes: {
    assembly: {
      'group.rewarded': { out: false },
      'round.rewarded': { out: false },
    },
  },
  ledgers: [],
});
