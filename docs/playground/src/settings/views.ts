/** The views of the playground. */
import type { Fields } from './fields.ts';
import { poolsFields } from './pools.ts';
import { synchronousFields } from './synchronous.ts';
import { vlmFields } from './vlm.ts';

interface View {
  readonly title: string;
  readonly fields: Fields;
  /** The fields of what the library refuses under its own names. */
  readonly names: Readonly<Record<string, string>>;
}

export const views = {
  sync: {
    title: 'Synchronous job',
    fields: synchronousFields,
    names: {
      promptsPerRound: 'P',
      responsesPerPrompt: 'R',
      promptSpeculation: 'etaP',
      responseSpeculation: 'etaR',
      engines: 'g',
      capTokens: 'cap',
    },
  },
  pools: {
    title: 'Disaggregated pools',
    fields: poolsFields,
    names: {
      groupsPerRound: 'R',
      responsesPerPrompt: 'K',
      globalBatchSamples: 'U',
      width: 'Fw',
      engines: 'e',
      capTokens: 'cap',
    },
  },
  vlm: {
    title: 'Vision-language step',
    fields: vlmFields,
    names: { model: 'm', gpus: 'g', batchSequences: 'b', degree: 'SP', maxFrames: 'f', capTokens: 'cap' },
  },
} as const satisfies Record<string, View>;
export type ViewId = keyof typeof views;
export const viewIds = Object.keys(views) as ViewId[];

/** The field that an error is of, by its path; nothing for one of several fields, or of none. */
export function fieldOf(view: ViewId, path: string): string | undefined {
  const { fields, names }: View = views[view];
  const [head = ''] = path.split(/[.[:]/);
  const key = Object.hasOwn(names, head) ? names[head] : head;
  return key !== undefined && Object.hasOwn(fields, key) ? key : undefined;
}
