/** Several clients use the sessions of one server at once, while both are stopped, cut off and killed; all is checked. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seeded } from '../basics/numbers.ts';
import { type Checked, checkSession, nothingChecked } from './history.ts';
import { type Address, History, HistoryClient } from './history-clients.ts';
import { SharedSession } from './history-session.ts';
import { listening } from './line-client.ts';

/** What may befall a run. */
export const troubles = [
  'server stopped',
  'server stopped, and calls sent again elsewhere',
  'server killed',
  'client stopped',
  'client killed',
  'connection broken',
  'line cut off',
  'left without waiting',
  'half-closed',
] as const;
export type Trouble = (typeof troubles)[number];

export interface HistoryRun {
  /** How to start `rollflex`: the program and what stands before `serve`. */
  readonly command: readonly [string, ...string[]];
  /** A folder of this run, with a short path. */
  readonly folder: string;
  /** The file of the token and the token: over TCP; a Unix socket if absent. */
  readonly token?: { readonly file: string; readonly token: string };
  readonly fsync: 'always' | 'interval';
  readonly clients: number;
  /** Sessions in use at once. */
  readonly sessions: number;
  /** Events of each session. */
  readonly events: number;
  readonly troubles: number;
  readonly seed: number;
}

export interface HistoryFigures extends Checked {
  readonly troubles: Readonly<Record<Trouble, number>>;
}

/** Runs until so many troubles have come and each session is at its end; throws where a session is not linearizable. */
export const historyRun = (options: HistoryRun): Promise<HistoryFigures> => new Run(options).run();

/** The server, its clients, and the sessions that they share. */
export class Run {
  readonly #options: HistoryRun;
  readonly random: () => number;
  readonly #history = new History();
  readonly #checked = nothingChecked();
  readonly #troubles = Object.fromEntries(troubles.map((one) => [one, 0])) as Record<Trouble, number>;
  readonly #clients: HistoryClient[] = [];
  #server!: ChildProcess;
  #number = 0;
  #address: Address | undefined;
  #started = 0;
  #left: number;
  #isOver = false;
  #made = 0;
  #wrong: Error | undefined;
  #errors = '';
  /** The server that is to end. */
  #ending: ChildProcess | undefined;

  constructor(options: HistoryRun) {
    this.#options = options;
    this.random = seeded(options.seed + 1);
    this.#left = options.troubles;
  }

  /** Whether calls are to be sent twice, on two connections. */
  sendsTwice = false;

  async run(): Promise<HistoryFigures> {
    try {
      await this.#start();
      for (let n = 0; n < this.#options.clients; n += 1) this.#addClient(n);
      const sessions = Array.from({ length: this.#options.sessions }, () => this.#useSessions());
      await Promise.all([...sessions, this.#trouble()]);
      await this.#stop();
      if (this.#wrong !== undefined) throw this.#wrong;
    } finally {
      this.#isOver = true;
      this.#ending = this.#server;
      this.#server.kill('SIGKILL');
      for (const { child } of this.#clients) child.kill('SIGKILL');
    }
    return { ...this.#checked, troubles: this.#troubles };
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!;
  }

  /** A client that is connected, any that is wanted. */
  async client(isWanted: (client: HistoryClient) => boolean = () => true): Promise<HistoryClient> {
    for (;;) {
      if (this.#wrong !== undefined) throw this.#wrong;
      if (this.#isOver) throw new Error('the run is over');
      const found = this.#clients.filter((one) => one.isConnected && isWanted(one));
      if (found.length > 0) return this.one(found);
      await wait(2);
    }
  }

  /** Whether troubles are still to come. */
  get goesOn(): boolean {
    return this.#left > 0;
  }

  async #useSessions(): Promise<void> {
    do {
      const session = new SharedSession(this, (this.#started += 1), this.#options.events);
      this.#history.begin(session.id);
      await session.use();
      const ofSession = this.#history.take(session.id);
      checkSession(session.id, ofSession.calls, ofSession.streamed, this.#checked);
    } while (this.goesOn);
  }

  async #start(): Promise<void> {
    const { command, folder, fsync, token } = this.#options;
    const [program, ...before] = command;
    this.#number += 1;
    const path = join(folder, `s${this.#number}`);
    const at = token === undefined ? ['--socket', path] : ['--port', '0', '--token-file', token.file];
    const kept = ['--state-dir', join(folder, 'state'), '--fsync', fsync, '--snapshot-events', '60'];
    const server = spawn(program, [...before, 'serve', ...at, ...kept], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#server = server;
    server.stderr.on('data', (text) => (this.#errors += text));
    server.once('exit', (code) => {
      if (server !== this.#ending) this.#wrong ??= new Error(`the server ended with ${code}: ${this.#errors}`);
    });
    const address = await listening(server);
    this.#address = token === undefined ? { path } : { port: Number(address.split(':').pop()) };
    for (const one of this.#clients) this.#connect(one);
  }

  async #stop(): Promise<void> {
    this.#isOver = true;
    this.#ending = this.#server;
    const over = new Promise((resolve) => this.#server.once('exit', resolve));
    this.#server.kill('SIGTERM');
    const code = await over;
    if (code !== 0) throw new Error(`the server ended with ${code}`);
  }

  #addClient(at: number): void {
    const client = new HistoryClient(`client-${(this.#made += 1)}`, this.#history, (error) => (this.#wrong ??= error));
    this.#clients[at] = client;
    client.onGone = () => {
      if (this.#isOver) return;
      if (client.isDead) {
        if (this.#clients[at] === client) this.#addClient(at);
      } else if (this.#address !== undefined) setTimeout(() => this.#connect(client), 5);
    };
    this.#connect(client);
  }

  #connect(client: HistoryClient): void {
    if (this.#address === undefined || this.#isOver) return;
    client.connect(this.#address, this.#options.token?.token, this.#number);
  }

  async #trouble(): Promise<void> {
    // The plan follows from the seed alone; when it comes, and to which client, does not.
    const planned = seeded(this.#options.seed);
    const due: Trouble[] = [];
    while (this.#left > 0) {
      await wait(10 + planned() * 60);
      // Each comes once before one comes again.
      if (due.length === 0) due.push(...troubles);
      const [trouble] = due.splice(Math.floor(planned() * due.length), 1) as [Trouble];
      await this.#make(trouble);
      this.#troubles[trouble] += 1;
      this.#left -= 1;
    }
  }

  async #make(trouble: Trouble): Promise<void> {
    const client = this.one(this.#clients);
    switch (trouble) {
      case 'server stopped':
        return this.#stopServer(client);
      case 'server stopped, and calls sent again elsewhere':
        this.sendsTwice = true;
        await this.#stopServer(client);
        this.sendsTwice = false;
        return;
      case 'server killed': {
        const gone = new Promise((resolve) => this.#server.once('exit', resolve));
        this.#address = undefined;
        this.#ending = this.#server;
        this.#server.kill('SIGKILL');
        await gone;
        this.#history.ended(this.#number);
        return this.#start();
      }
      case 'client stopped':
        client.child.kill('SIGSTOP');
        await wait(this.below(150));
        client.child.kill('SIGCONT');
        return;
      case 'client killed':
        client.child.kill('SIGKILL');
        return;
      case 'connection broken':
        return client.break();
      case 'line cut off':
        client.next = 'end in the middle';
        return;
      case 'left without waiting':
        client.next = 'leave';
        return;
      case 'half-closed':
        client.next = 'half-close';
    }
  }

  async #stopServer(client: HistoryClient): Promise<void> {
    this.#server.kill('SIGSTOP');
    await wait(this.below(80));
    // What was sent on a connection that is gone when the server goes on comes all the same.
    if (this.random() < 0.6) client.break();
    await wait(this.below(40));
    this.#server.kill('SIGCONT');
  }
}
