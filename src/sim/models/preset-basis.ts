/** What the job of a preset rests on. */
import { paperAssumed } from '../colocated/basis.ts';
import { type JobPreset, jobPreset, usualPreset } from './presets.ts';

/**
 * Returns a preset whose job says that it is that of a paper; or the usual one, whose job says that it was assumed.
 *
 * @throws PolicyError `unknown_id`
 */
export function presetWithBasis(id: string | undefined): JobPreset {
  const preset = jobPreset(id ?? usualPreset);
  const said = id === undefined ? [`${preset.label} (RollPacker §6)`] : paperAssumed({ training: true, rewards: true });
  return { ...preset, job: { ...preset.job, assumed: [...said, ...(preset.job.assumed ?? [])] } };
}
