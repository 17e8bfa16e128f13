/// <reference lib="dom" />
/** The simulator in its worker, as the page sees it: the newest settings go in, results come out once a frame. */
import { shallowRef } from 'vue';
import type { Settings } from './settings/fields.ts';
import type { ViewId } from './settings/views.ts';
import type { FromWorker, Result, ToWorker } from './worker/messages.ts';
import SimulatorWorker from './worker/worker.ts?worker&inline';

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
  const worker = new SimulatorWorker();
  const tell = (message: ToWorker): void => worker.postMessage(message);
  let newest: FromWorker | undefined;

  const show = (): void => {
    const message = newest;
    newest = undefined;
    if (message?.type === 'result') {
      result.value = message;
      failure.value = undefined;
      if (message.seeds[0] === message.seeds[1]) finished.value = message.id;
    } else if (message?.type === 'failed') {
      failure.value = message.message;
      finished.value = message.id;
    }
  };
  worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    if (data.type === 'loaded') {
      loading.value = { ok: true, message: `${data.name}: ${data.what}.`, isSequences: data.isSequences };
    } else if (data.type === 'refused') {
      loading.value = { ok: false, message: data.message, isSequences: false };
    } else {
      // What comes faster than the screen shows is shown once, the newest.
      if (newest === undefined) requestAnimationFrame(show);
      newest = data;
    }
  });
  worker.addEventListener('error', ({ message }) => {
    failure.value = `The simulator stopped: ${message || 'its worker could not be started'}. Load the page again.`;
  });

  return {
    result,
    failure,
    finished,
    requested,
    loading,
    simulate(view: ViewId, settings: Settings): void {
      requested.value += 1;
      tell({ type: 'simulate', id: requested.value, view, settings: { ...settings } });
    },
    load(name: string, text: string): void {
      loading.value = undefined;
      tell({ type: 'load', name, text });
    },
  };
}
