/** A state as a tree that is opened node by node: only what is looked at is sent. */
import { refuse } from '../../errors.ts';

/** A value in a state. */
export interface TreeNode {
  /** Its name in what is above it, or its number in a list. */
  readonly key: string;
  /** The value, if it is no object and no list; a long text is cut. */
  readonly value?: string | number | boolean | null;
  /** Number of values in an object or a list. */
  readonly size?: number;
  /** Set for a list. */
  readonly isList?: true;
  /** The ids in an object of a list, or its first values: what tells it from the others. */
  readonly label?: string;
}

/** What stands below a node, in pages. */
export interface TreePage {
  /** The parts, in order. */
  readonly nodes: readonly TreeNode[];
  /** Number of nodes below it in all. */
  readonly size: number;
}

export const nodesOfAPage = 200;
const [longestText, longestLabel] = [2000, 60];

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns what stands at a path of a state. Throws `unknown_id` for a path that is not there. */
export function treeAt(state: unknown, path: readonly string[], from: number): TreePage {
  let at: unknown = state;
  for (const key of path) {
    if (!isTree(at) || !Object.hasOwn(at, key)) refuse('unknown_id', 'path', 'a path of the state', path.join(' › '));
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  if (!isTree(at)) return { nodes: [], size: 0 };
  const keys = Object.keys(at);
  const nodes = keys.slice(from, from + nodesOfAPage).map((key) => nodeOf(key, (at as Record<string, unknown>)[key]));
  return { nodes, size: keys.length };
}

function nodeOf(key: string, value: unknown): TreeNode {
  if (typeof value === 'string' && value.length > longestText) return { key, value: `${value.slice(0, longestText)}…` };
  if (!isTree(value)) return { key, value: value as string | number | boolean | null };
  const size = Object.keys(value).length;
  if (Array.isArray(value)) return { key, size, isList: true };
  const label = labelOf(value);
  return { key, size, ...(label === '' ? undefined : { label }) };
}

/** Returns the first ids of an object, or of the objects in it. */
function labelOf(value: object): string {
  const ids = Object.entries(value).flatMap(([name, one]) => {
    if (isTree(one)) return name === 'spec' || name === 'prompt' ? [labelOf(one)] : [];
    return /id$/i.test(name) && typeof one === 'string' ? [one] : [];
  });
  return ids
    .filter((one) => one !== '')
    .join(', ')
    .slice(0, longestLabel);
}
