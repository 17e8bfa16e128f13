/** A vLLM on this machine's processors, with a tiny model of random weights, in the environment of `npm run test:real`. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = join(root, '.cache', 'real', 'vllm', 'bin');

/** Sequences that the engine runs at once. */
export const mostRunning = 16;

const environment = {
  HF_HUB_OFFLINE: '1',
  OMP_NUM_THREADS: '1',
  VLLM_CPU_KVCACHE_SPACE: '1',
  VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  VLLM_NO_USAGE_STATS: '1',
};
const options =
  `--dtype float32 --enforce-eager --max-model-len 4096 --max-num-seqs ${mostRunning} ` +
  '--no-enable-prefix-caching --served-model-name tiny --uvicorn-log-level warning';

const patienceSeconds = 600;

/** A server that runs. */
export interface Server {
  readonly url: string;
  /** The version that it says it is. */
  readonly version: string;
  /** The `config.json` of its model. */
  readonly config: unknown;
  stop(): void;
}

/**
 * Starts the server, and waits until it answers.
 *
 * @throws Error where the environment is missing, or the server ends or does not answer in ten minutes, with the end of its log
 */
export async function startServer(port = 18_431): Promise<Server> {
  if (!existsSync(join(bin, 'vllm'))) throw new Error('run `npm run test:real -- vllm` first: it installs vLLM');
  const folder = mkdtempSync(join(tmpdir(), 'vllm-'));
  const model = join(folder, 'model');
  mkdirSync(model);
  const made = `from pathlib import Path; from tiny_model import make_tiny_model; make_tiny_model(Path(${JSON.stringify(model)}))`;
  const env = { ...process.env, ...environment, PYTHONPATH: join(root, 'python', 'tests') };
  if (spawnSync(join(bin, 'python'), ['-B', '-c', made], { env, stdio: 'inherit' }).status !== 0)
    throw new Error('the model was not made');
  const log = join(folder, 'log');
  const output = openSync(log, 'w');
  const server = spawn(join(bin, 'vllm'), ['serve', model, ...options.split(' '), '--port', String(port)], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', output, output],
    // A group of its own, so that all of its processes end with it.
    detached: true,
  });
  const stop = (): void => {
    if (server.pid !== undefined) process.kill(-server.pid, 'SIGKILL');
  };
  const url = `http://127.0.0.1:${port}`;
  const until = Date.now() + 1000 * patienceSeconds;
  while (!(await isUp(url))) {
    if (server.exitCode !== null || Date.now() > until) {
      if (server.exitCode === null) stop();
      throw new Error(`vllm does not start: ${readFileSync(log, 'utf8').slice(-3000)}`);
    }
    await pause(1000);
  }
  const { version } = (await (await fetch(`${url}/version`)).json()) as { version: string };
  return { url, version, config: JSON.parse(readFileSync(join(model, 'config.json'), 'utf8')), stop };
}

async function isUp(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}
