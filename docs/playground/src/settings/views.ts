/** The views of the playground. */
import type { Fields } from './fields.ts';
import { poolsFields } from './pools.ts';
import { synchronousFields } from './synchronous.ts';
import { vlmFields } from './vlm.ts';

export const views = {
  sync: { title: 'Synchronous job', fields: synchronousFields },
  pools: { title: 'Disaggregated pools', fields: poolsFields },
  vlm: { title: 'Vision-language step', fields: vlmFields },
} as const satisfies Record<string, { title: string; fields: Fields }>;
export type ViewId = keyof typeof views;
export const viewIds = Object.keys(views) as ViewId[];
