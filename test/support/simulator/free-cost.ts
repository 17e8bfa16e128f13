/** The part of a cost model with which a decode step takes its `memoryBoundSeconds`, and nothing else takes time. */
export const freeCost = {
  computeSecondsPerSequence: 0,
  overheadSeconds: 0,
  secondsPerSequence: 0,
  secondsPerContextToken: 0,
  prefillSecondsPerToken: 0,
};
