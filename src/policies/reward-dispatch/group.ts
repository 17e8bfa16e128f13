/** Groups of responses that leave together, such as the responses of a prompt or of a round. Adding and removing take O(1). */

type IndexField = 'indexInPrompt' | 'indexInRound';
/** A member stores its own position in each group. */
type Member = { readonly seq: number } & Record<IndexField, number>;

export class Group<T extends Member> {
  readonly #field: IndexField;
  readonly #members: T[] = [];

  constructor(field: IndexField) {
    this.#field = field;
  }

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    (member as Member)[this.#field] = this.#members.push(member) - 1;
  }

  /** Removes a member; the last member takes its position. */
  remove(member: T): void {
    const last = this.#members.pop()!;
    if (last === member) return;
    const index = member[this.#field];
    this.#members[index] = last;
    (last as Member)[this.#field] = index;
  }

  /** Returns the members in the order of their requests. */
  members(): T[] {
    return this.#members.slice().sort((a, b) => a.seq - b.seq);
  }
}

/** Puts a member into the group with this id. */
export function join<T extends Member>(groups: Map<string, Group<T>>, id: string, field: IndexField, member: T): void {
  let group = groups.get(id);
  if (group === undefined) groups.set(id, (group = new Group<T>(field)));
  group.add(member);
}

/** Takes a member out of its group; an empty group is removed. */
export function leave<T extends Member>(groups: Map<string, Group<T>>, id: string, member: T): void {
  const group = groups.get(id)!;
  group.remove(member);
  if (group.size === 0) groups.delete(id);
}
