/**
 * Configuration of flexrl: flat, so that each setting appears once; the configurations of loader and planner are derived from it.
 */
import { z } from 'zod';
import { flexUlyssesInput } from '../../planners/flex-ulysses/schema.ts';
import { shadowLoaderConfig } from '../../policies/shadow-loader/schema.ts';
import { positiveCount } from '../../schemas/units.ts';

const { lengths: _lengths, frames: _frames, previous: _previous, ...settings } = flexUlyssesInput.shape;

/** A batch is planned inside an event, which must take less than 50 ms; the host must plan a larger batch. */
export const mostSequences = 1024;
const mostDevices = 1024;
const mostSteps = 3_000_000;

/** Settings of the planner, without the fields that each batch brings. */
export const plannerSettings = {
  ...settings,
  devices: positiveCount.max(mostDevices).describe('Devices, numbered from 0, neighbours beside each other.'),
  maxSteps: positiveCount
    .max(mostSteps)
    .default(mostSteps)
    .describe('Most steps of `search` for a batch, a few nanoseconds each.'),
};

export const flexrlConfig = z.strictObject({ ...plannerSettings, ...shadowLoaderConfig.shape });
