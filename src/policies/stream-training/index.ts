export {
  type StreamTrainingConfig,
  type StreamTrainingInput,
  streamTrainingConfig,
} from './schema.ts';
export { streamTraining } from './stream-training.ts';
export type { StreamTrainingDecision, StreamTrainingEvent } from './words.ts';
