// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: slots. */
import type { Because, Stamped } from './objects.ts';

/**
 * An environment did not start, or has broken, and is gone: through no fault of the code in it.
 *
 * Event `slot.failed`.
 */
export interface SlotFailed extends Stamped<'slot.failed'> {
  /** Id of the environment, minted by the policy. At most 512 characters. */
  slotId: string;
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * An environment has started, or was reset after its program, and can be given to a program.
 *
 * Event `slot.ready`.
 */
export interface SlotReady extends Stamped<'slot.ready'> {
  /** Id of the environment, minted by the policy. At most 512 characters. */
  slotId: string;
}

/**
 * An environment has ended, and its place is free.
 *
 * Event `slot.released`.
 */
export interface SlotReleased extends Stamped<'slot.released'> {
  /** Id of the environment, minted by the policy. At most 512 characters. */
  slotId: string;
}

/**
 * A program needs an environment before it can go on.
 *
 * Event `slot.requested`.
 */
export interface SlotRequested extends Stamped<'slot.requested'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Kind of the environment, such as the image of a sandbox. At most 512 characters. */
  environment: string;
}

/**
 * From now on so many environments of this kind may exist at once; those above it end with their programs.
 *
 * Event `slots.changed`.
 */
export interface SlotsChanged extends Stamped<'slots.changed'> {
  /** Kind of the environment, such as the image of a sandbox. At most 512 characters. */
  environment: string;
  /** Most environments of this kind. A whole number, 0 or more. */
  slots: number;
}

/**
 * Give this environment to this program, which keeps it until `program.closed`.
 *
 * Command `slot.assign`; answered by `response.completed`, `response.failed`, `request.aborted`, `program.closed`.
 */
export interface SlotAssign extends Stamped<'slot.assign'> {
  /** Id of the environment, minted by the policy. At most 512 characters. */
  slotId: string;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Kind of the environment, such as the image of a sandbox. At most 512 characters. */
  environment: string;
  /** Why, with the numbers. */
  reason:
    | Because<'oldest', {
        /** How long the program has waited, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Programs that wait for an environment of this kind. A whole number, 0 or more. */
        waiting: number;
      }>['reason']
    | Because<'retry', {
        /** How long the program has waited, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Environments of this program that have failed. A whole number, 0 or more. */
        failures: number;
        /** How many may fail before it gets no other. A whole number, 0 or more. */
        budget: number;
      }>['reason']
    | Because<'host_restarted'>['reason'];
}

/**
 * A program that has asked for an environment gets none: it may ask again.
 *
 * Notice `slot.denied`; an event of `watchdog`.
 */
export interface SlotDenied extends Stamped<'slot.denied'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Kind of the environment, such as the image of a sandbox. At most 512 characters. */
  environment: string;
  /** Why, with the numbers. */
  reason:
    | Because<'failed', {
        /** Environments of this program that have failed. A whole number, 0 or more. */
        failures: number;
        /** How many may fail before it gets no other. A whole number, 0 or more. */
        budget: number;
      }>['reason']
    | Because<'failing', {
        /** Failures one after the other. A whole number, 0 or more. */
        failures: number;
        /** Time until one is tried, in seconds. A number, 0 or more. */
        retrySeconds: number;
      }>['reason']
    | Because<'no_slots' | 'closed'>['reason'];
}

/**
 * The end of an environment was not confirmed in time: its place counts as free.
 *
 * Notice `slot.expired`; an event of `watchdog`.
 */
export interface SlotExpired extends Stamped<'slot.expired'> {
  /** Id of the environment, minted by the policy. At most 512 characters. */
  slotId: string;
  /** Kind of the environment, such as the image of a sandbox. At most 512 characters. */
  environment: string;
  /** Why, with the numbers. */
  reason: Because<'end_unconfirmed', {
    /** How long the confirmation was waited for, in seconds. A number, 0 or more. */
    graceSeconds: number;
  }>['reason'];
}

/**
 * A report about an environment that is gone: nothing changes.
 *
 * Notice `slot.late`.
 */
export interface SlotLate extends Stamped<'slot.late'> {
  /** Id of the environment, minted by the policy. At most 512 characters. */
  slotId: string;
  /** Why, with the numbers. */
  reason: Because<'already_ended'>['reason'];
}

/**
 * Start an environment of this kind, and report `slot.ready` or `slot.failed`.
 *
 * Command `slot.prewarm`; answered by `slot.ready`, `slot.failed`.
 */
export interface SlotPrewarm extends Stamped<'slot.prewarm'> {
  /** Id of the environment, minted by the policy. At most 512 characters. */
  slotId: string;
  /** Kind of the environment, such as the image of a sandbox. At most 512 characters. */
  environment: string;
  /** Why, with the numbers. */
  reason:
    | Because<'requested', {
        /** Programs that wait for an environment of this kind. A whole number, 0 or more. */
        waiting: number;
      }>['reason']
    | Because<'predicted', {
        /** Programs that will need one before another could start. A whole number, 0 or more. */
        expected: number;
        /** Environments of this kind that are ready or start, and have no program. A whole number, 0 or more. */
        idle: number;
      }>['reason']
    | Because<'trial', {
        /** Failures one after the other, since which none was started. A whole number, 0 or more. */
        failures: number;
      }>['reason'];
}

/**
 * End this environment, or reset it for another program: report `slot.released` or `slot.ready`. A program that it
 * still has fails.
 *
 * Command `slot.reclaim`; answered by `slot.released`, `slot.ready`, `slot.failed`.
 */
export interface SlotReclaim extends Stamped<'slot.reclaim'> {
  /** Id of the environment, minted by the policy. At most 512 characters. */
  slotId: string;
  /** Kind of the environment, such as the image of a sandbox. At most 512 characters. */
  environment: string;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId?: string | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'closed'>['reason']
    | Because<'tool_timeout', {
        /** Name of the tool. */
        tool: string;
        /** How long its tool has run, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** How long it may run, in seconds. A number, 0 or more. */
        limitSeconds: number;
      }>['reason']
    | Because<'start_timeout', {
        /** How long it has been starting, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** How long it may take, in seconds. A number, 0 or more. */
        limitSeconds: number;
      }>['reason']
    | Because<'idle', {
        /**
         * Environments of this kind that are ready and have no program, this one included. A whole number, 0 or more.
         */
        idle: number;
        /** How long this one had no program, in seconds. A number, 0 or more. */
        idleSeconds: number;
      }>['reason']
    | Because<'fewer', {
        /** Most environments of this kind. A whole number, 0 or more. */
        slots: number;
      }>['reason'];
}

/**
 * Environments of a kind that was suspended are started again as needed.
 *
 * Notice `slots.recovered`.
 */
export interface SlotsRecovered extends Stamped<'slots.recovered'> {
  /** Kind of the environment, such as the image of a sandbox. At most 512 characters. */
  environment: string;
  /** Why, with the numbers. */
  reason: Because<'started' | 'host_restarted', {
    /** How long none was started, in seconds. A number, 0 or more. */
    suspendedSeconds: number;
  }>['reason'];
}

/**
 * Environments of this kind fail one after the other: none is started until a trial succeeds.
 *
 * Notice `slots.suspended`.
 */
export interface SlotsSuspended extends Stamped<'slots.suspended'> {
  /** Kind of the environment, such as the image of a sandbox. At most 512 characters. */
  environment: string;
  /** Why, with the numbers. */
  reason: Because<'failing', {
    /** Failures one after the other. A whole number, 0 or more. */
    failures: number;
    /** Time until one is tried, in seconds. A number, 0 or more. */
    retrySeconds: number;
  }>['reason'];
}
