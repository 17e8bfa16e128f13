/** Static rules for comparison: what routers and trainers do with the turns of agentic rollouts today. */
import { refuse } from '../../../errors.ts';
import { type AgenticScheduler, type RuleEngine, ruleScheduler, type TurnRule } from '../scheduler.ts';
import { HashRing } from './hash-ring.ts';

/** The engine with the fewest turns; the first of several. */
const leastLoaded = (engines: readonly RuleEngine[]): RuleEngine =>
  engines.reduce((best, one) => (one.inFlight < best.inFlight ? one : best));

/** Each turn goes to the engine with the fewest turns. */
export const leastInFlight: AgenticScheduler = ruleScheduler(
  'least-in-flight',
  'least in flight',
  () => (_turn, engines) => leastLoaded(engines),
);

/** All turns of a program go to the engine that the hash of its id selects. */
export const consistentHash: AgenticScheduler = ruleScheduler('consistent-hash', 'consistent hash', () => {
  const ring = new HashRing();
  return ({ requestId }, engines) => ring.of(requestId, engines);
});

/**
 * A program stays on its engine unless this engine has more turns than the least loaded one, by at least the margin.
 *
 * @param turns - a whole number >= 1
 * @throws PolicyError `invalid_input`
 */
export function margin(turns: number): AgenticScheduler {
  if (!Number.isSafeInteger(turns) || turns < 1) refuse('invalid_input', 'turns', 'a whole number >= 1', turns);
  const rule: TurnRule = ({ last }, engines) => {
    const least = leastLoaded(engines);
    return last === undefined || last.inFlight - least.inFlight >= turns ? least : last;
  };
  return ruleScheduler(`margin-${turns}`, `margin ${turns}`, () => rule);
}

/**
 * The rule of SGLang's `cache_aware` router. While the engines are out of balance, turns go to the engine with the fewest turns.
 * Engines are out of balance if the most turns on an engine exceed the fewest by more than `balanceAbs`, and are more than
 * `balanceRel` times as many. Otherwise a turn goes to the engine with the longest known prefix: the engine of the program's
 * previous turn or, for a first turn, the engine that had the prompt last. The router compares a prefix that is at least a
 * certain part of the request (`cache_threshold`); shared system prompts are taken to be shorter than that.
 *
 * @param balanceAbs - turns, from 0
 * @param balanceRel - a factor, from 1
 * @throws PolicyError `invalid_input`
 */
export function dualThreshold(balanceAbs: number, balanceRel: number): AgenticScheduler {
  if (!(balanceAbs >= 0)) refuse('invalid_input', 'balanceAbs', 'a number >= 0', balanceAbs);
  if (!(balanceRel >= 1)) refuse('invalid_input', 'balanceRel', 'a number >= 1', balanceRel);
  return ruleScheduler(`dual-${balanceAbs}-${balanceRel}`, `dual ${balanceAbs}/${balanceRel}`, () => {
    const ofPrompt = new Map<string, string>();
    return ({ promptId, last }, engines) => {
      const least = leastLoaded(engines);
      const most = engines.reduce((sum, { inFlight }) => Math.max(sum, inFlight), 0);
      const isUneven = most - least.inFlight > balanceAbs && most > balanceRel * least.inFlight;
      const known = last ?? engines.find(({ engineId }) => engineId === ofPrompt.get(promptId));
      const engine = isUneven ? least : (known ?? least);
      if (last === undefined) ofPrompt.set(promptId, engine.engineId);
      return engine;
    };
  });
}
