/** Groups of responses that leave together, such as the responses of a prompt or of a round. Adding and removing take O(1). */

type Place = 'placeInPrompt' | 'placeInRound';
/** A member stores its own position in each group. */
type Member = { readonly seq: number } & Record<Place, number>;

export class Group<T extends Member> {
  readonly #place: Place;
  readonly #members: T[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    (member as Member)[this.#place] = this.#members.push(member) - 1;
  }

  /** Removes a member; the last member takes its position. */
  remove(member: T): void {
    const last = this.#members.pop()!;
    if (last === member) return;
    const place = member[this.#place];
    this.#members[place] = last;
    (last as Member)[this.#place] = place;
  }

  /** Returns the members in the order of their requests. */
  members(): T[] {
    return this.#members.slice().sort((a, b) => a.seq - b.seq);
  }
}

/** Puts a member into the group with this id. */
export function join<T extends Member>(groups: Map<string, Group<T>>, id: string, place: Place, member: T): void {
  let group = groups.get(id);
  if (group === undefined) groups.set(id, (group = new Group<T>(place)));
  group.add(member);
}

/** Takes a member out of its group; an empty group is removed. */
export function leave<T extends Member>(groups: Map<string, Group<T>>, id: string, member: T): void {
  const group = groups.get(id)!;
  group.remove(member);
  if (group.size === 0) groups.delete(id);
}
