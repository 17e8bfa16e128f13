/** A host as a process of its own, so that it can be killed. It stands by until it is told to work. */
import type { HostOptions } from './host-state.ts';
import { runHost, type Surroundings } from './run-host.ts';

/** What it is told. */
export interface Work {
  readonly options: HostOptions;
  readonly surroundings: Surroundings;
}

process.once('message', async ({ options, surroundings }: Work) => {
  await runHost(options, surroundings);
  process.disconnect();
});
process.send!('ready');
