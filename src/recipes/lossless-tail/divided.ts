/** Divided rollout in lossless-tail: requests that the admission launches get their engines chunk by chunk. */
import { z } from 'zod';
import { withPart } from '../../core/recipe/recipe.ts';
import type { Delivery, Recipient } from '../../core/recipe/spec.ts';
import { dividedRollout } from '../../policies/divided-rollout/index.ts';
import { dividedSettings } from '../../policies/divided-rollout/schema.ts';
import { requestOpened } from '../../schemas/events/chunks.ts';
import type { Message } from '../../schemas/messages.ts';
import { partEvents } from '../part-messages.ts';

/** The switch, with the settings of the part. */
export const dividedSwitch = {
  dividedRollout: z
    .strictObject(dividedSettings)
    .optional()
    .describe('Responses are generated in chunks, by `divided-rollout` with these settings. Absent: whole.'),
};

/** Settings that the admission needs: no request has an engine, and all requests continue when the host restarts. */
export const dividedAdmission = { placement: 'host', onRestart: 'continue' } as const;

/** Refuses settings that contradict the switch. */
export function checkDivided(
  {
    dividedRollout,
    placement,
    onRestart,
    maxStaleness,
  }: { dividedRollout?: unknown; placement: string; onRestart?: string | undefined; maxStaleness: number },
  refuse: (path: string, message: string) => void,
): void {
  if (dividedRollout === undefined) return;
  if (placement === 'policy')
    refuse('placement', '`host` beside `dividedRollout`: chunks have engines, requests have none');
  if (maxStaleness > 0) refuse('maxStaleness', '0 beside `dividedRollout`: its requests begin without tokens');
  if (onRestart === 'launch') refuse('onRestart', '`continue`, or nothing, beside `dividedRollout`');
}

/** Events of the part that come from outside. */
export const chunkEvents = partEvents({ dividedRollout }, [requestOpened.type]);

/** An event for the part; a refused event is skipped, and so is every event while the part is switched off. */
const offer = (event: Message): Delivery => ({ part: 'chunks', event, otherwise: [] });

/** Chooses the parts that get an event, if the part changes the choice; `undefined` otherwise. */
export function dividedDelivery(event: Message, isDivided: boolean): readonly Recipient[] | undefined {
  switch (event.type) {
    // The next try, which the admission launches, finds the room that ended responses leave.
    case 'response.completed':
    case 'response.failed':
    case 'request.aborted':
      return [offer(event), 'admission'];
    // Chunks go on elsewhere, and no request fails.
    case 'engine.added':
    case 'engine.drained':
    case 'engine.lost':
    case 'engines.changed':
      return isDivided ? ['chunks'] : undefined;
    default:
      return undefined;
  }
}

/** Routes of the admission's decisions to the part. */
export const dividedRoutes = {
  'request.launch': {
    to: ({ at, requestId, promptId }: Message<'request.launch'>): Delivery[] => {
      const opened: Message<'request.opened'> = { type: 'request.opened', at, requestId, promptId };
      return [{ part: 'chunks', event: opened }];
    },
  },
  'request.expired': {
    to: ({ at, requestId }: Message<'request.expired'>): Delivery[] => [
      offer({ type: 'request.aborted', at, requestId }),
    ],
  },
};

/** Adds the part to a state that was saved without it. */
export const withChunks = withPart('chunks', dividedRollout, {});
