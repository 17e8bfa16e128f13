/**
 * Groups of siblings that are still open: groups of the current round, and of earlier rounds from which nothing was learned yet.
 */
import { z } from 'zod';
import { type Linked, LinkedList } from '../collections/linked-list.ts';
import { endOfScale } from './scale.ts';

const logLengths = z.array(z.int().nonnegative().max(endOfScale));
const group = z
  .tuple([z.string(), z.string().nullable(), z.int().nonnegative(), logLengths, logLengths])
  .describe('Prompt, domain, round, log-lengths of complete responses, and of aborted ones.');
/** Schema of {@link OpenGroups} as JSON: the groups, oldest first. */
export const savedGroups = z.array(group);
type Saved = z.output<typeof savedGroups>;

/** The responses to a prompt in a round. */
export interface Group extends Linked<Group> {
  readonly promptId: string;
  readonly domain: string | undefined;
  readonly round: number;
  /** Log-lengths of complete responses. */
  readonly logLengths: number[];
  /** Log-lengths at which responses were aborted. */
  readonly cut: number[];
}

/** The most open groups, and the most responses per group. */
const mostGroups = 2 ** 16;
const mostSiblings = 1024;

/** Groups by prompt, and by age. Every operation is O(1). */
export class OpenGroups {
  readonly #byPrompt = new Map<string, Group>();
  /** The groups, oldest first. */
  readonly #order = new LinkedList<Group>();

  constructor(saved: Saved = []) {
    for (const [promptId, domain, round, complete, cut] of saved)
      this.#add(promptId, domain ?? undefined, round, [...complete], [...cut]);
  }

  /** Returns the group of a prompt in a round, if it is open. */
  find(promptId: string, round: number | undefined): Group | undefined {
    const group = this.#byPrompt.get(promptId);
    return group?.round === round ? group : undefined;
  }

  /** Returns the group for a response; opens a new group if none is open. */
  enter(promptId: string, domain: string | undefined, round: number): Group {
    return this.#byPrompt.get(promptId) ?? this.#add(promptId, domain, round, [], []);
  }

  /** Removes and returns the group of a prompt if the group is full or belongs to another round. */
  takeOther(promptId: string, round: number): Group | undefined {
    const open = this.#byPrompt.get(promptId);
    if (open === undefined || (open.round === round && open.logLengths.length + open.cut.length < mostSiblings)) return;
    return this.#take(open);
  }

  /** Removes and returns the oldest group if it belongs to an earlier round, or if there are too many. */
  takeOldest(round: number): Group | undefined {
    const oldest = this.#order.peek();
    if (oldest === undefined || (oldest.round >= round && this.#byPrompt.size <= mostGroups)) return;
    return this.#take(oldest);
  }

  save(): Saved {
    const saved: Saved = [];
    for (let one = this.#order.peek() ?? null; one !== null; one = one.next)
      saved.push([one.promptId, one.domain ?? null, one.round, [...one.logLengths], [...one.cut]]);
    return saved;
  }

  #take(group: Group): Group {
    this.#byPrompt.delete(group.promptId);
    this.#order.remove(group);
    return group;
  }

  #add(promptId: string, domain: string | undefined, round: number, logLengths: number[], cut: number[]): Group {
    const group: Group = { promptId, domain, round, logLengths, cut, previous: null, next: null };
    this.#byPrompt.set(promptId, group);
    this.#order.push(group);
    return group;
  }
}
