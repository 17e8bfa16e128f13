/** The rules that policies for agentic rollouts are compared with. These rules are not policies of rollflex. */
import type { AgenticScheduler } from '../scheduler.ts';
import { consistentHash, dualThreshold, leastInFlight, margin } from './static.ts';
import { thunderAgent } from './thunder-agent.ts';

/** Every rule, with the settings that are in use: 4/1.1 and 32/1.5 were reported for the same job with opposite results. */
export const agenticRules: readonly AgenticScheduler[] = Object.freeze([
  leastInFlight,
  consistentHash,
  dualThreshold(4, 1.1),
  dualThreshold(32, 1.5),
  margin(2),
  margin(8),
  thunderAgent(),
  thunderAgent({ decays: false }),
]);
