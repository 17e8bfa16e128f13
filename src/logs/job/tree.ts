/** A state as a tree that is opened node by node, so that only visible nodes are sent. */
import { refuse } from '../../errors.ts';

/** A value in a state. */
export interface TreeNode {
  /** Name in the parent object, or number in a list. */
  readonly key: string;
  /** The value, unless it is an object or a list; a long text is cut. */
  readonly value?: string | number | boolean | null;
  /** Number of values in an object or a list. */
  readonly size?: number;
  /** Set if the node is a list. */
  readonly isList?: true;
  /** For an object in a list: its ids, or its first values, which tell it from the others. */
  readonly label?: string;
}

/** The nodes below a node, in pages. */
export interface TreePage {
  /** The parts, in order. */
  readonly nodes: readonly TreeNode[];
  /** Number of all nodes below this one. */
  readonly size: number;
}

export const nodesOfAPage = 200;
const [longestText, longestLabel] = [2000, 60];

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns the nodes at a path of a state. Throws `unknown_id` for a path that does not exist. */
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
