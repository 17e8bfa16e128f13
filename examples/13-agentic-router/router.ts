/** The router: HTTP in front of engines, where the policy says which engine runs each turn, and which turns wait. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bodyOf, programIn } from './asking.ts';
import { Engines } from './engines.ts';
import { metricsOf, newCounts } from './metrics.ts';
import { HeldTooLong, type Policy, Programs, type Turn } from './programs.ts';
import { type Asked, type Outcome, relay, type Usage } from './relay.ts';

/** Settings of a router. */
export interface RouterOptions {
  readonly engines: readonly string[];
  /** Key that the engines ask for; without one, the clients' own is passed on. */
  readonly apiKey?: string;
  /** Most seconds that a turn is held back; then the client gets 503, and may come again. */
  readonly holdSeconds?: number;
  /** A program without a turn for so long is over. */
  readonly idleSeconds?: number;
  readonly pollSeconds?: number;
  readonly connectSeconds?: number;
  readonly silenceSeconds?: number;
  readonly maxBodyBytes?: number;
}

/** Routes that are turns. */
const turns: ReadonlySet<string> = new Set(['/v1/chat/completions', '/v1/completions', '/generate']);
const triesAtMost = 3;

/** A router, which listens. */
export class Router {
  readonly #options: Required<Omit<RouterOptions, 'engines' | 'apiKey'>>;
  readonly #apiKey: string | undefined;
  readonly #programs: Programs;
  readonly #engines: Engines;
  readonly #server: Server;
  readonly #counts = newCounts();
  #sweep: NodeJS.Timeout | undefined;
  #unnamed = 0;
  /** Tokens in a byte of a request, as answers say; a guess before the first. */
  #tokensPerByte = 0.25;

  constructor({ engines, apiKey, ...options }: RouterOptions, policy: Policy) {
    this.#apiKey = apiKey;
    const times = { holdSeconds: 600, idleSeconds: 3600, pollSeconds: 1, connectSeconds: 5, silenceSeconds: 1800 };
    this.#options = { ...times, maxBodyBytes: 64 * 1024 * 1024, ...options };
    const now = (): number => performance.now() / 1000;
    this.#programs = new Programs(policy, now);
    this.#engines = new Engines(engines, this.#programs, apiKey, this.#options.pollSeconds, now);
    this.#server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
      this.#take(request, response).catch((error: Error) => refuse(response, 500, error.message));
    });
  }

  /** Listens, once it has looked at the engines; returns its address. Port 0 is any that is free. */
  async start(port = 0, host = '127.0.0.1'): Promise<string> {
    await this.#engines.start();
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(port, host, resolve));
    const { idleSeconds } = this.#options;
    this.#sweep = setInterval(() => this.#programs.closeIdle(idleSeconds), idleSeconds * 250).unref();
    return `http://${host}:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweep);
    this.#engines.stop();
    this.#programs.stop();
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }

  /** Its metrics, in the format of Prometheus. */
  metrics(): string {
    return metricsOf(this.#counts, this.#programs, this.#engines);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes away is no error of the router.
    response.on('error', () => {});
    const path = request.url ?? '/';
    const [route] = path.split('?', 1) as [string];
    if (request.method === 'POST' && turns.has(route)) return this.#turn(request, response, path);
    if (request.method === 'DELETE' && route.startsWith('/programs/')) {
      const closed = this.#programs.close(decodeURIComponent(route.slice('/programs/'.length)));
      return closed ? void response.writeHead(204).end() : refuse(response, 404, 'no such program');
    }
    if (request.method === 'GET' && route === '/health') {
      const isUp = this.#engines.all.some((one) => one.isUp);
      return isUp ? void response.writeHead(200).end() : refuse(response, 503, 'no engine is up');
    }
    if (request.method !== 'GET' || route !== '/metrics')
      return refuse(response, 404, `no route ${request.method} ${route}`);
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(this.metrics());
  }

  async #turn(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const read = await bodyOf(request, this.#options.maxBodyBytes);
    if (read === undefined) return refuse(response, 413, `a body of at most ${this.#options.maxBodyBytes} bytes`);
    const asked: Asked = { path, headers: request.headers, ...read };
    const named = programIn(asked);
    this.#unnamed += named === undefined ? 1 : 0;
    const name = named ?? `unnamed ${this.#unnamed}`;
    const contextTokens = Math.ceil(asked.bytes * this.#tokensPerByte);
    const turn = this.#programs.begin(name, contextTokens);
    if (turn === undefined) return refuse(response, 409, `the program ${name} has a turn that has not ended`);
    this.#counts.turns += 1;
    let usage: Usage | undefined;
    try {
      usage = await this.#run(turn, asked, response, contextTokens);
    } finally {
      this.#programs.finish(turn, usage?.completion ?? 0, usage?.cached);
      if (named === undefined) this.#programs.close(name);
    }
    if (usage?.prompt === undefined || asked.bytes === 0) return;
    this.#tokensPerByte += (usage.prompt / asked.bytes - this.#tokensPerByte) / 16;
  }

  /** Runs a turn to its end, on another engine if need be; returns what the answer says of its tokens. */
  async #run(turn: Turn, asked: Asked, response: ServerResponse, contextTokens: number): Promise<Usage | undefined> {
    const { holdSeconds, connectSeconds, silenceSeconds } = this.#options;
    const counts = this.#counts;
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    if (response.destroyed) leaving.abort();
    for (let tries = 1; ; tries += 1) {
      const from = performance.now();
      let engineId: string;
      try {
        engineId = await turn.place(holdSeconds, leaving.signal);
      } catch (error) {
        if (error instanceof HeldTooLong) {
          counts.heldTooLong += 1;
          response.setHeader('retry-after', '1');
          refuse(response, 503, error.message);
        } else counts.clientsGone += 1;
        return undefined;
      } finally {
        counts.heldSeconds += (performance.now() - from) / 1000;
      }
      const engine = this.#engines.named(engineId);
      const target = { url: engine.url, agent: engine.agent, apiKey: this.#apiKey, connectSeconds, silenceSeconds };
      const outcome = await relay(asked, target, response, { 'x-engine-id': engineId });
      if (outcome.kind === 'ended') return outcome.usage;
      if (outcome.kind === 'client_gone') {
        counts.clientsGone += 1;
        return undefined;
      }
      counts.failures += 1;
      const isLast = outcome.sent !== false || tries === triesAtMost;
      if (isLast) breakOff(response, outcome);
      // If the engine is gone, the policy routes the turn again, unless that is over.
      if (isLast) return void this.#engines.check(engine);
      counts.retries += 1;
      if (await this.#engines.check(engine)) this.#programs.again(turn, contextTokens);
    }
  }
}

/** Ends an answer that cannot be completed: as an error if nothing was sent, or else so that nobody takes it for a whole one. */
function breakOff(response: ServerResponse, { sent, error }: Extract<Outcome, { kind: 'failed' }>): void {
  const message = `the engine failed: ${error.message}`;
  if (sent === false) return refuse(response, 502, message);
  if (sent === 'whole') return void response.destroy();
  // The engine may have died in the middle of an event.
  response.end(`\n\ndata: ${JSON.stringify({ error: { message, type: 'engine_failed', code: 502 } })}\n\n`);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, code: status } }));
}
