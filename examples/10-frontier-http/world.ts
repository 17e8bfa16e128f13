/** What outlives a host: an inference engine and a trainer, each behind HTTP, and a folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MockEngine, startMockEngine } from 'rollflex/mock-engine';
import type { Work } from './host-process.ts';
import type { HostOptions } from './host-state.ts';
import type { Surroundings } from './run-host.ts';
import { Trainer } from './trainer.ts';
import { serveTrainer } from './trainer-server.ts';
import { cost, maxNewTokens, secondsPerToken, timeScale, workload } from './workload.ts';

/** An engine and a trainer that run in this process, and where a host finds them. */
export interface World extends Surroundings {
  readonly engine: MockEngine;
  readonly trainer: Trainer;
  close(): Promise<void>;
}

export const recordOf = (folder: string): string => join(folder, 'steps.jsonl');

/** Starts a world whose files are in a folder, with so many simulated seconds in one of the wall clock. */
export async function openWorld(folder: string, speed = timeScale): Promise<World> {
  // The engine does not find out by itself that a host is gone: what it left is for the next one to abort.
  const options = { speed, streamInterval: 64, disconnectSeconds: 1e6 };
  const mock = await startMockEngine({ cost, workload, options });
  const engine = mock.cluster.engines[0]!;
  engine.weightVersion = '1';
  const trainer = await Trainer.open(recordOf(folder), { secondsPerToken, timeScale: speed });
  const trainerServer = await serveTrainer(trainer);
  return {
    folder,
    engineUrl: mock.engineUrls[0]!,
    trainerUrl: trainerServer.url,
    maxNewTokens,
    engine,
    trainer,
    close: async () => {
      await mock.stop();
      await trainerServer.close();
      await trainer.close();
    },
  };
}

/** A host as a process of its own. */
export class HostProcess {
  readonly #child: ChildProcess;
  readonly #ready: Promise<unknown>;
  readonly #exit: Promise<unknown[]>;

  /** Starts the process; it stands by. */
  constructor() {
    const program = fileURLToPath(new URL('host-process.ts', import.meta.url));
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    this.#child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: [...stdio] });
    this.#ready = once(this.#child, 'message');
    this.#exit = once(this.#child, 'exit');
  }

  /** Waits until it stands by. */
  async ready(): Promise<void> {
    await this.#ready;
  }

  /** Sets it to work. */
  work(options: HostOptions, { folder, engineUrl, trainerUrl, maxNewTokens: most }: World): void {
    const work: Work = { options, surroundings: { folder, engineUrl, trainerUrl, maxNewTokens: most } };
    this.#child.send(work);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Waits for its end. Gives its exit code, or the signal that has killed it. */
  async end(): Promise<unknown> {
    const [code, signal] = await this.#exit;
    return signal ?? code;
  }
}
