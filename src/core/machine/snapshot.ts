/** Versioned snapshots: the whole state of a policy as JSON. */
import { z } from 'zod';
import { refuse } from '../../errors.ts';
import type { AnyPolicyDefinition } from './definition.ts';
import { parse } from './validate.ts';

/** Schema of {@link Snapshot}. */
export const snapshotSchema = z.strictObject({
  policy: z.string().describe('Id of the policy.'),
  version: z.int().positive().describe('Version of the policy that wrote it.'),
  config: z.unknown().describe('Configuration, as JSON.'),
  state: z.unknown().describe('State, as JSON.'),
  seq: z.int().nonnegative().describe('Events applied so far.'),
  at: z.number().nonnegative().describe('Latest time seen, in seconds.'),
  aheadSeconds: z
    .number()
    .positive()
    .optional()
    .describe('By how much `at` is ahead of the clock of the host, which has begun anew, in seconds.'),
});

/** Everything that a policy needs to continue exactly where it was. */
export type Snapshot = z.output<typeof snapshotSchema>;

/**
 * Checks a snapshot against a definition and brings it up to the definition's version.
 *
 * @throws PolicyError `snapshot_mismatch` if it is a snapshot of another policy, of a version that cannot be migrated, or damaged
 */
export function openSnapshot<P extends AnyPolicyDefinition>(
  definition: P,
  value: unknown,
): { config: unknown; state: unknown; seq: number; at: number; aheadSeconds: number } {
  if (typeof value === 'string')
    refuse('snapshot_mismatch', 'snapshot', 'an object (`JSON.parse` makes one of a snapshot in JSON)', value);
  const snapshot = parse(snapshotSchema, value, 'snapshot_mismatch', 'snapshot');
  if (snapshot.policy !== definition.id) {
    refuse('snapshot_mismatch', 'snapshot.policy', `a snapshot of ${definition.id}`, snapshot.policy);
  }
  const config = parse(definition.config, snapshot.config, 'snapshot_mismatch', 'snapshot.config');
  const state = openState(definition, snapshot.version, snapshot.state, config, 'snapshot');
  const { seq, at, aheadSeconds = 0 } = snapshot;
  return { config, state, seq, at, aheadSeconds };
}

/**
 * Reads a state that this or an earlier version of the definition has saved.
 *
 * @throws PolicyError `snapshot_mismatch` as {@link openSnapshot} does; `path` is the place of the snapshot in the input
 */
export function openState(
  definition: AnyPolicyDefinition,
  from: number,
  saved: unknown,
  config: unknown,
  path: string,
): unknown {
  let state = saved;
  for (let version = from; version !== definition.version; version += 1) {
    const migrate = definition.migrations?.[version];
    if (version > definition.version || migrate === undefined) {
      refuse(
        'snapshot_mismatch',
        `${path}.version`,
        `version ${definition.version} of ${definition.id}, or one that can be migrated to it`,
        from,
      );
    }
    state = migrate(state);
  }
  return definition.load(state, config, `${path}.state`);
}
