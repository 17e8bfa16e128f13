/** The sessions of a server: opens, finds, lists and closes them by their ids. */
import type { AnyDefinition, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import type { Registry } from '../../core/machine/registry.ts';
import { parse } from '../../core/machine/validate.ts';
import { failure, refuse, show } from '../../errors.ts';
import type { FoundSession, Records } from '../journal/records.ts';
import type { ParamsOf, ResultOf } from '../methods/methods.ts';
import { exceeded } from '../methods/refusals.ts';
import { Aside } from './aside.ts';
import { openDelivery } from './saved-delivery.ts';
import { Session, type SessionHost } from './session.ts';
import { checkShadow } from './shadow.ts';
import { SortedIds } from './sorted-ids.ts';
import type { Reader } from './stream.ts';

/** A reader that is also called when a session ends. */
export interface SessionReader extends Reader {
  closed(session: Session, reason: 'closed' | 'replaced'): void;
}

type Settings = Readonly<Record<string, unknown>>;

/** Refuses another configuration than that of the open session, and names the settings that differ. */
function checkSame(opened: Settings, config: Settings): void {
  const keys = [...new Set([...Object.keys(opened), ...Object.keys(config)])];
  const differ = keys.filter((key) => JSON.stringify(config[key]) !== JSON.stringify(opened[key]));
  if (differ.length === 0) return;
  const of = (settings: Settings) => Object.fromEntries(differ.map((key) => [key, settings[key]]));
  const instead = 'attach without a configuration, open another session, or replace this one';
  refuse('invalid_config', 'config', `${show(of(opened))}, as the session was opened: ${instead}`, of(config));
}

export class Sessions {
  readonly #registry: Registry<readonly AnyDefinition[]>;
  readonly #host: SessionHost;
  readonly #journal: Records | undefined;
  readonly #sessions = new Map<string, Session>();
  readonly #aside = new Map<string, Aside>();
  readonly #ids = new SortedIds();
  #made = 0;

  /** @param journal - stores the sessions; without a journal, they end with the process */
  constructor(registry: Registry<readonly AnyDefinition[]>, host: SessionHost, journal?: Records) {
    this.#registry = registry;
    this.#host = host;
    this.#journal = journal;
  }

  /**
   * Restores a session. A session that cannot be restored is set aside and returned. Call this before any other method.
   *
   * @throws PolicyError if another version wrote steps that cannot be replayed; that version can still continue, because nothing
   * is written yet
   */
  restore(found: FoundSession): Aside | undefined {
    const { session: id } = found.saved;
    // A damaged record may bear the name of another session.
    if (this.#sessions.has(id) || this.#aside.has(id))
      return this.restore({ ...found, saved: { ...found.saved, session: `${id} (damaged)` } });
    this.#ids.add(id);
    try {
      this.#restored(found);
      return undefined;
    } catch (error) {
      if (found.isTakenOver) throw error;
      const aside = new Aside(found, failure('the session to be restored', error));
      this.#aside.set(id, aside);
      return aside;
    }
  }

  /** Throws `snapshot_mismatch`; `unknown_id` if the registry no longer has the policy. */
  #restored({ saved, damage, resume }: FoundSession): Session {
    if (damage !== undefined) throw damage;
    const { session: id, deliver, timers, shadow, snapshot, armed, ...rest } = saved;
    const definition = this.#definition({ policy: snapshot.policy });
    const session = new Session(id, { definition, snapshot, armed, deliver, timers, shadow, saved: rest }, this.#host);
    try {
      session.keepIn(resume(session));
    } catch (error) {
      session.discard();
      throw error;
    }
    this.#sessions.set(id, session);
    return session;
  }

  /** Sessions that cannot be restored, in the order of finding. */
  get aside(): ReadonlyMap<string, Aside> {
    return this.#aside;
  }

  /** Starts the timers, once all sessions are restored. */
  restored(): void {
    this.#made = this.#journal?.made ?? 0;
    for (const session of this.#sessions.values()) session.start();
  }

  get size(): number {
    return this.#sessions.size;
  }

  [Symbol.iterator](): Iterator<Session> {
    return this.#sessions.values();
  }

  /** Throws `unknown_id`. */
  get(id: string): Session {
    const found = this.#sessions.get(id);
    if (found !== undefined) return found;
    this.#aside.get(id)?.refuse();
    refuse('unknown_id', 'session', 'a session that is open', id);
  }

  /** Throws `unknown_id`, `duplicate_id`, `invalid_input`, `invalid_config`, `snapshot_mismatch`, `limit_exceeded`. */
  open(params: ParamsOf<'session.open'>): ResultOf<'session.open'> {
    const definition = this.#definition(params);
    const id = params.session ?? this.#newId();
    const aside = this.#aside.get(id);
    const existing =
      this.#sessions.get(id) ?? (params.onExisting === 'attach' ? aside && this.#tryAgain(aside) : undefined);
    if (existing !== undefined && params.onExisting === 'attach') return this.#attach(existing, definition, params);
    if ((existing ?? aside) !== undefined && params.onExisting === 'fail') {
      refuse('duplicate_id', 'session', 'a session that is not open yet', id);
    }
    const { maxSessions, maxTotalIds } = this.#host.limits;
    const count = this.#sessions.size + this.#aside.size;
    if ((existing ?? aside) === undefined && count >= maxSessions) {
      exceeded('maxSessions', 'session', `at most ${maxSessions} sessions`, count + 1);
    }
    const session = this.#make(id, definition, params);
    const { ids } = this.#host.total;
    if (session.promised > 0 && ids - (existing?.promised ?? 0) > maxTotalIds) {
      session.discard();
      exceeded('maxTotalIds', 'snapshot', `at most ${maxTotalIds} ids in flight in all sessions`, ids);
    }
    // The old session ends only after the new one exists.
    if (existing !== undefined) {
      session.follow(existing);
      this.#end(existing, 'replaced');
    }
    this.#forget(aside);
    if (this.#journal !== undefined) session.keepIn(this.#journal.begin(session));
    this.#sessions.set(id, session);
    if (existing === undefined) this.#ids.add(id);
    session.start();
    return this.#opened(session);
  }

  /** Throws `unknown_id`. */
  close(id: string): void {
    const aside = this.#aside.get(id);
    if (aside === undefined) this.#end(this.get(id), 'closed');
    this.#forget(aside);
    this.#sessions.delete(id);
    this.#ids.delete(id);
  }

  /** Returns a state as JSON, also of a session that cannot be restored. Throws `unknown_id`. */
  snapshot(id: string, delivery: boolean): ResultOf<'session.snapshot'> {
    return (this.#aside.get(id) ?? this.get(id)).snapshot(delivery);
  }

  #tryAgain(aside: Aside): Session {
    const session = this.#restored(aside.found);
    this.#aside.delete(aside.id);
    session.start();
    return session;
  }

  #forget(aside: Aside | undefined): void {
    if (aside === undefined) return;
    aside.end();
    this.#aside.delete(aside.id);
    this.#ids.delete(aside.id);
  }

  /** Closes all sessions; the next server continues sessions in a journal. */
  closeAll(): void {
    this.#host.gate.close();
    for (const session of this.#sessions.values()) {
      session.finish();
      if (this.#journal === undefined) this.#end(session, 'closed');
      else session.close();
    }
    // A second call finds no session.
    this.#sessions.clear();
    this.#aside.clear();
    this.#ids.clear();
  }

  list(after: string | undefined): ResultOf<'session.list'> {
    const { ids, more } = this.#ids.after(after, this.#host.limits.pageSessions);
    const sessions = ids.map((id) => {
      const aside = this.#aside.get(id);
      if (aside !== undefined) return aside.listed;
      const { deliver, timers, shadow, policy, seq } = this.#sessions.get(id)!;
      return {
        session: id,
        policy: policy.id,
        version: policy.version,
        seq,
        deliver,
        timers,
        ...(shadow && { shadow }),
      };
    });
    return more ? { sessions, next: ids.at(-1)! } : { sessions };
  }

  #make(id: string, definition: AnyPolicyDefinition, params: ParamsOf<'session.open'>): Session {
    const { config, snapshot, armed, delivery, deliver = 'reply', timers = 'host', shadow = false } = params;
    if (snapshot !== undefined && config !== undefined) {
      refuse('invalid_input', 'config', 'none beside a snapshot, which has its own', config);
    }
    if (timers === 'server' && deliver === 'reply') {
      const expected = 'deliver: stream where the server runs the timers: no answer could carry their decisions';
      refuse('invalid_input', 'deliver', expected, deliver);
    }
    if (timers === 'host' && armed !== undefined) {
      refuse('invalid_input', 'armed', 'no timers where the host runs them', armed);
    }
    if (shadow) checkShadow(definition);
    if (delivery !== undefined && snapshot === undefined) {
      refuse('invalid_input', 'delivery', 'none without the snapshot that it goes with', delivery);
    }
    const saved = delivery === undefined ? undefined : openDelivery(delivery, deliver, this.#host.limits);
    return new Session(id, { definition, config, snapshot, armed, deliver, timers, shadow, saved }, this.#host);
  }

  #definition({ policy, snapshot }: Pick<ParamsOf<'session.open'>, 'policy' | 'snapshot'>): AnyPolicyDefinition {
    const inside = (snapshot as { policy?: unknown } | null | undefined)?.policy;
    const id = policy ?? (typeof inside === 'string' ? inside : undefined);
    if (id === undefined) return refuse('invalid_input', 'policy', 'the id of a policy, or a snapshot', policy);
    const definition = this.#registry.get(id);
    if (definition.kind !== 'planner') return definition;
    refuse('unknown_id', 'policy', 'a policy or a recipe', `${id}, a planner`);
  }

  /** Refuses parameters that differ from those of the open session; absent parameters match anything. */
  #attach(session: Session, definition: AnyPolicyDefinition, params: ParamsOf<'session.open'>) {
    const { policy, deliver, timers, shadow } = session;
    if (definition.id !== policy.id) refuse('invalid_input', 'policy', `${policy.id}, as it was opened`, definition.id);
    if ((params.deliver ?? deliver) !== deliver) refuse('invalid_input', 'deliver', deliver, params.deliver);
    if ((params.timers ?? timers) !== timers) refuse('invalid_input', 'timers', timers, params.timers);
    if ((params.shadow ?? shadow) !== shadow) refuse('invalid_input', 'shadow', String(shadow), params.shadow);
    if (params.config !== undefined) {
      checkSame(policy.config as Settings, parse(definition.config, params.config, 'invalid_config') as Settings);
    }
    return this.#opened(session);
  }

  #opened({ id, policy }: Session): ResultOf<'session.open'> {
    return { session: id, policy: policy.id, version: policy.version, seq: policy.seq };
  }

  #end(session: Session, reason: 'closed' | 'replaced'): void {
    session.end(reason);
    if (session.deliver !== 'stream') return;
    for (const reader of [...session.stream.readers]) (reader as SessionReader).closed(session, reason);
  }

  #newId(): string {
    do this.#made += 1;
    while (this.#sessions.has(`s${this.#made}`) || this.#aside.has(`s${this.#made}`));
    if (this.#journal !== undefined) this.#journal.made = this.#made;
    return `s${this.#made}`;
  }
}
