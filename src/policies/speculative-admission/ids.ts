/** Request ids: `<idPrefix><prompt>/<index>#<attempt>`, never reused. */

/** What a request id says. */
export interface ParsedId {
  readonly promptId: string;
  readonly index: number;
  readonly attempt: number;
}

/** The prompt and the response that a request is for. */
export type Place = Pick<ParsedId, 'promptId' | 'index'>;

// Anchored: an id without any of it is refused in linear time.
const tail = /^(.+)\/(0|[1-9]\d{0,8})#(0|[1-9]\d{0,8})$/s;

/**
 * Makes ids of requests. Those of one prompt share their beginning, those of one attempt their end: with 100,000 in
 * flight, ids are a third of the memory that events have to wait for.
 */
export class IdMint {
  #prefix = '';
  #promptId = '';
  #head = '/';
  #attempt = -1;
  #tails: string[] = [];

  /** The id of a request. */
  mint(prefix: string, promptId: string, index: number, attempt: number): string {
    if (promptId !== this.#promptId || prefix !== this.#prefix) {
      this.#prefix = prefix;
      this.#promptId = promptId;
      this.#head = `${prefix}${promptId}/`;
    }
    if (attempt !== this.#attempt) {
      this.#attempt = attempt;
      this.#tails = [];
    }
    this.#tails[index] ??= `${index}#${attempt}`;
    return this.#head + this.#tails[index];
  }
}

/** Where requests have their places: the check of an event and its application ask for the same one. */
export class Places {
  #prefix = '';
  #id = '';
  #place: Place | undefined;

  of(prefix: string, id: string): Place | undefined {
    if (id !== this.#id || prefix !== this.#prefix) {
      this.#place = placeOf(prefix, id);
      this.#prefix = prefix;
      this.#id = id;
    }
    return this.#place;
  }
}

/** Reads an id that was minted under the prefix, or gives `undefined`. */
export function parseId(prefix: string, id: string): ParsedId | undefined {
  if (!id.startsWith(prefix)) return undefined;
  const match = tail.exec(id.slice(prefix.length));
  if (match === null) return undefined;
  return { promptId: match[1]!, index: Number(match[2]), attempt: Number(match[3]) };
}

/** Where a request of this prefix has its place, if its id is well formed: on the path of every event, so it is lean. */
export function placeOf(prefix: string, id: string): Place | undefined {
  const slash = id.lastIndexOf('/', id.lastIndexOf('#'));
  if (slash <= prefix.length || !id.startsWith(prefix)) return undefined;
  return { promptId: id.slice(prefix.length, slash), index: Number.parseInt(id.slice(slash + 1), 10) };
}

/** The attempt that a minted id names. */
export function attemptOf(id: string): number {
  return Number.parseInt(id.slice(id.lastIndexOf('#') + 1), 10);
}
