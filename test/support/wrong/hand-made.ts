/** Definitions made of functions alone, as a test needs them that puts a wrong one among them. */
import type { z } from 'zod';
import { type AnyPolicyDefinition, sealDefinition } from '../../../src/core/machine/definition.ts';
import { parse } from '../../../src/core/machine/validate.ts';

interface HandMade {
  readonly state: z.ZodType;
  load(saved: never, config: never): unknown;
}

/** A policy that keeps its state as plain values, and reads and writes it by itself. */
export const handMade = (spec: object): AnyPolicyDefinition => {
  const { state, load } = spec as HandMade;
  return sealDefinition({
    ...spec,
    kind: 'policy',
    load: (saved: unknown, config: never, path = '') =>
      load(parse(state, saved, 'snapshot_mismatch', path) as never, config),
  } as never);
};

/** A built-in definition with some of its functions replaced. */
export const patched = (original: AnyPolicyDefinition, change: object): AnyPolicyDefinition =>
  sealDefinition({ ...original, ...change });
