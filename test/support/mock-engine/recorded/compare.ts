/** Compares the answers of a mock engine with a recording, field by field. */
import type { Recorded } from './recorder.ts';
import type { Recording } from './recording.ts';
import { differencesOf, type Shape } from './shapes.ts';

/** A difference that stays, with its reason. */
export interface Difference {
  /** Names of the calls. */
  readonly calls: RegExp;
  /** Path of the field in the answer. */
  readonly field: RegExp;
  /** What is different, and why, as the documentation says it. */
  readonly what: string;
  readonly why: string;
}

/** Returns the differences that nobody has listed, and the listed ones that do not exist. */
export function compare(real: Recording['answers'], mock: Recording['answers'], listed: readonly Difference[]) {
  const unused = new Set(listed);
  const found: string[] = [];
  for (const name of new Set([...Object.keys(real), ...Object.keys(mock)])) {
    for (const one of differencesOf(shapeOf(real[name]), shapeOf(mock[name]))) {
      const known = listed.filter(({ calls, field }) => calls.test(name) && field.test(one));
      for (const difference of known) unused.delete(difference);
      if (known.length === 0) found.push(`${name}: ${one}`);
    }
  }
  return { found, unused: [...unused].map(({ what }) => what) };
}

function shapeOf(recorded: Recorded | undefined): Shape | undefined {
  if (recorded === undefined) return undefined;
  const { status, type, shape } = recorded;
  return { status: `${status}`, type: `${type}`, shape };
}
