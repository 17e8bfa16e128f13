export { judgeOffloadPlanner } from './judge-offload.ts';
export {
  type LengthFunction,
  lengthFunction,
  lengthPoints,
  lengthPolynomial,
} from './length-function.ts';
export {
  type JudgeOffloadInput,
  type JudgeOffloadPlan,
  type JudgeOffloadSettings,
  judgeOffloadInput,
  judgeOffloadPlan,
} from './schema.ts';
