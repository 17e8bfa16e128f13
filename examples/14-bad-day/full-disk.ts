/** A policy server whose disk is full, for which a limit of the size of files stands in. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { command, explainFile } from './explain.ts';
import type { Told } from './outside.ts';

const config = { promptsPerRound: 8, responsesPerPrompt: 1, promptSpeculation: 1 };
const rounds = 8;

/** A server on a disk with room for so many blocks of 512 bytes, or for all. */
class Server {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  lastWords = '';
  #calls = 0;

  constructor(folder: string, blocks: number | 'unlimited') {
    const limited = `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`;
    const places = ['--state-dir', join(folder, 'state'), '--log-dir', join(folder, 'log')];
    const serve = [...command, 'serve', '--stdio', ...places];
    this.#child = spawn('sh', ['-c', limited, 'sh', process.execPath, ...serve]);
    this.#child.stdin!.on('error', () => undefined);
    this.#child.stderr!.on('data', (text) => (this.lastWords += text));
    this.#answers = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  /** The result of a call; undefined: the server is gone. */
  async call(method: string, params: object): Promise<{ decisions: Told[]; seq: number } | undefined> {
    this.#calls += 1;
    this.#child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.#calls, method, params })}\n`);
    const { value, done } = await this.#answers.next();
    if (done) return undefined;
    const { result, error } = JSON.parse(value);
    assert.equal(error, undefined);
    return result;
  }

  async stop(): Promise<void> {
    this.#child.stdin!.end();
    if (this.#child.exitCode === null) await new Promise((ended) => this.#child.once('exit', ended));
  }
}

export async function fullDisk(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rollflex-full-disk-'));
  const trained: string[] = [];
  let server = new Server(folder, 32);
  let lines: string[] = [];
  let sent = 0;
  const open = () =>
    server.call('session.open', { session: 'job', policy: 'tail-batching', config, onExisting: 'attach' });
  /** Sends an event. If the server is gone the next one gets it, under its number: none is applied twice. */
  const send = async (event: object): Promise<Told[]> => {
    const params = { session: 'job', producer: 'host', firstSeq: sent, events: [event] };
    let answer = await server.call('session.send', params);
    if (answer === undefined) {
      await server.stop();
      lines = [
        ...server.lastWords.trim().replaceAll(`${folder}/`, '').split('\n'),
        await explainFile(join(folder, 'log')),
      ];
      server = new Server(folder, 'unlimited');
      await open();
      answer = await server.call('session.send', params);
    }
    sent += 1;
    return answer!.decisions;
  };
  try {
    await open();
    for (let round = 0; round < rounds; round += 1) {
      const roundId = `r${round}`;
      await send({ type: 'round.requested', at: 60 * round, roundId, weightVersion: round });
      const prompts = Array.from({ length: 8 }, (_, k) => ({ promptId: `p${8 * round + k}` }));
      for (const { type, requestId } of await send({ type: 'prompts.supplied', at: 60 * round, roundId, prompts })) {
        if (type !== 'request.launch') continue;
        const ends = await send({ type: 'response.completed', at: 60 * round + 20, requestId, tokens: 500 });
        const done = ends.find((one) => one.type === 'round.completed');
        trained.push(...(done?.prompts ?? []).map(({ promptId }) => promptId));
      }
    }
    await server.stop();
  } finally {
    await rm(folder, { recursive: true });
  }
  assert.equal(new Set(trained).size, trained.length, 'no prompt is trained twice');
  assert.equal(trained.length, 8 * rounds, 'no prompt is lost');
  const said = lines.map((line) => `  ${line.replace(/^rollflex: /, 'server: ')}`);
  return ['The disk of the server is full', ...said, `  ${trained.length} prompts trained, 0 given up`].join('\n');
}
