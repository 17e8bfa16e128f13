import type { AnyPolicyDefinition } from '../core/definition.ts';

/** Whether a recipe takes events of a type from outside. */
export const isTaken = ({ events }: AnyPolicyDefinition, type: string): boolean =>
  events.some((word) => word.type === type);
