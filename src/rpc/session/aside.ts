/** Sessions that cannot be restored: they are kept unchanged and named, while the server continues with the others. */
import { type PolicyError, refuse } from '../../errors.ts';
import type { SessionLog } from '../journal/entries.ts';
import type { FoundSession } from '../journal/records.ts';
import type { ResultOf } from '../methods/methods.ts';

type Listed = ResultOf<'session.list'>['sessions'][number];

/** Most sessions that `server.info` names. */
export const mostNamed = 100;

/** A session that is set aside. */
export class Aside {
  readonly found: FoundSession;
  readonly #log: SessionLog;
  readonly #error: PolicyError;

  constructor(found: FoundSession, error: PolicyError) {
    this.found = found;
    this.#log = found.setAside();
    this.#error = error;
  }

  get id(): string {
    return this.found.saved.session;
  }

  /** Says in a line what happened, and what an operator can do. */
  get told(): string {
    const name = JSON.stringify(this.id);
    return (
      `session ${name} (${this.found.saved.snapshot.policy}) cannot be restored, and is set aside: ${this.#error.code}, ${this.#error.message}. ` +
      `All else goes on. session.open {"session":${name},"onExisting":"attach"} tries again, session.snapshot exports its state, session.close forgets it`
    );
  }

  /** Refuses a call for the session. */
  refuse(): never {
    const { code, message } = this.#error;
    const instead = '`session.open` with `onExisting: attach` tries again, `session.snapshot` exports its state';
    const expected = `a session that could be restored; this one is set aside (${code}, ${message}): ${instead}`;
    refuse('snapshot_mismatch', 'session', expected, this.id);
  }

  /** Entry of the session in the list of sessions. */
  get listed(): Listed {
    const { session, snapshot, deliver, timers, shadow } = this.found.saved;
    const { policy, version, seq } = snapshot;
    const { code, message } = this.#error;
    return { session, policy, version, seq, deliver, timers, ...(shadow && { shadow }), aside: { code, message } };
  }

  /** State and steps of the session as stored. */
  snapshot(delivery: boolean): ResultOf<'session.snapshot'> {
    const { snapshot, armed, producers, answers, stream } = this.found.saved;
    const { steps } = this.found;
    if (snapshot.state === undefined) {
      const { message } = this.#error;
      refuse('snapshot_mismatch', 'session', `a session whose snapshot can be read (${message})`, this.id);
    }
    return {
      snapshot,
      seq: snapshot.seq,
      ...(armed === undefined ? undefined : { armed: [...armed] }),
      ...(steps.length === 0 ? undefined : { steps: [...steps] }),
      ...(delivery ? { delivery: { producers, answers, ...(stream === undefined ? undefined : { stream }) } } : {}),
    };
  }

  /** Forgets the session. */
  end(): void {
    this.#log.end();
  }
}
