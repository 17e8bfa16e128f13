/** `rollflex serve` as a process of its own, with its sessions on disk. It may be killed; another one goes on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

// `node_modules/rollflex/dist/cli.js` where the package is installed; a fresh clone has only its sources.
const program = process.env.ROLLFLEX_COMMAND;
const sources = ['--import', 'tsx', fileURLToPath(new URL('../../src/cli/bin.ts', import.meta.url))];
const command = [...(program === undefined ? sources : [program]), 'serve'];

/** A server that listens. */
export class PolicyServer {
  readonly socket: string;
  readonly metricsUrl: string;
  readonly #child: ChildProcess;

  private constructor(socket: string, metricsUrl: string, child: ChildProcess) {
    this.socket = socket;
    this.metricsUrl = metricsUrl;
    this.#child = child;
  }

  /** Starts one on a socket in the folder, with what an earlier one has left there. */
  static async start(folder: string): Promise<PolicyServer> {
    const socket = join(folder, 'policy.sock');
    const options = ['--socket', socket, '--state-dir', join(folder, 'sessions'), '--metrics-port', '0'];
    const child = spawn(process.execPath, [...command, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
    let metricsUrl = '';
    for await (const line of createInterface({ input: child.stderr })) {
      metricsUrl = /metrics at (\S+)/.exec(line)?.[1] ?? metricsUrl;
      if (line.includes('listening at')) break;
      if (/error|refused/i.test(line)) throw new Error(line);
    }
    if (metricsUrl === '') throw new Error('the server did not start');
    child.stderr.resume();
    return new PolicyServer(socket, metricsUrl, child);
  }

  /** What it counts, by name: the sum over the labels of each. */
  async metrics(): Promise<Map<string, number>> {
    const text = await (await fetch(this.metricsUrl)).text();
    const sums = new Map<string, number>();
    for (const [, name, value] of text.matchAll(/^(\w+)(?:\{[^}]*\})? (\S+)$/gm)) {
      sums.set(name!, (sums.get(name!) ?? 0) + Number(value));
    }
    return sums;
  }

  /** Kills it, in the middle of whatever it does. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill(signal);
    await once(this.#child, 'exit');
  }
}
