/** `rollflex serve` with the page of what runs in it, as a process that can be killed and started again at the same ports. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type OutgoingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { commandOf } from '../command-line/process.ts';
import { LineClient, opened } from './line-client.ts';

/** The key of servers that get theirs from a file. */
const ownKey = 'a key that stays the same';

/** What the page's server has answered. */
export interface Got {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

export class LiveServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'rollflex-live-'));
  readonly socket = join(this.folder, 'socket');
  readonly #options: readonly string[];
  readonly #command: (args: readonly string[]) => string[];
  #child: ChildProcess | undefined;
  /** The URL of the page, with its key; empty without a page. */
  url = '';
  /** What the server has said on standard error. */
  readonly said: string[] = [];

  private constructor(options: readonly string[], command: (args: readonly string[]) => string[]) {
    this.#options = options;
    this.#command = command;
  }

  /** @param options - of `rollflex serve`, beside those for its socket; `--state-dir` and `--dashboard-key-file` without values have theirs in a folder of the test */
  static async start(options: readonly string[] = ['--dashboard', '0'], command = commandOf): Promise<LiveServer> {
    const server = new LiveServer(options, command);
    await server.start();
    return server;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get key(): string {
    return this.url.split('#key=')[1] ?? ownKey;
  }

  #keyFile(): string {
    const path = join(this.folder, 'key');
    writeFileSync(path, ownKey, { mode: 0o600 });
    return path;
  }

  /** Starts it again, with the page at the port that it had. */
  async start(): Promise<void> {
    const port = this.url === '' ? undefined : String(this.port);
    const options = this.#options.flatMap((one, at, all) => {
      if (one === '--state-dir') return [one, join(this.folder, 'state')];
      if (one === '--dashboard-key-file') return [one, this.#keyFile()];
      return [all[at - 1] === '--dashboard' ? (port ?? one) : one];
    });
    const args = this.#command(['serve', '--socket', this.socket, ...options]);
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the server has left with ${code}: ${this.said.join('; ')}`)));
      createInterface({ input: child.stderr! }).on('line', (line) => {
        this.said.push(line);
        this.url = /(http:\/\/\S+)/.exec(line)?.[1] ?? this.url;
        if (line.includes('listening at')) resolve();
      });
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child!;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }

  /** A connection of a host. */
  async connect(): Promise<LineClient> {
    const socket = await opened({ path: this.socket });
    return new LineClient(socket, socket);
  }

  /** Asks the server of the page, with its key unless told otherwise. */
  get(path: string, headers: OutgoingHttpHeaders = {}, { method = 'GET', body = '' } = {}): Promise<Got> {
    const authorization = `Bearer ${this.key}`;
    return new Promise((resolve, reject) => {
      const sent = request(
        { port: this.port, host: '127.0.0.1', path, method, headers: { authorization, ...headers }, agent: false },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part) => (text += part));
          response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
          response.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
