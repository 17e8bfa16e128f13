/** Functions of the host for sessions and a decision log that outlive the engine. */

import type { Clock } from '../core/machine/clock.ts';
import { isPolicyError } from '../errors.ts';
import type { FoundSession } from '../rpc/journal/records.ts';
import type { Sessions } from '../rpc/session/sessions.ts';
import { HostDecisionLog, type HostLogOptions } from './log.ts';
import { PendingRecords } from './records.ts';

/** Options for the data that outlive the engine. */
export interface OutlivingOptions {
  /** Enables stored sessions: after so many events of a session, a snapshot replaces its steps. */
  readonly snapshotEvents?: number;
  readonly log?: HostLogOptions;
}

/** Functions that the host calls before the first call, after each call, and at the end. */
export interface Outliving {
  /**
   * Restores a kept record. The host passes all records in the order of their keys, the record of the store itself first, and then
   * calls {@link Outliving.restored}, before any other function. Returns a refusal as JSON, otherwise an empty text.
   */
  restore(key: string, record: string): string;
  restored(): string;
  /** Returns the records to store before an answer is passed on: see {@link PendingRecords.take}. */
  kept(): string;
  /** Returns the lines to log: see {@link HostDecisionLog.take}. `written` is JSON, or empty. */
  logged(written: string): string;
  /** Replaces all steps by snapshots, so that a later version can continue. Must be the last call. */
  leave(): void;
}

const refusalOf = (act: () => void): string => {
  try {
    act();
    return '';
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    const { code, expected, got, path } = error;
    return JSON.stringify({ code, expected, got, path });
  }
};

/** Makes the journal and the decision log of a service. Throws `invalid_config`. */
export function outlivingStores({ snapshotEvents, log }: OutlivingOptions, version: string, clock: Clock) {
  return {
    ...(snapshotEvents === undefined ? {} : { journal: new PendingRecords(version, snapshotEvents) }),
    ...(log === undefined ? {} : { decisionLog: new HostDecisionLog(log, version, clock) }),
  };
}

/** Binds the functions of {@link Outliving} to the sessions of a service. */
export function outliving(sessions: Sessions, stores: ReturnType<typeof outlivingStores>): Outliving {
  const { journal, decisionLog } = stores;
  const restore = (found: FoundSession | undefined): void => {
    if (found !== undefined) sessions.restore(found);
  };
  return {
    restore: (key, record) => refusalOf(() => restore(journal?.read(key, record))),
    restored: () =>
      refusalOf(() => {
        for (const found of journal?.readLast() ?? []) sessions.restore(found);
        sessions.restored();
      }),
    kept: () => journal?.take() ?? '',
    logged: (written) => decisionLog?.take(written === '' ? undefined : JSON.parse(written)) ?? '',
    leave() {
      sessions.closeAll();
      journal?.compactAll();
    },
  };
}
