/** One connection, which reads lines, and writes answers and subscribed decisions as fast as the client reads them. */
import type { JSONRPCResponse, JSONRPCServer } from 'json-rpc-2.0';
import { caused } from '../../errors.ts';
import { errorCodes, refusal } from '../methods/errors.ts';
import { JsonText } from '../methods/planning.ts';
import type { LimitName, Refusals } from '../methods/refusals.ts';
import type { Session } from '../session/session.ts';
import type { DecisionStream } from '../session/stream.ts';
import type { Turns } from '../session/turns.ts';
import type { CallContext, Caller } from './caller.ts';
import { crowdedOut, isDeeperThan, isOpening, type Line, LineReader, parseLine, tooLong } from './framing.ts';
import type { HalfLines } from './half-lines.ts';
import type { Link, Served } from './link.ts';
import type { Meter } from './meter.ts';
import { type Id, type Request, wrongField } from './request.ts';
import { SendQueue, type SendQueueHost } from './send-queue.ts';
import { Subscriptions } from './subscriptions.ts';

/** A server from the point of view of its connections. */
export interface ConnectionHost extends SendQueueHost {
  readonly meter: Meter | undefined;
  readonly refusals: Refusals;
  readonly dispatch: JSONRPCServer<CallContext>;
  readonly turns: Turns;
  /** Whether plans are computed beside this thread, so that other answers may overtake plans. */
  readonly plansBeside: boolean;
  /** Whether a token is valid; absent if the server needs none. */
  readonly isToken: ((token: string) => boolean) | undefined;
  /** Memory for the incomplete lines of all connections. */
  readonly halfLines: HalfLines;
  /** Accepts a connection that has shown the token; returns false if there is no room. */
  welcomed(connection: Connection): boolean;
  left(connection: Connection): void;
}

/** Longest line before the client has shown the token, in bytes. */
const longestGreeting = 8192;
const greetingSeconds = 10;
/** A line of so many bytes waits for its turn before it is read, because reading it takes a while. */
const longLine = 1 << 16;

/** Returns an answer as text. The text of a plan is inserted unchanged, because parsing and writing it again would delay events. */
function textOf(answer: JSONRPCResponse): string {
  const plan: unknown = (answer.result as { plan?: unknown } | undefined)?.plan;
  if (!(plan instanceof JsonText)) return JSON.stringify(answer);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(answer.id)},"result":{"plan":${plan.json}}}`;
}

/** A connection. The transport passes it the received bytes, and a {@link Link} for answers. */
export class Connection implements Caller, Served {
  readonly #link: Link;
  readonly #out: SendQueue;
  readonly #host: ConnectionHost;
  readonly #lines: LineReader;
  readonly #subscriptions = new Subscriptions(this);
  #welcome: boolean;
  #pushing = false;
  #closed = false;
  #stopGreeting: () => void = () => undefined;
  #work: Promise<void> = Promise.resolve();
  /** Answers to plans that later answers may overtake. */
  readonly #plans = new Set<Promise<void>>();
  readonly #gone = new AbortController();
  readonly #context: CallContext;
  /** Resolves when pushing continues after a pause. */
  #pausedPush: Promise<void> | undefined;
  /** Number of passes that pushed everything that waited. */
  #pushes = 0;
  #ending = false;

  constructor(link: Link, host: ConnectionHost) {
    this.#link = link;
    this.#out = new SendQueue(link, host, () => this.#cutOff());
    this.#host = host;
    this.#context = { connection: this, signal: this.#gone.signal, turns: host.turns };
    this.#welcome = host.isToken === undefined;
    this.#lines = new LineReader(this.#welcome ? host.limits.maxMessageBytes : longestGreeting, host.halfLines);
    if (!this.#welcome) this.#stopGreeting = host.clock.after(greetingSeconds, () => this.turnAway());
  }

  /** Takes bytes. Resolves when their lines are answered and there is room for more answers; pass no bytes before that. */
  receive(bytes: Uint8Array): Promise<void> {
    return (this.#work = this.#work.then(() => this.#receive(bytes)));
  }

  /** Ends the input: the received lines are answered, and then all subscriptions end. */
  finish(): Promise<void> {
    return (this.#work = this.#work.then(async () => {
      const rest = this.#lines.rest();
      if (rest !== undefined && !this.#closed) await this.#line(rest);
      await Promise.all(this.#plans);
      this.#ending = true;
      await this.#pausedPush;
      await this.#out.released();
      this.close();
    }));
  }

  /** Resolves when the received lines are answered, and the answers are written to the link. */
  async settled(): Promise<void> {
    await this.#work;
    await Promise.all(this.#plans);
    await this.#out.released();
  }

  /** Removes the connection; the transport calls this when the link is closed. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopGreeting();
    this.#lines.close();
    this.#out.close();
    this.#gone.abort();
    this.#subscriptions.close();
    this.#host.left(this);
  }

  /** Closes the connection from this side; queued messages are lost. */
  destroy(): void {
    this.#link.destroy();
    this.close();
  }

  /** Closes the connection because the client has not shown the token. */
  turnAway(): undefined {
    this.#host.refusals.connection('turnedAway');
    this.destroy();
  }

  subscribe(session: Session, after: number | undefined, types: readonly string[] | undefined): void {
    // A call may have waited for its session until its caller was gone.
    if (this.#closed) return;
    this.#subscriptions.subscribe(session, after, types);
  }

  unsubscribe(session: Session): void {
    this.#subscriptions.unsubscribe(session);
  }

  /** Sends waiting decisions while there is room. */
  wake(stream: DecisionStream): void {
    this.#subscriptions.wake(stream);
    this.#pushReady();
  }

  closed(session: Session, reason: 'closed' | 'replaced'): void {
    this.unsubscribe(session);
    this.#notify('session.closed', { session: session.id, reason });
  }

  #pushReady(): void {
    if (this.#pushing || this.#closed || !this.#subscriptions.isReady) return;
    this.#pushing = true;
    void this.#push();
  }

  async #push(): Promise<void> {
    while (this.#subscriptions.isReady) {
      for (const decision of this.#subscriptions.read()) {
        this.#notify('session.decision', decision);
        if (this.#out.full) await this.#out.room();
        else if (this.#host.turns.isOver && !this.#ending) {
          await (this.#pausedPush = this.#host.turns.next());
          this.#pausedPush = undefined;
        }
      }
      this.#pushes += 1;
    }
    this.#pushing = false;
  }

  /** Resolves when everything is pushed that waits now, because the decisions of a step precede its answer. */
  async #pushed(): Promise<void> {
    // Decisions that come during a pass belong to the next pass.
    for (const until = this.#pushes + 2; this.#pausedPush !== undefined && this.#pushes < until; )
      await this.#pausedPush;
  }

  #notify(method: string, params: object): void {
    this.#out.write(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  async #receive(bytes: Uint8Array): Promise<void> {
    const { turns } = this.#host;
    turns.begin();
    for (const line of this.#lines.read(bytes)) {
      if (this.#closed) return;
      if (turns.isOver || (line as Uint8Array).length > longLine) await turns.next();
      if (this.#closed) return;
      await this.#line(line);
    }
  }

  async #line(line: Line): Promise<void> {
    const answer = await this.#answer(line);
    if (this.#pausedPush !== undefined) await this.#pushed();
    if (this.#closed) return;
    if (answer !== undefined) this.#out.write(answer);
    this.#subscriptions.answered();
    if (this.#out.full) await this.#out.room();
    this.#pushReady();
  }

  /** Returns the answer to a line as text; nothing for a notification. */
  async #answer(line: Line): Promise<string | undefined> {
    const { maxMessageBytes, maxUnfinishedBytes, maxCallBytes, maxDepth } = this.#host.limits;
    if (line === tooLong) return this.#tooMuch('maxMessageBytes', `at most ${maxMessageBytes} bytes in a line`);
    if (line === crowdedOut) {
      const expected = `at most ${maxUnfinishedBytes} bytes of messages that have not ended, of all connections`;
      return this.#tooMuch('maxUnfinishedBytes', expected, 'more: this one gave way');
    }
    if (line.length === 0) return undefined;
    if (line.length > maxCallBytes && !isOpening(line)) {
      const expected = `at most ${maxCallBytes} bytes in a message other than session.open (whose method comes first)`;
      return this.#tooMuch('maxCallBytes', expected, line.length);
    }
    if (isDeeperThan(line, maxDepth)) return this.#tooMuch('maxDepth', `at most ${maxDepth} levels`);
    let message: unknown;
    try {
      message = parseLine(line);
    } catch (error) {
      return this.#refuse(errorCodes.parseError, 'JSON in UTF-8', (error as Error).message);
    }
    if (!this.#welcome) return this.#greet(message);
    if (Array.isArray(message)) return this.#batch(message);
    if (this.#host.plansBeside && (message as Partial<Request> | null)?.method === 'plan') return this.#plan(message);
    return this.#call(message);
  }

  /** Begins a plan, whose answer is sent when it is complete. */
  #plan(message: unknown): undefined {
    const answered = this.#call(message).then((answer) => {
      this.#plans.delete(answered);
      if (answer === undefined || this.#closed) return;
      this.#out.write(answer);
      this.#pushReady();
    });
    this.#plans.add(answered);
  }

  /** Answers the calls of a batch one after the other. Once the answers exceed the size limit, the remaining calls are refused. */
  async #batch(calls: readonly unknown[]): Promise<string | undefined> {
    const { maxBatchCalls, maxOutputBytes } = this.#host.limits;
    if (calls.length === 0) return this.#refuse(errorCodes.invalidRequest, 'calls in a batch', 'none');
    if (calls.length > maxBatchCalls) {
      return this.#tooMuch('maxBatchCalls', `at most ${maxBatchCalls} calls in a batch`, calls.length);
    }
    const answers: string[] = [];
    let length = 0;
    for (const call of calls) {
      const full = length > maxOutputBytes;
      if (this.#host.turns.isOver) await this.#host.turns.next();
      if (this.#closed) return undefined;
      const answer = full ? this.#notMade(call) : await this.#call(call);
      if (answer === undefined) continue;
      answers.push(answer);
      length += answer.length;
    }
    return answers.length === 0 ? undefined : `[${answers.join(',')}]`;
  }

  /** Refuses a call of a batch whose answers are too long already. */
  #notMade(call: unknown): string | undefined {
    const { id } = (call ?? {}) as { id?: Id };
    if (wrongField(call) === undefined && id === undefined) return undefined;
    const expected = `answers of a batch of at most ${this.#host.limits.maxOutputBytes} characters`;
    const known = typeof id === 'string' || typeof id === 'number' ? id : null;
    return this.#tooMuch('maxOutputBytes', expected, 'more: this call was not made', known);
  }

  async #call(message: unknown): Promise<string | undefined> {
    const wrong = wrongField(message);
    if (wrong !== undefined) return this.#refuse(errorCodes.invalidRequest, wrong, message);
    const request = message as Request;
    const from = performance.now();
    const answer: JSONRPCResponse | null = await this.#host.dispatch.receive(request as never, this.#context);
    this.#host.meter?.called(request.method, answer?.error?.code ?? 0, (performance.now() - from) / 1000);
    if (answer === null) return undefined;
    try {
      return textOf(answer);
    } catch (error) {
      return this.#refuse(errorCodes.internalError, 'an answer that fits into a string', caused(error), answer.id);
    }
  }

  #tooMuch(limit: LimitName, expected: string, got: unknown = 'more', id: Id = null): string | undefined {
    return this.#refuse(errorCodes.refused, expected, got, id, limit);
  }

  #refuse(code: number, expected: string, got: unknown, id: Id = null, limit?: LimitName): string | undefined {
    // A client that has not shown the token gets no answer.
    if (!this.#welcome) return this.turnAway();
    this.#host.meter?.called('', code, 0);
    this.#host.refusals.call(limit === undefined ? 'invalid_input' : 'limit_exceeded', limit);
    return JSON.stringify(refusal(code, expected, got, id));
  }

  #greet(message: unknown): string | undefined | Promise<string | undefined> {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { token?: unknown } | null };
    const token = params?.token;
    const right = method === 'server.authenticate' && typeof token === 'string' && this.#host.isToken?.(token);
    if (!right) return this.turnAway();
    if (!this.#host.welcomed(this)) return void this.destroy();
    this.#stopGreeting();
    this.#welcome = true;
    this.#lines.longest = this.#host.limits.maxMessageBytes;
    return this.#call(message);
  }

  #cutOff(): void {
    this.#host.refusals.connection('cutOff');
    this.destroy();
  }
}
