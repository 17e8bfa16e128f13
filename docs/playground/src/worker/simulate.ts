/** Simulates what a view asks for. */
import type { Settings } from '../settings/fields.ts';
import type { PoolsSettings } from '../settings/pools.ts';
import type { SynchronousSettings } from '../settings/synchronous.ts';
import type { ViewId } from '../settings/views.ts';
import type { VlmSettings } from '../settings/vlm.ts';
import type { Keep } from './keep.ts';
import type { Library } from './library.ts';
import type { Shown } from './messages.ts';
import { simulatePoolsView } from './pools.ts';
import { simulateSynchronous } from './synchronous.ts';
import { simulateVlm } from './vlm.ts';

/** Seeds that a result is to have in the end. */
export const seedsOf = (settings: Settings): number => Number(settings.s ?? 1);

/** Results, each better than the one before; nothing in between, where it may be left. The files must be prepared. */
export function simulateView(
  view: ViewId,
  settings: Settings,
  library: Library,
  keep: Keep,
): Generator<{ shown: Shown; seeds: number } | undefined> {
  // Settings come from the fields of their view, which `fromHash` and the controls hold them to.
  switch (view) {
    case 'sync':
      return simulateSynchronous(settings as unknown as SynchronousSettings, library, keep);
    case 'pools':
      return simulatePoolsView(settings as unknown as PoolsSettings, library, keep);
    case 'vlm':
      return simulateVlm(settings as unknown as VlmSettings, library, keep);
  }
}
