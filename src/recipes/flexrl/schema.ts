/** Configuration of flexrl: flat, each setting once; the loader and the planner are configured from it. */
import { z } from 'zod';
import { flexUlyssesInput } from '../../planners/flex-ulysses/index.ts';
import { shadowLoaderConfig } from '../../policies/shadow-loader/index.ts';

/** What comes with each batch is not configured. */
const ofBatch = ['lengths', 'frames', 'previous'] as const;
type OfBatch = (typeof ofBatch)[number];
type PlannerShape = Omit<typeof flexUlyssesInput.shape, OfBatch>;

/** Settings of the planner, but for what each batch brings. */
export const plannerSettings = Object.fromEntries(
  Object.entries(flexUlyssesInput.shape).filter(([key]) => !ofBatch.includes(key as OfBatch)),
) as PlannerShape;

/** Schema of the configuration. */
export const flexrlConfig = z.strictObject({ ...plannerSettings, ...shadowLoaderConfig.shape });

/** What a caller writes. */
export type FlexrlInput = z.input<typeof flexrlConfig>;
/** The configuration with its defaults filled in. */
export type FlexrlConfig = z.output<typeof flexrlConfig>;
