/// <reference lib="dom" />
/** The simulators, as the page sees them: the newest settings go in, results come out once a frame. */
import { shallowRef } from 'vue';
import { SimulatorPool } from './pool.ts';
import type { Settings } from './settings/fields.ts';
import type { ViewId } from './settings/views.ts';
import type { FromWorker, Result } from './worker/messages.ts';

type Failed = Extract<FromWorker, { type: 'failed' }>;

/** What became of loading a trace. */
export interface Loading {
  readonly ok: boolean;
  readonly message: string;
  /** Whether it is for the vision-language step alone. */
  readonly isSequences: boolean;
}

export function useSimulation() {
  const result = shallowRef<Result>();
  /** Why the newest settings have no result. */
  const failure = shallowRef<string>();
  /** The newest request that is answered in full. */
  const finished = shallowRef(0);
  const requested = shallowRef(0);
  const loading = shallowRef<Loading>();
  let newest: Result | Failed | undefined;

  const show = (): void => {
    const message = newest!;
    newest = undefined;
    if (message.type === 'failed') {
      failure.value = message.message;
      finished.value = message.id;
      return;
    }
    result.value = message;
    failure.value = undefined;
    if (message.seeds[0] === message.seeds[1]) finished.value = message.id;
  };
  const pool = new SimulatorPool({
    answer(message) {
      // What comes faster than the screen shows is shown once, the newest.
      if (newest === undefined) requestAnimationFrame(show);
      newest = message;
    },
    loaded(message) {
      loading.value =
        message.type === 'loaded'
          ? { ok: true, message: `${message.name}: ${message.what}.`, isSequences: message.isSequences }
          : { ok: false, message: message.message, isSequences: false };
    },
    stopped(message) {
      failure.value = `The simulator stopped: ${message || 'its worker could not be started'}. Load the page again.`;
    },
  });

  return {
    result,
    failure,
    finished,
    requested,
    loading,
    simulate(view: ViewId, settings: Settings): void {
      requested.value = pool.simulate(view, settings);
    },
    load(name: string, text: string): void {
      loading.value = undefined;
      pool.load(name, text);
    },
  };
}
