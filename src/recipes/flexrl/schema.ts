/** Configuration of flexrl: flat, each setting once; the loader and the planner are configured from it. */
import { z } from 'zod';
import { flexUlyssesInput } from '../../planners/flex-ulysses/schema.ts';
import { shadowLoaderConfig } from '../../policies/shadow-loader/schema.ts';

const { lengths: _lengths, frames: _frames, previous: _previous, ...settings } = flexUlyssesInput.shape;

/** Settings of the planner, without the fields that each batch brings. */
export const plannerSettings = settings;

/** Schema of the configuration. */
export const flexrlConfig = z.strictObject({ ...plannerSettings, ...shadowLoaderConfig.shape });
