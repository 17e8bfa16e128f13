export { judgeOffload } from './judge-offload.ts';
export { type Pace, pipelinedSeconds } from './pipeline.ts';
export {
  type JudgeOffloadInput,
  type JudgeOffloadPlan,
  type JudgeOffloadSettings,
  judgeOffloadInput,
  judgeOffloadPlan,
} from './schema.ts';
