/** A host with its files, and its connections to an engine and a trainer. */
import { join } from 'node:path';
import { readSaved } from './durable.ts';
import { Host } from './host.ts';
import { bootAfter, type HostOptions, type HostState } from './host-state.ts';
import { Records, readRecords } from './records.ts';
import { SglangClient } from './sglang-client.ts';
import type { Body, Outside, Task } from './tasks.ts';
import { TrainerClient } from './trainer-server.ts';

/** Where a host works. */
export interface Surroundings {
  readonly folder: string;
  readonly engineUrl: string;
  readonly trainerUrl: string;
  /** Most tokens of a response. */
  readonly maxNewTokens: number;
}

/** Its files in a folder. */
export const filesOf = (folder: string): { state: string; bodies: string } => ({
  state: join(folder, 'host.json'),
  bodies: join(folder, 'responses.jsonl'),
});

/** Runs a host on what is in the folder, to the end of the last round. */
export async function runHost(options: HostOptions, surroundings: Surroundings): Promise<void> {
  const { folder, engineUrl, trainerUrl, maxNewTokens } = surroundings;
  const files = filesOf(folder);
  const left = readSaved<HostState, Task>(files.state);
  const texts = new Map(readRecords<Body>(files.bodies).map((one) => [one.requestId, one.text]));
  const bodies = await Records.open<Body>(files.bodies);
  const outside: Outside = {
    engine: new SglangClient(engineUrl),
    trainer: new TrainerClient(trainerUrl, bootAfter(left)),
    bodies: {
      append: (body) => {
        texts.set(body.requestId, body.text);
        return bodies.append(body);
      },
    },
    textOf: (requestId) => texts.get(requestId)!,
    maxNewTokens,
    retrySeconds: 0.1,
  };
  await new Host(options, files.state, outside, left).run();
  await bodies.close();
}
