/** Calls a server, and keeps the status and the shape of each answer under a name. */
import { setTimeout as sleep } from 'node:timers/promises';
import { bodyShape, type Shape } from './shapes.ts';

/** An answer of a server. */
export interface Recorded {
  readonly call: string;
  readonly status: number;
  readonly type: string | null;
  readonly shape: Shape;
}

/** The body and the headers of a call. */
export interface CallParts {
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Records calls of one server. */
export class Recorder {
  readonly answers: Record<string, Recorded> = {};
  readonly #url: string;
  readonly #key: string;
  /** Waits while requests run: so many seconds in a real server. */
  readonly wait: (seconds: number) => Promise<void>;

  constructor(url: string, key: string, wait = (seconds: number): Promise<void> => sleep(seconds * 1000)) {
    this.#url = url;
    this.#key = key;
    this.wait = wait;
  }

  /** Calls, and records the answer under a name. */
  async call(name: string, method: string, path: string, { body, headers = {} }: CallParts = {}): Promise<void> {
    if (name in this.answers) throw new Error(`two calls have the name ${name}`);
    const answer = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      } as Record<string, string>,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const type = answer.headers.get('content-type');
    const shape = bodyShape(type ?? '', await answer.text());
    this.answers[name] = { call: `${method} ${path}`, status: answer.status, type, shape };
  }

  get(name: string, path: string): Promise<void> {
    return this.call(name, 'GET', path);
  }

  post(name: string, path: string, body?: unknown): Promise<void> {
    return this.call(name, 'POST', path, { body });
  }

  /** Records the values of gauges of vLLM. */
  async gauges(name: string, gauges: readonly string[]): Promise<void> {
    const text = await (await fetch(`${this.#url}/metrics`)).text();
    const shape: Record<string, string> = {};
    for (const [, gauge, labels, value] of text.matchAll(/^vllm:(\w+)\{(.*)\} (\S+)$/gm)) {
      const state = /(?:sleep_state|reason)="(\w+)"/.exec(labels!)?.[1];
      if (gauges.includes(gauge!)) shape[state === undefined ? gauge! : `${gauge} ${state}`] = `=${Number(value)}`;
    }
    this.answers[name] = { call: 'GET /metrics', status: 200, type: null, shape };
  }
}
