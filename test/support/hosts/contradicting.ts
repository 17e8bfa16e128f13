/**
 * What hosts do that an `arbitrary` need not think of: engines that contradict what they were asked for, ends that nobody asked for,
 * clocks that jump or begin anew, restarts with other weights, odd texts.
 */

import type { Choices } from '../../../src/core/generators/choices.ts';
import type { AnyEvent } from '../../../src/core/machine/definition.ts';
import type { WithEvents } from '../../../src/testing/runs/tested.ts';
import { isObject } from '../../../src/testing/runs/values.ts';

/** By how much a clock jumps, in seconds: what is awaited is overdue then, and a clock that begins anew is known as one. */
const jumpSeconds = 10_000;

/** Returns the latest version of the weights that a policy, or a part of a recipe, knows; 0 if it knows none. */
function versionIn(state: unknown): number {
  if (!isObject(state)) return 0;
  const { weightVersion, parts } = state;
  if (typeof weightVersion === 'number') return weightVersion;
  return isObject(parts) ? Math.max(0, ...Object.values(parts).map(versionIn)) : 0;
}

/** Draws versions around the latest one, ascending. */
function versionsAround(latest: number, choices: Choices): number[] {
  const first = Math.max(0, latest + choices.below(7) - 4);
  return choices.below(3) > 0 ? [first] : [first, first + 1 + choices.below(3)];
}

/** Texts that a careless program sends: longer than any bound, and cut within a character. */
const texts = ['no space', 'x'.repeat(3000), `${'y'.repeat(1999)}\ud83d`, '\udc00'];

/** Returns likely events with such events among them: the definition's own, in one of a few of which something is wrong. */
export function contradicting({ definition, arbitrary }: WithEvents): WithEvents {
  const fields = new Map<string, object>(
    definition.events.map(({ type, schema }) => [type, (schema as unknown as { shape?: object }).shape ?? {}]),
  );
  const takes = (type: string, field = 'type'): boolean => Object.hasOwn(fields.get(type) ?? {}, field);

  const troubled = (event: AnyEvent, state: unknown, choices: Choices): AnyEvent => {
    const { requestId, tokens } = event as AnyEvent & { requestId?: string; tokens?: number };
    switch (event.type) {
      case 'response.completed':
        if (choices.below(6) === 0 && takes('request.aborted'))
          return { type: 'request.aborted', at: event.at, requestId, tokens } as AnyEvent;
        if (!takes(event.type, 'weightVersions') || choices.below(3) > 0) return event;
        return { ...event, weightVersions: versionsAround(versionIn(state), choices) } as AnyEvent;
      case 'host.restarted': {
        const at = choices.below(3) === 0 ? choices.below(5) : event.at;
        if (!takes(event.type, 'weightVersion') || choices.below(2) === 0) return { ...event, at };
        const [weightVersion] = versionsAround(versionIn(state), choices);
        return { ...event, at, weightVersion } as AnyEvent;
      }
      case 'reward.ready':
        if (choices.below(8) > 0 || !takes('reward.failed')) return event;
        return { type: 'reward.failed', at: event.at, requestId, kind: 'judge' } as AnyEvent;
      case 'engine.lost':
        if (choices.below(3) > 0 || !takes('engine.drained')) return event;
        return { ...event, type: 'engine.drained' };
      default:
        if (!takes(event.type, 'message') || choices.below(4) > 0) return event;
        return { ...event, message: texts[choices.below(texts.length)] } as AnyEvent;
    }
  };

  return {
    definition,
    arbitrary: (state, choices) => {
      const event = troubled(arbitrary(state, choices), state, choices);
      return choices.below(200) === 0 ? { ...event, at: event.at + jumpSeconds } : event;
    },
  };
}
