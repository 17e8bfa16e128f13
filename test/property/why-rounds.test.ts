/**
 * After `host.restarted`, `why()` names the rounds and what is owed in each as a host knows them that has heard everything, and as
 * the answers of an obedient host change them.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { create } from '../../src/core/machine/start.ts';
import type { HeldRound } from '../../src/index.ts';
import { registry } from '../../src/registry.ts';
import { RoundBook } from '../../src/testing/host-checks/round-book.ts';
import { ObedientHost } from '../../src/testing/hosts/obedient-host.ts';
import { choicesOf } from '../../src/testing/hosts/play-to-end.ts';
import { latestVersion } from '../../src/testing/hosts/weights.ts';
import { tapes } from '../../src/testing/index.ts';
import { answer, hostTime, likelyEvents, newSubject, type Subject } from '../../src/testing/runs/run.ts';
import { isChosen } from '../support/basics/only.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

const ends = new Set(['response.completed', 'response.failed', 'request.aborted']);

/** What a host that has heard everything knows of its rounds. */
class Book {
  readonly #rounds: RoundBook;
  readonly #roundOf = new Map<string, string>();
  readonly #inFlight = new Set<string>();
  /** Whether the host is told of each launch. */
  readonly launches: boolean;

  constructor(definition: AnyPolicyDefinition) {
    this.#rounds = new RoundBook(definition);
    this.launches = !definition.decisions.some(({ type }) => type === 'request.admit');
  }

  get open(): string[] {
    return this.#rounds.open.filter((one) => /[( ]round\.completed/.test(one)).map((one) => one.split(' (')[0]!);
  }

  /** Number of requests of a round that run or are being aborted. */
  requestsOf(roundId: string): number {
    return [...this.#inFlight].filter((one) => this.#roundOf.get(one) === roundId).length;
  }

  heard(event: AnyEvent, decisions: readonly AnyDecision[]): void {
    this.#rounds.sent(event);
    if (event.type === 'host.restarted') this.#inFlight.clear();
    if (ends.has(event.type)) this.#inFlight.delete((event as AnyEvent & { requestId: string }).requestId);
    for (const decision of decisions) {
      this.#rounds.told(decision);
      const { type, requestId, roundId } = decision as AnyDecision & { requestId: string; roundId: string };
      if (type === 'request.launch') this.#roundOf.set(requestId, roundId);
      if (type === 'request.launch' || type === 'request.resume') this.#inFlight.add(requestId);
      else if (type === 'request.expired') this.#inFlight.delete(requestId);
    }
  }
}

function expectAgreement(subject: Subject, book: Book): void {
  const rounds = (subject as unknown as { why(): { rounds: readonly HeldRound[] } }).why().rounds;
  const open = rounds.filter((one) => one.open);
  expect(open.map(({ id }) => id).sort()).toEqual(book.open.sort());
  expect(rounds.slice(0, open.length)).toEqual(open);
  for (const { kind, stands, owed } of open) {
    if (!stands.startsWith('is not planned')) expect(['short', 'long']).toContain(kind);
    expect(Object.keys(owed).length).toBeGreaterThan(0);
  }
  for (const { id, inFlight = 0, owed } of rounds) {
    const requests = book.requestsOf(id);
    // Where requests wait for admission, they are in flight before the host hears of them.
    if (book.launches) expect(inFlight).toBe(requests);
    else expect(inFlight).toBeGreaterThanOrEqual(requests);
    const awaited = (owed['response.completed'] ?? 0) + (owed['request.aborted'] ?? 0);
    if (rounds.length === 1 && book.launches) expect(awaited).toBeLessThanOrEqual(requests);
  }
}

const recipes = ['tail-batching', 'lossless-tail', 'tail-pipelining', 'rollpacker'].filter(isChosen);

test.each(recipes)('%s: after a restart, why() names the open rounds and what runs in them', (id) => {
  const definition = registry.get(id) as AnyPolicyDefinition;
  for (const config of exampleConfigs[id]!) {
    fc.assert(
      fc.property(tapes(), (tape) => {
        const events = likelyEvents(definition, config, tape, 40);
        const before = newSubject(definition, config);
        const book = new Book(definition);
        const apply = (subject: Subject, event: AnyEvent) => {
          const given = answer(subject, event);
          if ('decisions' in given) book.heard(event, given.decisions);
          return given;
        };
        for (const event of events) apply(before, event);
        const subject = create(definition, { snapshot: before.snapshot() as never }) as unknown as Subject;
        const weightVersion = latestVersion(events) + 1;
        const host = new ObedientHost(definition, definition.config.parse(config), {
          ...{ prefix: 'again-', choices: choicesOf(tape.length), weightVersion },
        });
        const ahead = subject.at - hostTime(subject);
        let event: AnyEvent | undefined = {
          type: 'host.restarted',
          at: subject.at - ahead,
          idPrefix: 'again-',
        } as never;
        for (let turn = 0; event !== undefined && turn < 40; turn += 1) {
          const given = apply(subject, event);
          if ('refused' in given) host.refused(given.refused);
          else host.heard(event, given.decisions);
          expectAgreement(subject, book);
          event = host.next(subject.at - ahead);
          if (event === undefined && turn < 20) {
            host.begin();
            event = host.next(subject.at - ahead);
          }
        }
      }),
      runs(4),
    );
  }
});
