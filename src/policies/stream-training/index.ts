export {
  type StreamTrainingConfig,
  type StreamTrainingInput,
  streamTrainingConfig,
} from './schema.ts';
export { type StreamTrainingEvent, streamTraining } from './stream-training.ts';
export type { StreamTrainingDecision } from './words.ts';
