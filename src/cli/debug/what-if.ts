/** `what-if` for the page: its questions, and answers, which a thread works out while the page goes on. */
import { isPolicyError, refuse } from '../../errors.ts';
import type { AskedThread } from '../../rpc/transports/asked-thread.ts';
import { type OtherPolicy, otherPolicies } from '../../sim/what-if/ask.ts';
import type { WhatIfText } from '../../sim/what-if/form.ts';
import { taskThread } from '../threads/workers.ts';
import type { WhatIfQuestion } from '../what-if/question.ts';

/** Returns the question of a page. Throws `invalid_input`. */
export function questionOf(query: URLSearchParams, session: string, seq: number): WhatIfQuestion {
  const [policy = '', preset = '', cap = ''] = ['policy', 'preset', 'cap'].map((name) => query.get(name) ?? '');
  if (policy !== '' && !Object.hasOwn(otherPolicies, policy))
    refuse('invalid_input', 'policy', `one of ${Object.keys(otherPolicies).join(', ')}`, policy);
  if (cap !== '' && !/^[1-9]\d{0,6}$/.test(cap))
    refuse('invalid_input', 'cap', 'a whole number from 1 to 9999999', cap);
  return {
    at: String(seq),
    set: Object.entries(settingsIn(query.get('set') ?? '')),
    ...(session === '' ? {} : { session }),
    ...(policy === '' ? {} : { policy: policy as OtherPolicy }),
    ...(preset === '' ? {} : { preset }),
    ...(cap === '' ? {} : { cap: Number(cap) }),
    seeds: draws,
    seed: 1,
  };
}

function settingsIn(text: string): object {
  const expected = 'settings and their values, as one JSON object';
  if (text === '') return {};
  try {
    const set: unknown = JSON.parse(text);
    if (typeof set === 'object' && set !== null && !Array.isArray(set)) return set;
  } catch {
    // The error below says what is expected.
  }
  return refuse('invalid_input', 'set', expected, text.slice(0, 100));
}

/** Draws of an answer, as many as the command has; milliseconds that an answer may take, and megabytes. */
const [draws, mostMilliseconds, mostMegabytes] = [10, 120_000, 2048];

/** Answers questions about a log, one at a time, in a thread. */
export class WhatIfDesk {
  readonly #paths: readonly string[];
  #thread: AskedThread | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  /**
   * Answers a question. Nothing goes on for who has gone.
   *
   * @throws PolicyError `limit_exceeded` if others ask, or the answer takes too long; the errors of the command
   */
  async answer(question: WhatIfQuestion, gone: AbortSignal): Promise<WhatIfText | undefined> {
    if (this.#waiting > 1) refuse('limit_exceeded', 'what-if', 'one question at a time', 'others that wait');
    this.#waiting += 1;
    const turn = this.#last.then(() => (gone.aborted ? undefined : this.#work(question, gone)));
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.stop();
  }

  async #work(question: WhatIfQuestion, gone: AbortSignal): Promise<WhatIfText | undefined> {
    this.#thread ??= taskThread({ kind: 'what-if', input: { paths: this.#paths } }, mostMegabytes);
    const thread = this.#thread;
    let isLate = false;
    const stop = (): void => void this.close();
    const late = setTimeout(() => {
      isLate = true;
      stop();
    }, mostMilliseconds);
    gone.addEventListener('abort', stop);
    try {
      return (await thread.ask(question)) as WhatIfText;
    } catch (error) {
      // A thread that has refused a question goes on; one that was stopped, or has failed, does not.
      if (thread.isGone || !isPolicyError(error) || error.code === 'internal') await this.close();
      if (gone.aborted) return undefined;
      if (isLate)
        refuse('limit_exceeded', 'what-if', `${mostMilliseconds / 1000} s; rollflex what-if has no limit`, 'more');
      throw error;
    } finally {
      clearTimeout(late);
      gone.removeEventListener('abort', stop);
    }
  }
}
