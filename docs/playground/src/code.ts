/** Configurations as TypeScript to paste. */
import type { ShownConfig } from './worker/messages.ts';

const isName = (key: string): boolean => /^[A-Za-z_$][\w$]*$/.test(key);
/** A line is no wider than this, and what stands by itself is laid out in lines sooner. */
const widest = { inner: 96, outer: 40 };

/** A plain value as a TypeScript literal. */
export function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  const [open, close] = isList ? ['[', ']'] : ['{ ', ' }'];
  const inner = `${indent}  `;
  const part = (key: string, one: unknown, at: string): string =>
    isList ? literal(one, at) : `${isName(key) ? key : literal(key)}: ${literal(one, at)}`;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  if (entries.length === 0) return isList ? '[]' : '{}';
  const flat = `${open}${entries.map(([key, one]) => part(key, one, '')).join(', ')}${close}`;
  if (!flat.includes('\n') && indent.length + flat.length <= (indent === '' ? widest.outer : widest.inner)) return flat;
  const lines = entries.map(([key, one]) => `${inner}${part(key, one, inner)},`);
  return `${open.trim()}\n${lines.join('\n')}\n${indent}${close.trim()}`;
}

/** The code of a configuration. */
export function codeOf({ kind, id, config }: ShownConfig): string {
  if (id === 'tail-batching') {
    return `import { create, tailBatching } from 'rollflex';\n\nconst tail = create(tailBatching, ${literal(config)});\n`;
  }
  if (kind === 'planner') {
    return `import { flexUlysses, runPlanner } from 'rollflex';\n\nconst plan = runPlanner(flexUlysses, ${literal(config)});\n`;
  }
  return `import { registry } from 'rollflex';\n\nconst policy = registry.create('${id}', ${literal(config)});\n`;
}
