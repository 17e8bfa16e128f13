/** What the job of a preset rests on. */
import { type JobPreset, jobPreset, usualPreset } from './presets.ts';

const ofPaper = 'training and rewards as in RollPacker §6 (--calibrate)';

/**
 * Returns a preset whose job says that it is that of a paper; or the usual one, whose job says that it was assumed.
 *
 * @throws PolicyError `unknown_id`
 */
export function presetWithBasis(id: string | undefined): JobPreset {
  const preset = jobPreset(id ?? usualPreset);
  const said = id === undefined ? `${preset.label} (RollPacker §6)` : ofPaper;
  return { ...preset, job: { ...preset.job, assumed: [said, ...(preset.job.assumed ?? [])] } };
}
