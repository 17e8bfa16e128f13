/** Servers that cases of the wire are played against: in this process, and `rollflex serve` in one of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyDefinition } from '../../../src/core/machine/definition.ts';
import { createRegistry } from '../../../src/core/machine/registry.ts';
import { registry } from '../../../src/registry.ts';
import { RpcServer } from '../../../src/rpc/index.ts';
import { asUsersModule, commandOf, root } from '../command-line/process.ts';
import { HandClock } from '../servers/clocked.ts';
import { Inbox, type Peer, type Playground, type ServerSetting } from './cases.ts';

const wrongModule = join(root, 'test/wire/wrong-policies.mjs');
const { wrongPolicies } = (await import(wrongModule)) as { wrongPolicies: readonly AnyDefinition[] };

/** A server in this process, whose clock is moved by hand. */
export function inProcess({ limits, token, wrongPolicies: wrong }: ServerSetting): Playground {
  const clock = new HandClock();
  const server = new RpcServer({
    clock,
    limits: limits ?? {},
    ...(token === undefined ? {} : { isToken: (given: string) => given === token }),
    ...(wrong ? { registry: createRegistry([...registry.definitions, ...wrongPolicies]) as never } : {}),
  });
  return {
    connect() {
      const inbox = new Inbox();
      const gone = () => {
        served?.close();
        inbox.end();
      };
      const served = server.connect({
        write: (text) => inbox.text(text),
        waiting: 0,
        drained: () => Promise.resolve(),
        destroy: gone,
      });
      const peer: Peer = {
        send: (bytes) => void served?.receive(bytes),
        end: () => void served?.finish().then(gone),
        destroy: gone,
        next: (kind) => inbox.next(kind),
        closed: () => inbox.closed(),
      };
      return Promise.resolve(peer);
    },
    async pass(seconds) {
      clock.move(seconds);
      await sleep(0);
    },
  };
}

const pass = (seconds: number): Promise<void> => sleep(seconds * 1000 + 100);

/** The options of `rollflex serve`. */
function optionsOf({ limits = {}, token, wrongPolicies: wrong }: ServerSetting, folder: string): string[] {
  const args = Object.entries(limits).flatMap(([name, value]) => [
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    String(value),
  ]);
  if (token !== undefined) {
    const file = join(folder, 'token');
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    args.push('--token-file', file);
  }
  if (wrong) args.push('--policies', asUsersModule(folder, wrongModule));
  return args;
}

const start = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, commandOf(['serve', ...args]), { cwd: root, stdio: ['pipe', 'pipe', 'pipe'] });

/** A process that can be ended. */
export interface Running extends Playground {
  end(): Promise<void>;
}

/** `rollflex serve --socket`: any number of connections. */
export async function overSocket(setting: ServerSetting, folder: string, name: string): Promise<Running> {
  const path = join(folder, `${name}.sock`);
  const child = start(['--socket', path, ...optionsOf(setting, folder)]);
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.on('exit', () => reject(new Error(said)));
    child.stderr!.on('data', (text) => {
      said += text;
      if (said.includes('listening')) resolve();
    });
  });
  const exit = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  return {
    connect: () =>
      new Promise((resolve, reject) => {
        const inbox = new Inbox();
        const socket = connect({ path, allowHalfOpen: true });
        socket.setEncoding('utf8');
        socket.on('data', (text) => inbox.text(String(text)));
        socket.on('end', () => inbox.end());
        socket.on('close', () => inbox.end());
        socket.on('error', reject);
        socket.on('connect', () =>
          resolve({
            send: (bytes) => void socket.write(bytes),
            end: () => void socket.end(),
            destroy: () => void socket.destroy(),
            next: (kind) => inbox.next(kind),
            closed: () => inbox.closed().then(() => void socket.destroy()),
          }),
        );
      }),
    pass,
    end() {
      child.kill('SIGTERM');
      return exit;
    },
  };
}

/** `rollflex serve --stdio`: one connection. */
export function overStdio(setting: ServerSetting, folder: string): Running {
  const child = start(['--stdio', ...optionsOf(setting, folder)]);
  const inbox = new Inbox();
  child.stdout!.setEncoding('utf8').on('data', (text) => inbox.text(String(text)));
  const exit = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  child.stdout!.on('end', () => inbox.end());
  return {
    connect: () =>
      Promise.resolve({
        send: (bytes) => void child.stdin!.write(bytes),
        end: () => void child.stdin!.end(),
        destroy: () => void child.kill('SIGKILL'),
        next: (kind) => inbox.next(kind),
        closed: () => inbox.closed(),
      }),
    pass,
    end() {
      child.kill('SIGTERM');
      return exit;
    },
  };
}
