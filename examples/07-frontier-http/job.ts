/** The policies of the host, as one recipe (stands in until the recipe `rolloutpipe`). */
import {
  type AnyDecision,
  completeGroupPipelining,
  defineRecipe,
  frontierGroupDispatch,
  groupAssembly,
  resumePolicy,
  speculativeAdmission,
  startPolicy,
  z,
} from 'rollflex';

const config = z.strictObject({
  promptsPerRound: z.int().positive(),
  responsesPerPrompt: z.int().positive(),
  globalBatchSamples: z.int().positive(),
  width: z.int().positive(),
  pipelining: z.boolean().default(true),
});

const to =
  (...parts: string[]) =>
  (event: AnyDecision) =>
    parts.map((part) => ({ part, event }));

const recipe = defineRecipe({
  id: 'example/rolloutpipe',
  version: 1,
  summary: 'Frontier and pipelining.',
  source: 'an example',
  config,
  parts: {
    frontier: frontierGroupDispatch,
    assembly: groupAssembly,
    pipelining: completeGroupPipelining,
    admission: speculativeAdmission,
  },
  configure: ({ promptsPerRound, responsesPerPrompt, globalBatchSamples, width, pipelining }) => ({
    frontier: { responsesPerPrompt, width, awaitRetries: true },
    assembly: {},
    pipelining: { responsesPerPrompt, globalBatchSamples, pipelining },
    admission: { promptsPerRound, responsesPerPrompt, promptSpeculation: 1, responseSpeculation: 1 },
  }),
  events: [...new Set([...speculativeAdmission.events, ...completeGroupPipelining.events])],
  decisions: [
    ...new Set([
      ...speculativeAdmission.decisions,
      ...frontierGroupDispatch.decisions,
      ...completeGroupPipelining.decisions,
      ...groupAssembly.decisions,
    ]),
  ],
  deliver: (event) => {
    switch (event.type) {
      case 'round.opened':
        return [{ part: 'pipelining', event: { ...event, prompts: [] } }, 'admission'];
      case 'reward.ready':
        return ['assembly'];
      case 'response.completed':
      case 'response.failed':
      case 'request.aborted':
        return ['frontier', 'admission'];
      case 'host.restarted':
        return ['frontier', 'assembly', 'pipelining', 'admission'];
      case 'update.consumed':
      case 'optimizer.stepped':
      case 'weights.published':
      case 'update.lost':
      case 'trainer.restarted':
        return ['pipelining'];
      default:
        return ['admission'];
    }
  },
  routes: {
    admission: {
      'request.launch': { out: false, into: to('frontier') },
      'request.abort': { out: true, into: to('frontier') },
      'response.accepted': { out: true, into: to('assembly') },
      'prompt.counted': { out: true, into: to('assembly') },
      'round.completed': { out: true, into: to('assembly', 'frontier') },
    },
    assembly: {
      'group.rewarded': { out: false, into: to('pipelining') },
      'round.rewarded': { out: false, into: to('pipelining') },
    },
  },
  ledgers: [],
  arbitrary: () => {
    throw new Error('not for properties');
  },
});

export const startJob = (input: z.input<typeof config>) => startPolicy(recipe, input);
export const resumeJob = (snapshot: unknown) => resumePolicy(recipe, snapshot);
export type Job = ReturnType<typeof startJob>;
export type HostEvent = Parameters<Job['send']>[0];
