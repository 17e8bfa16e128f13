/**
 * The server as one script for a JavaScript engine inside another process, such as QuickJS in Python, without event loop, timers
 * and modules. The host passes a message, gets the answer with streamed notifications, and moves the clock.
 */

import { type Request, wrongField } from '../rpc/connection/request.ts';
import { errorCodes, refusal, toRpcError } from '../rpc/methods/errors.ts';
import { failure, Service } from '../rpc/service.ts';
import { EmbeddedCaller } from './caller.ts';
import { HostClock } from './clock.ts';
import { type Outliving, outliving, outlivingStores } from './outliving.ts';
import { answerText, Senders } from './senders.ts';

export { ask } from './logs.ts';

/**
 * The functions that the host calls. `call` and `wind` return lines. The first line is the answer (empty for a notification). If
 * there is more, the second line is the Unix time at which to call `wind` (empty for never), and each further line is a streamed
 * notification.
 */
export interface Embedded extends Outliving {
  /** Handles a JSON-RPC message. */
  call(message: string): string;
  /** Fires the due timers. */
  wind(): string;
}

/**
 * Makes a server for one caller. Throws `PolicyError` `invalid_config` for malformed limits.
 *
 * @param outlives - {@link OutlivingOptions} as JSON
 */
export function embed(version: string, limits: string, outlives = '{}'): Embedded {
  const clock = new HostClock();
  const stores = outlivingStores(JSON.parse(outlives), version, clock);
  // A long event delays nobody else here.
  const given = { maxEventIds: 100_000_000, ...JSON.parse(limits) };
  const service = new Service({ clock, version, limits: given, ...stores });
  const caller = new EmbeddedCaller();
  const senders = new Senders();
  let reportedDue: number | undefined;

  const answerTo = (text: string): object | undefined => {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch (error) {
      // The engine is out of memory, and perhaps has not enough for an error.
      if (!(error instanceof SyntaxError)) throw error;
      return refusal(errorCodes.parseError, 'JSON', error.message);
    }
    const wrong = wrongField(message);
    if (wrong !== undefined) return refusal(errorCodes.invalidRequest, wrong, message);
    const answer = service.answer(message as Request, caller);
    if (answer !== undefined && 'result' in answer) senders.learn(text, message as Request, answer.result as never);
    return answer;
  };
  const textOfAnswer = (text: string): string => {
    const sent = senders.read(text);
    if (sent !== undefined) {
      const { sender, events } = sent;
      try {
        const { session, producer, firstSeq } = sender;
        const result = service.sessions.get(session).send({ producer, firstSeq, events });
        sender.firstSeq = result.nextSeq!;
        return answerText(result);
      } catch (error) {
        service.refusals.thrown(error);
        return JSON.stringify(failure(1, toRpcError(error)));
      }
    }
    const answer = answerTo(text);
    return answer === undefined ? '' : JSON.stringify(answer);
  };
  const withNews = (answer: string): string => {
    const due = clock.next;
    if (due === reportedDue && !caller.isReady) return answer;
    reportedDue = due;
    return [answer, due ?? '', ...caller.read()].join('\n');
  };
  return {
    ...outliving(service.sessions, stores),
    call(text) {
      return withNews(textOfAnswer(text));
    },
    wind() {
      clock.wind();
      return withNews('');
    },
  };
}
