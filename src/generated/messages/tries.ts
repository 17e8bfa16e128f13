// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: tries. */
import type { Because, Stamped } from './objects.ts';

/**
 * Tries in a domain that was suspended are made as usual again.
 *
 * Notice `tries.recovered`.
 */
export interface TriesRecovered extends Stamped<'tries.recovered'> {
  /** What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. */
  scope: 'engine' | 'environment' | 'reward' | 'loader' | 'prompt';
  /**
   * Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node; absent:
   * all of them. At most 512 characters.
   */
  id?: string | undefined;
  /** Why, with the numbers. */
  reason: Because<'succeeded' | 'told', {
    /** How long there were only single tries, in seconds. A number, 0 or more. */
    suspendedSeconds: number;
  }>['reason'];
}

/**
 * Tries of different items fail one after the other in this domain: from now on there are only single tries, until one
 * succeeds. No item is charged with what fails meanwhile. With the scope `prompt`, no more prompts are asked for.
 *
 * Notice `tries.suspended`.
 */
export interface TriesSuspended extends Stamped<'tries.suspended'> {
  /** What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. */
  scope: 'engine' | 'environment' | 'reward' | 'loader' | 'prompt';
  /**
   * Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node; absent:
   * all of them. At most 512 characters.
   */
  id?: string | undefined;
  /** Why, with the numbers. */
  reason: Because<'failing', {
    /**
     * Different prompts, responses or samples whose tries have failed, none having succeeded since. A whole number, 1
     * or more.
     */
    items: number;
    /** Tries that have failed, none having succeeded since. A whole number, 1 or more. */
    failures: number;
    /** Time until the next single try, in seconds; absent: there is none. A number, 0 or more. */
    retrySeconds?: number | undefined;
  }>['reason'];
}
