/** Lengths that come with the playground, and one's own. */

/** Files of `examples/traces` that are inside the page. */
export const traceFiles = {
  'castillo-7b': 'castillo-qwen2.5-7b-instruct-1m.jsonl',
  'castillo-32b': 'castillo-qwen2.5-32b-instruct.jsonl',
  'deepseek-r1': 'servegen-deepseek-r1.jsonl',
} as const;
export type TraceId = keyof typeof traceFiles;

/** Other files that simulations need. */
export const otherFiles = {
  videos: 'nextqa-videos.jsonl',
  images: 'servegen-qwen-vl-images.jsonl',
  sandboxes: 'sandbox-livecodebench.jsonl',
} as const;
export type FileId = TraceId | keyof typeof otherFiles;

/** A choice of lengths: the value in the URL, and what is shown. */
export const traceOptions = [
  ['castillo-7b', 'CASTILLO: Qwen2.5-7B'],
  ['castillo-32b', 'CASTILLO: Qwen2.5-32B'],
  ['deepseek-r1', 'ServeGen: DeepSeek-R1'],
] as const satisfies readonly (readonly [TraceId, string])[];
/** The trace that the reader has loaded. */
export const ownOption = ['own', 'Your own trace'] as const;
