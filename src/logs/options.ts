/** Options that select the policies which play a log. */
import type { AnyDefinition } from '../core/machine/definition.ts';
import type { Registry } from '../core/machine/registry.ts';
import { registry as builtIn } from '../registry.ts';
import type { PlayedPolicy } from './replay/play.ts';

/** The policies that are known. */
export interface LogOptions {
  /** A registry of `createRegistry`; that of rollflex if absent. */
  readonly registry?: Registry<readonly AnyDefinition[]>;
}

export const registryOf = ({ registry }: LogOptions): Registry<readonly AnyDefinition[]> =>
  registry ?? (builtIn as unknown as Registry<readonly AnyDefinition[]>);

/** Returns a function that makes policies from the snapshots of a log. */
export const restoring = (options: LogOptions): ((snapshot: unknown) => PlayedPolicy) => {
  const { restore } = registryOf(options);
  return (snapshot) => restore(snapshot, { validate: false });
};
