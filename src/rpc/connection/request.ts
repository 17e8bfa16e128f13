/** The shape of a JSON-RPC request. */

/** Id of a call. */
export type Id = string | number | null;
/** A call, or a notification if it has no id. */
export interface Request {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: unknown;
  readonly id?: Id;
}

/** Returns the expected form of the first wrong field in a JSON-RPC request; `undefined` if all fields are right. */
export function wrongField(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'a request object';
  const { jsonrpc, method, id, params } = value as Record<string, unknown>;
  if (jsonrpc !== '2.0') return 'jsonrpc: "2.0"';
  if (typeof method !== 'string') return 'the name of a method';
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') return 'an id';
  return params === undefined || (typeof params === 'object' && params !== null) ? undefined : 'params';
}
