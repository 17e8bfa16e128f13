/**
 * Notices a step that a dump has twice, in two files or in one to which a resumed run has appended: its responses must not make
 * groups of twice the size. Every stretch of a file in which steps do not go back is a pass; a segment is a step of a pass.
 */
import { refuse } from '../../../errors.ts';

/** Which of several records of a step is kept: the first, the last, or `all`, because they are parts of one. */
export type Repeated = 'first' | 'last' | 'all';

/** A step of a pass, or a file without steps. */
export interface Segment {
  readonly file: string;
  /** Its first line. */
  readonly where: string;
  readonly pass: number;
  readonly step: number | undefined;
  /** Sizes of its groups, by id. */
  readonly groups: Map<string, number>;
}

/** A file with more passes has its steps mixed. */
const mostPasses = 64;
/** Where steps are mixed, runs of rows of one step are shorter. */
const leastInRun = 4;

interface FilePasses {
  readonly segments: Map<string, Segment>;
  readonly steps: Set<number | undefined>;
  passes: number;
  runs: number;
  rows: number;
  last: number | undefined;
}

const folderOf = (file: string): string => file.replace(/[^/\\]*$/, '');

/** All segments of a dump. */
export class Segments {
  readonly #files = new Map<string, FilePasses>();

  /** Returns the segment of a row, which is the next in its file. */
  of(file: string, step: number | undefined, where: string): Segment {
    const passes = this.#files.get(file) ?? {
      segments: new Map(),
      steps: new Set(),
      passes: 0,
      runs: 0,
      rows: 0,
      last: undefined,
    };
    if (passes.rows === 0) this.#files.set(file, passes);
    passes.rows += 1;
    if (passes.rows === 1 || step !== passes.last) passes.runs += 1;
    if (step !== undefined && passes.last !== undefined && step < passes.last && passes.passes < mostPasses)
      passes.passes += 1;
    passes.last = step;
    passes.steps.add(step);
    const key = `${passes.passes} ${step}`;
    const known = passes.segments.get(key);
    if (known !== undefined) return known;
    const segment: Segment = { file, where, pass: passes.passes, step, groups: new Map() };
    passes.segments.set(key, segment);
    return segment;
  }

  /** Yields the segments of each step that has several, in the order in which they were read; parts of one step are one list. */
  *repeated(): Generator<readonly (readonly Segment[])[]> {
    const bySteps = new Map<number | undefined, Segment[][]>();
    for (const passes of this.#files.values()) {
      const isMixed = passes.passes >= mostPasses || (passes.rows < leastInRun * passes.runs && !isUniform(passes));
      const here = new Map<number | undefined, Segment[][]>();
      for (const segment of passes.segments.values()) {
        const list = here.get(segment.step) ?? [];
        here.set(segment.step, list);
        if (isMixed && list.length > 0) list[0]!.push(segment);
        else list.push([segment]);
      }
      for (const [step, list] of here) bySteps.set(step, [...(bySteps.get(step) ?? []), ...list]);
    }
    const counts = [...bySteps.values()].map((list) => new Set(list.flat().map(({ file }) => file)).size);
    const isManyFiles = 2 * counts.filter((count) => count > 1).length >= counts.length;
    for (const list of bySteps.values()) {
      if (list.length > 1 || list[0]!.length > 1) yield this.#isOfParts(list, isManyFiles) ? [list.flat()] : list;
    }
  }

  /** Whether records of a step are parts of it, and no repetition: ranks and tasks have files of their own, in one folder. */
  #isOfParts(list: readonly (readonly Segment[])[], isManyFiles: boolean): boolean {
    const all = list.flat();
    if (all[0]!.step === undefined) return !sharesGroups(list, 2);
    const files = [...new Set(all.map(({ file }) => file))];
    if (files.length < list.length || new Set(files.map(folderOf)).size > 1 || sharesGroups(list, 1)) return false;
    const steps = files.map((file) => [...this.#files.get(file)!.steps].sort().join(' '));
    const hasOneStep = files.every((file) => this.#files.get(file)!.steps.size === 1);
    return hasOneStep ? isManyFiles : new Set(steps).size === 1;
  }
}

/** Whether two of the records have a prompt in common, with at least so many responses in each. */
function sharesGroups(list: readonly (readonly Segment[])[], least: number): boolean {
  const seen = new Map<string, number>();
  for (const [at, segments] of list.entries()) {
    for (const { groups } of segments) {
      for (const [id, size] of groups) {
        if (size < least) continue;
        if ((seen.get(id) ?? at) !== at) return true;
        seen.set(id, at);
      }
    }
  }
  return false;
}

/** Whether all groups of all passes have one size, which is more than one: passes are whole. */
function isUniform({ segments }: FilePasses): boolean {
  const sizes = new Set([...segments.values()].flatMap(({ groups }) => [...groups.values()]));
  return sizes.size === 1 && !sizes.has(1);
}

/** Refuses a step that occurs several times, naming its places. */
export function refuseRepeated(list: readonly (readonly Segment[])[], others: number): never {
  const [first, second] = list.map(([one]) => one!) as [Segment, Segment];
  const what =
    first.step === undefined
      ? 'the same prompts are'
      : `step ${first.step}${others > 0 ? ` (and ${others} more)` : ''} is`;
  const expected =
    `${first.step === undefined ? 'prompts' : 'each step'} once, or --repeated last, first or all: ${what} in ${first.where} ` +
    `and again in ${second.where}; last and first keep one, all takes them for parts of one`;
  const got = list.map((segments) => segments.reduce((sum, { groups }) => sum + sizeOf(groups), 0));
  return refuse('invalid_input', second.where, expected, `${got.join(' and ')} responses`);
}

const sizeOf = (groups: ReadonlyMap<string, number>): number => [...groups.values()].reduce((sum, one) => sum + one, 0);
