/** JSON-RPC error codes, and the conversion of refusals to JSON-RPC errors. */
import { failure, isPolicyError, PolicyError } from '../../errors.ts';

/** The error codes in a server's answers. */
export const errorCodes = {
  /** The line is not JSON, or not UTF-8. */
  parseError: -32700,
  /** The line is JSON, but no JSON-RPC request. */
  invalidRequest: -32600,
  /** No method has this name. */
  methodNotFound: -32601,
  /** The parameters do not fit the schema of the method. */
  invalidParams: -32602,
  /** A defect of the server. */
  internalError: -32603,
  /** A refusal by a policy, a planner or a limit; `data.code` has the code. */
  refused: -32000,
} as const;

/** `data` of an error. */
export interface ErrorData {
  /** One of `policyErrorCodes`. */
  readonly code: string;
  /** Path of the bad field, or an empty string. */
  readonly path: string;
  /** The accepted values, as a phrase. */
  readonly expected: string;
  /** The refused value, shortened. */
  readonly got: string;
  /** Progress of a call before it was refused: `index`, `seq`, `decisions` of `session.send`. */
  readonly [more: string]: unknown;
}

/** A refusal with its JSON-RPC code; methods throw it. */
export class RpcError extends Error {
  /** Always `RpcError`. */
  override readonly name = 'RpcError';
  /** Error code of JSON-RPC: one of `errorCodes`. */
  readonly code: number;
  /** The refusal, as plain data. */
  readonly data: ErrorData;

  /**
   * Makes an error for an answer.
   *
   * @param error - a `PolicyError`, also as plain data
   */
  constructor(code: number, error: ReturnType<PolicyError['toJSON']>, more: Readonly<Record<string, unknown>> = {}) {
    super(error.message, { cause: error });
    this.code = code;
    const { code: name, path, expected, got } = error;
    this.data = { code: name, path, expected, got, ...more };
  }
}

/** Converts any thrown value to a JSON-RPC error. Everything but a refusal is a defect: its message is sent, its stack is not. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (isPolicyError(error)) return new RpcError(errorCodes.refused, error);
  return new RpcError(errorCodes.internalError, failure('the server to answer', error));
}

/** Makes an answer for a message that is no valid request; `id` is null if it could not be read. */
export function refusal(code: number, expected: string, got: unknown, id: string | number | null = null): object {
  const kind = code === errorCodes.refused ? 'limit_exceeded' : 'invalid_input';
  const { message, data } = new RpcError(code, new PolicyError(kind, { expected, got }));
  return { jsonrpc: '2.0', id, error: { code, message, data } };
}
