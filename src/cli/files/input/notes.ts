/** What was not read of the user's files, and why: files and keys that were passed over, and what is damaged. */
import type { OtherKey } from '../../../sim/trace/import/import.ts';

/** Kinds of damage, in words: what has happened to the file. */
export const damages = {
  cutLine: 'the file ends in the middle of a line',
  cutElement: 'the file ends in the middle of its JSON array',
  cutArchive: 'the compressed file ends early',
  glued: 'two lines without a line break between them',
  gluedCut: 'the beginning of a line, and the next line without a line break after it',
  nul: 'NUL bytes, as a file system leaves them where a writer was stopped',
} as const;

/** A kind of damage. */
export type Damage = keyof typeof damages;

/** Why a file was passed over. */
export type PassedOver = 'name' | 'kind' | 'empty' | 'evaluation';

const shown = 3;
const reasons: Readonly<Record<PassedOver, readonly [one: string, more: string]>> = {
  name: ['file that is no dump by its name', 'files that are no dumps by their names'],
  kind: ['file of another kind', 'files of other kinds'],
  empty: ['empty file', 'empty files'],
  evaluation: ['file of evaluations', 'files of evaluations'],
};

/** Collects what is not read of files. */
export class FileNotes {
  readonly #passed = new Map<PassedOver, { count: number; readonly names: string[] }>();
  readonly #damaged = new Map<Damage, { count: number; readonly first: string }>();
  readonly #keys = new Map<string, OtherKey>();
  /** Number of lines, or of elements of an array, that are not whole and were left out. */
  lost = 0;

  /** Counts a file that is not read. */
  pass(why: PassedOver, name: string): void {
    const known = this.#passed.get(why) ?? { count: 0, names: [] };
    known.count += 1;
    if (known.names.length < shown) known.names.push(name);
    this.#passed.set(why, known);
  }

  /**
   * Counts a damage.
   *
   * @param where - `file:line`
   * @param lost - number of lines, or of elements, that were left out
   */
  damage(what: Damage, where: string, lost: number): void {
    const known = this.#damaged.get(what) ?? { count: 0, first: where };
    known.count += 1;
    this.lost += lost;
    this.#damaged.set(what, known);
  }

  /** Adds the keys of a trace that were passed over, by path. */
  keys(others: Readonly<Record<string, OtherKey>>): void {
    for (const [key, other] of Object.entries(others)) {
      this.#keys.set(key, { ...other, count: other.count + (this.#keys.get(key)?.count ?? 0) });
    }
  }

  /** The first damage: its place, and what it is; undefined without any. */
  get firstDamage(): { readonly where: string; readonly what: string } | undefined {
    for (const [what, { first }] of this.#damaged) return { where: first, what: damages[what] };
    return undefined;
  }

  /** Sentences about damage, one for each kind. */
  damaged(): string[] {
    return [...this.#damaged].map(([what, { count, first }]) => {
      const times = count === 1 ? '' : ` (${count} times)`;
      return `${first}: ${damages[what]}${times}`;
    });
  }

  /** Sentences about files that were passed over, one for each reason. */
  passedOver(): string[] {
    return [...this.#passed].map(([why, { count, names }]) => {
      const more = count > names.length ? ', …' : '';
      return `${count} ${reasons[why][count === 1 ? 0 : 1]}: ${names.join(', ')}${more}`;
    });
  }

  /** A sentence about the keys that were passed over; nothing without any. */
  passedOverKeys(): string[] {
    if (this.#keys.size === 0) return [];
    const told = [...this.#keys].slice(0, shown).map(([key, { count, meant }]) => {
      const near = meant === undefined ? '' : `, did you mean "${meant}"?`;
      return `${key} (${count === 1 ? 'once' : `${count} times`}${near})`;
    });
    const more = this.#keys.size - told.length;
    const others = more === 0 ? '' : `, and ${more} more`;
    return [`${this.#keys.size === 1 ? 'a key' : 'keys'} that a trace does not have: ${told.join(', ')}${others}`];
  }

  /** Everything as rows of a summary: a word, and a sentence. */
  rows(): [word: string, text: string][] {
    const lost = this.lost === 0 ? '' : `; not whole, and left out: ${this.lost}`;
    return [
      ...[...this.passedOver(), ...this.passedOverKeys()].map((text): [string, string] => ['not read', text]),
      ...this.damaged().map((text, index): [string, string] => ['damaged', index === 0 ? `${text}${lost}` : text]),
    ];
  }

  /** Everything as an object, for `--json`. */
  toJSON(): {
    readonly passedOver: Readonly<Record<string, number>>;
    readonly damaged: readonly string[];
    readonly lost: number;
  } {
    return {
      passedOver: Object.fromEntries([...this.#passed].map(([why, { count }]) => [why, count])),
      damaged: this.damaged(),
      lost: this.lost,
    };
  }
}
