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
    const serve = [...command, 'serve', '--stdio', '--state-dir', 'state', '--log-dir', 'log'];
    this.#child = spawn('sh', ['-c', limited, 'sh', process.execPath, ...serve], { cwd: folder });
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
  let said = '';
  let explained = '';
  let sent = 0;
  const open = () =>
    server.call('session.open', { session: 'job', policy: 'tail-batching', config, onExisting: 'attach' });
  /** Sends events; to another server if the first is gone, under the same number: what was applied is not applied twice. */
  const send = async (events: object[]): Promise<Told[]> => {
    const params = { session: 'job', producer: 'host', firstSeq: sent, events };
    let answer = await server.call('session.send', params);
    if (answer === undefined) {
      await server.stop();
      said = server.lastWords;
      explained = await explainFile(join(folder, 'log'));
      server = new Server(folder, 'unlimited');
      await open();
      answer = await server.call('session.send', params);
    }
    sent += events.length;
    return answer!.decisions;
  };
  try {
    await open();
    for (let round = 0; round < rounds; round += 1) {
      const at = round * 60;
      const roundId = `r${round}`;
      await send([{ type: 'round.requested', at, roundId, weightVersion: round }]);
      const prompts = Array.from({ length: 8 }, (_, k) => ({ promptId: `p${round * 8 + k}` }));
      const launched = await send([{ type: 'prompts.supplied', at, roundId, prompts }]);
      for (const { type, requestId } of launched) {
        if (type !== 'request.launch') continue;
        const decisions = await send([{ type: 'response.completed', at: at + 20, requestId, tokens: 500 }]);
        const done = decisions.find((one) => one.type === 'round.completed');
        trained.push(...(done?.prompts ?? []).map(({ promptId }) => promptId));
      }
    }
    await server.stop();
  } finally {
    await rm(folder, { recursive: true });
  }
  assert.equal(new Set(trained).size, trained.length, 'no prompt is trained twice');
  return [said, explained, trained.length].join('\n');
}
