/** Cases of the wire: their format (test/wire/README.md), and what plays one against a server. */
import { isDeepStrictEqual } from 'node:util';

export type Piece = string | { readonly repeat: string; readonly times: number } | { readonly bytes: string };

export interface Step {
  /** Name of the connection; `main` if absent. */
  readonly on?: string;
  readonly call?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly data: object };
  readonly send?: unknown;
  readonly raw?: readonly Piece[];
  readonly end?: true;
  readonly pass?: number;
  readonly answers?: readonly unknown[];
  readonly notified?: readonly unknown[];
  readonly closed?: true;
}

export interface WireCase {
  readonly name: string;
  readonly api?: true;
  readonly fresh?: true;
  readonly steps: readonly Step[];
}

export interface ServerSetting {
  readonly limits?: Readonly<Record<string, number>>;
  readonly token?: string;
  readonly wrongPolicies?: true;
}

export interface CaseFile {
  readonly about: string;
  readonly server?: ServerSetting;
  readonly cases: readonly WireCase[];
}

/** One end of a connection. */
export interface Peer {
  send(bytes: Uint8Array): void;
  end(): void;
  /** Breaks the connection off. */
  destroy(): void;
  /** The next message that is an answer, or a notification; nothing once the server has closed. */
  next(kind: 'answer' | 'notification'): Promise<unknown>;
  closed(): Promise<void>;
  /** It goes on after the case: nothing can be said of its end. */
  readonly lasts?: boolean;
}

export interface Playground {
  connect(): Promise<Peer>;
  pass(seconds: number): Promise<void>;
}

/** Messages as they come, for who waits for them. */
export class Inbox {
  readonly #queues = { answer: [] as unknown[], notification: [] as unknown[] };
  #rest = '';
  #ended = false;
  #tell: () => void = () => undefined;

  text(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const message = JSON.parse(line);
      this.#queues[Object.hasOwn(message, 'method') ? 'notification' : 'answer'].push(message);
    }
    this.#tell();
  }

  end(): void {
    this.#ended = true;
    this.#tell();
  }

  next(kind: 'answer' | 'notification'): Promise<unknown> {
    return this.#wait(() => this.#queues[kind].length > 0, kind).then(() => this.#queues[kind].shift());
  }

  closed(): Promise<void> {
    return this.#wait(() => this.#ended, 'end');
  }

  async #wait(there: () => boolean, what: string): Promise<void> {
    const deadline = Date.now() + 120_000;
    while (!there() && !this.#ended) {
      if (Date.now() > deadline) throw new Error(`no ${what} came in two minutes`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1000);
        this.#tell = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

type Bound = Map<string, unknown>;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value with what was kept put in. */
export function filledIn(value: unknown, bound: Bound): unknown {
  if (Array.isArray(value)) return value.map((one) => filledIn(one, bound));
  if (!isObject(value)) return value;
  if (typeof value.$kept === 'string') {
    if (!bound.has(value.$kept)) throw new Error(`nothing was kept as ${value.$kept}`);
    return bound.get(value.$kept);
  }
  // `__proto__` is a key like any other.
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filledIn(one, bound)]));
}

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
};

/** The path at which a value is not what was expected, or nothing. */
export function difference(expected: unknown, got: unknown, bound: Bound, path = ''): string | undefined {
  const wrong = () => `${path || 'the value'}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`;
  if (isObject(expected)) {
    if (typeof expected.$any === 'string') {
      const kind = kindOf(got);
      const fits =
        expected.$any === 'any' || expected.$any === kind || (expected.$any === 'number' && kind === 'integer');
      return got !== undefined && fits ? undefined : wrong();
    }
    if (typeof expected.$begins === 'string') {
      return typeof got === 'string' && got.startsWith(expected.$begins) ? undefined : wrong();
    }
    if (typeof expected.$keep === 'string') {
      if (got === undefined) return wrong();
      bound.set(expected.$keep, got);
      return Object.hasOwn(expected, '$is') ? difference(expected.$is, got, bound, path) : undefined;
    }
    if (typeof expected.$kept === 'string') return difference(filledIn(expected, bound), got, bound, path);
    const least = isObject(expected.$has) ? expected.$has : undefined;
    if (!isObject(got)) return wrong();
    for (const [key, one] of Object.entries(least ?? expected)) {
      const found = difference(one, Object.hasOwn(got, key) ? got[key] : undefined, bound, `${path}.${key}`);
      if (found !== undefined) return found;
    }
    const extra = least === undefined ? Object.keys(got).find((key) => !Object.hasOwn(expected, key)) : undefined;
    return extra === undefined ? undefined : `${path}.${extra}: not expected, got ${JSON.stringify(got[extra])}`;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(got) || got.length !== expected.length) return wrong();
    for (const [index, one] of expected.entries()) {
      const found = difference(one, got[index], bound, `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return isDeepStrictEqual(expected, got) ? undefined : wrong();
}

/** The error of a call as a whole message has it: its texts may be any. */
export const errorOf = ({ code, data }: { code: number; data: object }) => ({
  code,
  message: { $any: 'string' },
  data: { expected: { $any: 'string' }, got: { $any: 'string' }, path: { $any: 'string' }, ...data },
});

const text = new TextEncoder();
function bytesOf(pieces: readonly Piece[]): Uint8Array {
  return Buffer.concat(
    pieces.map((one) => {
      if (typeof one === 'string') return text.encode(one);
      return 'bytes' in one ? Buffer.from(one.bytes, 'hex') : text.encode(one.repeat.repeat(one.times));
    }),
  );
}

const line = (value: unknown): Uint8Array => text.encode(`${JSON.stringify(value)}\n`);

/** Plays a case; throws where something else comes than it says. */
export async function play(one: WireCase, ground: Playground): Promise<void> {
  const bound: Bound = new Map();
  const peers = new Map<string, Peer>();
  const gone = new Set<Peer>();
  let calls = 0;
  const peerOf = async (name: string): Promise<Peer> => {
    const known = peers.get(name);
    if (known !== undefined) return known;
    const made = await ground.connect();
    peers.set(name, made);
    return made;
  };
  for (const [index, step] of one.steps.entries()) {
    const peer = await peerOf(step.on ?? 'main');
    const same = async (kind: 'answer' | 'notification', expected: unknown) => {
      const got = await peer.next(kind);
      const found = difference(expected, got, bound);
      if (found !== undefined) throw new Error(`${one.name}, step ${index}, ${kind}${found}\n${JSON.stringify(got)}`);
    };
    if (step.pass !== undefined) await ground.pass(step.pass);
    if (step.call !== undefined) {
      const id = ++calls;
      const params = step.params === undefined ? {} : { params: filledIn(step.params, bound) };
      peer.send(line({ jsonrpc: '2.0', id, method: step.call, ...params }));
      const answer = step.error === undefined ? { result: step.result } : { error: errorOf(step.error) };
      await same('answer', { jsonrpc: '2.0', id, ...answer });
    }
    if (step.send !== undefined) peer.send(line(filledIn(step.send, bound)));
    if (step.raw !== undefined) peer.send(bytesOf(step.raw));
    if (step.end) peer.end();
    for (const expected of step.answers ?? []) await same('answer', expected);
    for (const expected of step.notified ?? []) await same('notification', expected);
    if (step.end || step.closed) {
      await peer.closed();
      gone.add(peer);
      for (const kind of ['answer', 'notification'] as const) await nothingMore(peer, kind, undefined);
    }
  }
  for (const peer of peers.values()) {
    if (gone.has(peer)) continue;
    // A call of its own: whatever else was to come has come before its answer.
    peer.send(line({ jsonrpc: '2.0', id: 'fence', method: 'fence' }));
    await nothingMore(peer, 'answer', 'fence');
    if (peer.lasts) continue;
    peer.end();
    await peer.closed();
    await nothingMore(peer, 'notification', undefined);
  }
  async function nothingMore(peer: Peer, kind: 'answer' | 'notification', id: unknown): Promise<void> {
    const got = (await peer.next(kind)) as { id?: unknown } | undefined;
    if (got?.id !== id) throw new Error(`${one.name}: an ${kind} too many: ${JSON.stringify(got)}`);
  }
}
