/** Further epochs of a data set: the same prompts come again in another order, and get other responses. */
import { shuffled } from './random.ts';
import { samplesPerEpoch, type Workload, type WorkloadPrompt } from './workload.ts';

const epochKey = 21;

/**
 * Repeats the first prompts of a workload without end; policies know them by their ids of the first epoch.
 *
 * @param prompts - number of prompts in the data set, a whole number >= 1
 * @param seed - seed of the order in later epochs; the first epoch has the order of the workload
 */
export function inEpochs(workload: Workload, prompts: number, seed: number): Workload {
  const orders = new Map<number, readonly number[]>();
  const order = (epoch: number): readonly number[] => {
    const known = orders.get(epoch) ?? shuffled(prompts, seed, epochKey, epoch);
    orders.set(epoch, known);
    return known;
  };
  return {
    ...workload,
    distinctPrompts: Math.min(prompts, workload.distinctPrompts),
    prompt: (index): WorkloadPrompt => {
      const epoch = Math.floor(index / prompts);
      if (epoch === 0) return workload.prompt(index);
      const place = order(epoch)[index % prompts]!;
      const prompt = workload.prompt(place);
      const firstSample = epoch * samplesPerEpoch;
      return {
        ...prompt,
        promptId: `${prompt.promptId}@${epoch}`,
        firstId: prompt.firstId ?? prompt.promptId,
        comesBack: prompt.promptId,
        place: prompt.place ?? place,
        firstSample,
        sample: (k) => prompt.sample(firstSample + k),
      };
    },
  };
}

/**
 * Repeats enough prompts of a workload for a job of so many epochs; a trace with fewer prompts repeats them more often.
 *
 * @param trained - prompts that the job trains
 * @param epochs - how often each prompt comes, a whole number >= 1
 */
export function returning(workload: Workload, trained: number, epochs: number, seed: number): Workload {
  return inEpochs(workload, Math.min(Math.ceil(trained / epochs), workload.distinctPrompts), seed);
}
