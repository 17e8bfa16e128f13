/// <reference lib="dom" />
/** The simulators, as the page sees them: the newest settings go in, results come out once a frame. */
import { shallowRef } from 'vue';
import { SimulatorPool } from './pool.ts';
import type { Settings } from './settings/fields.ts';
import type { ViewId } from './settings/views.ts';
import type { FromWorker, Load, Result } from './worker/messages.ts';

type Failed = Extract<FromWorker, { type: 'failed' }>;

/** What became of loading a trace. */
export interface Loading {
  readonly ok: boolean;
  readonly message: string;
  /** Whether it is for the vision-language step alone. */
  readonly isSequences: boolean;
  /** Whether an estimate of the tokens of texts would make it readable. */
  readonly needsTokens: boolean;
}

/** Why settings have no result. */
export interface Failure {
  readonly message: string;
  /** Where it is, by the names of the library; empty for none of the settings. */
  readonly path: string;
}

export function useSimulation() {
  const result = shallowRef<Result>();
  /** Why the newest settings have no result. */
  const failure = shallowRef<Failure>();
  /** The newest request that is answered in full. */
  const finished = shallowRef(0);
  const requested = shallowRef(0);
  const loading = shallowRef<Loading>();
  /** What is being read. */
  const reading = shallowRef<string>();
  let files: Load['files'] = [];
  let newest: Result | Failed | undefined;

  const show = (): void => {
    const message = newest!;
    newest = undefined;
    if (message.type === 'failed') {
      failure.value = message;
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
      reading.value = undefined;
      loading.value =
        message.type === 'loaded'
          ? { ...message, ok: true, message: `${message.name}: ${message.what}.`, needsTokens: false }
          : { ...message, ok: false, isSequences: false };
    },
    stopped(message) {
      const why = message || 'its worker could not be started';
      failure.value = { message: `The simulator stopped: ${why}. Load the page again.`, path: '' };
      finished.value = requested.value;
      reading.value = undefined;
    },
  });

  return {
    result,
    failure,
    finished,
    requested,
    loading,
    reading,
    simulate(view: ViewId, settings: Settings): void {
      requested.value = pool.simulate(view, settings);
    },
    /** Reads files; without any the last ones again, with an estimate. */
    load(chosen: Load['files'] | undefined, tokensPerCharacter?: number): void {
      files = chosen ?? files;
      loading.value = undefined;
      reading.value = files.map(({ name }) => name).join(', ');
      pool.load({ type: 'load', files, ...(tokensPerCharacter === undefined ? {} : { tokensPerCharacter }) });
    },
  };
}
