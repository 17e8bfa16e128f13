/** Mock engines behind HTTP in a test, and a plain client of them. */
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { MockEngineInput } from '../../../src/mock-engine/options.ts';
import { type RunningMockEngine, startMockEngine } from '../../../src/mock-engine/start.ts';
import type { CostModel } from '../../../src/sim/models/cost-model.ts';
import { costOf, countingWorkload, promptly } from './cluster.ts';

/** JSON as a test reads it. */
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
export type Answer = any;

/** What came back. */
export interface Reply {
  readonly status: number;
  readonly body: Answer;
  readonly headers: IncomingMessage['headers'];
}

/** A call that is under way. */
export interface Call {
  readonly reply: Promise<Reply>;
  readonly request: ClientRequest;
}

/** Engines that listen, at a clock that stands until it is moved unless a speed is given. */
export class MockHttp {
  readonly running: RunningMockEngine;

  private constructor(running: RunningMockEngine) {
    this.running = running;
  }

  static async start(options: MockEngineInput = {}, cost: Partial<CostModel> = {}): Promise<MockHttp> {
    const running = await startMockEngine({
      cost: costOf(cost),
      workload: countingWorkload,
      options: { ...promptly, speed: 0, ...options },
    });
    return new MockHttp(running);
  }

  get engine() {
    return this.running.cluster.engines[0]!;
  }

  /** Sends a request to the first engine, or to another address, without waiting for the answer. */
  send(method: string, path: string, body?: unknown, url = this.running.engineUrls[0]!, headers = {}): Call {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const request = httpRequest(new URL(path, url), { method, headers: { ...json, ...headers }, agent: false });
    // Once there is a response, its own errors say the same.
    request.on('error', () => {});
    const reply = once(request, 'response').then(async ([response]: IncomingMessage[]): Promise<Reply> => {
      let text = '';
      response!.setEncoding('utf8');
      for await (const part of response!) text += part;
      const isJson = response!.headers['content-type']?.startsWith('application/json');
      return { status: response!.statusCode!, body: isJson ? JSON.parse(text) : text, headers: response!.headers };
    });
    reply.catch(() => {});
    request.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
    return { reply, request };
  }

  post(path: string, body?: unknown, url?: string, headers?: Record<string, string>): Promise<Reply> {
    return this.send('POST', path, body, url, headers).reply;
  }

  get(path: string, url?: string): Promise<Reply> {
    return this.send('GET', path, undefined, url).reply;
  }

  /** Waits until something holds, a few seconds at most. */
  async until(holds: () => boolean): Promise<void> {
    for (let tries = 0; !holds(); tries += 1) {
      if (tries > 2000) throw new Error(`it did not come to ${holds}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  /** Waits until the engines have so many requests, wherever they are. */
  have(requests: number): Promise<void> {
    return this.until(
      () => this.running.cluster.engines.reduce((sum, one) => sum + one.requestIds.length, 0) === requests,
    );
  }

  /** Moves time by hand. */
  async advance(seconds: number): Promise<void> {
    const { status, body } = await this.post('/clock', { advanceSeconds: seconds }, this.running.url);
    if (status !== 200) throw new Error(JSON.stringify(body));
  }
}

/** The data of a whole stream of server-sent events, by the rules of the HTML standard: events end with an empty line. */
export function eventsIn(text: string): string[] {
  const events: string[] = [];
  let data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '') {
      if (data.length > 0) events.push(data.join('\n'));
      data = [];
    } else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (!line.startsWith(':')) throw new Error(`not a line of a stream: ${line}`);
  }
  return events;
}

/** The JSON of a stream, which must end with `[DONE]`. */
export function chunksIn(text: string): Answer[] {
  const events = eventsIn(text);
  if (events.pop() !== '[DONE]') throw new Error('the stream does not end with [DONE]');
  return events.map((one) => JSON.parse(one));
}
