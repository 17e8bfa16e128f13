/// <reference lib="dom" />
/** The state as a tree. A node asks for its children when it is opened, and stays open from event to event. */
import type { TreeNode, TreePage } from '../../logs/job/tree.ts';
import { button, element, idButton } from '../kit/elements.ts';

export type AskTree = (path: readonly string[], from: number) => Promise<TreePage>;

/** Paths that are open. */
const open = new Set<string>();

/** Returns the nodes at a path. */
export async function branch(ask: AskTree, path: readonly string[]): Promise<HTMLUListElement> {
  const list = element('ul', 'tree');
  await more(list, ask, path, 0);
  return list;
}

async function more(list: HTMLUListElement, ask: AskTree, path: readonly string[], from: number): Promise<void> {
  const { nodes, size } = await ask(path, from);
  const shown = from + nodes.length;
  list.append(...(await Promise.all(nodes.map((node) => item(ask, path, node)))));
  if (shown >= size) return;
  const rest = button('more', `${size - shown} more`);
  rest.addEventListener('click', () => {
    rest.parentElement!.remove();
    void more(list, ask, path, shown);
  });
  list.append(element('li', '', rest));
}

async function item(ask: AskTree, path: readonly string[], node: TreeNode): Promise<HTMLLIElement> {
  const { key, value, size, isList, label } = node;
  if (size === undefined) {
    const shown =
      typeof value === 'string' && /id$/i.test(key)
        ? idButton(value)
        : element('span', typeof value === 'string' ? 'text' : 'number', String(value));
    return element('li', '', element('b', '', `${key} `), shown);
  }
  const count = size === 0 ? 'empty' : `${size} ${isList ? 'value' : 'field'}${size === 1 ? '' : 's'}`;
  const title = [element('b', '', `${key} `), element('span', 'soft', label ?? count)];
  if (size === 0) return element('li', '', ...title);
  const folded = element('details', '', element('summary', '', ...title));
  const below = [...path, key];
  const name = JSON.stringify(below);
  const fill = async (): Promise<void> => {
    if (folded.children.length === 1) folded.append(await branch(ask, below));
  };
  if (open.has(name)) {
    folded.open = true;
    await fill();
  }
  folded.addEventListener('toggle', () => {
    if (!folded.open) return void open.delete(name);
    open.add(name);
    void fill();
  });
  return element('li', '', folded);
}
