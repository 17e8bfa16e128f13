/** A trace of one's own: responses of prompts, quantiles, or sequences with images and videos. */
import { PolicyError } from 'rollflex';
import { readTrace, readVlmTrace, type Trace } from 'rollflex/sim';

/** What was loaded. Sequences are read anew with the limits of each simulation. */
export type Own =
  | { readonly kind: 'trace'; readonly name: string; readonly trace: Trace; readonly what: string }
  | { readonly kind: 'sequences'; readonly name: string; readonly text: string; readonly what: string };

/** Whether a line is a sequence of the vision-language simulator. */
function isSequence(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'responseTokens' in value;
  } catch {
    return false;
  }
}

const count = (value: number, what: string): string =>
  `${value.toLocaleString('en-US')} ${what}${value === 1 ? '' : 's'}`;

/** Reads a trace. Throws `PolicyError` `invalid_input` with name, line and field. */
export function readOwn(name: string, text: string): Own {
  const first = text.split('\n', 50).find((line) => line.trim() !== '');
  if (first !== undefined && isSequence(first.trim())) {
    const { length } = readVlmTrace(text, name);
    return { kind: 'sequences', name, text, what: `${count(length, 'sequence')} for the vision-language step` };
  }
  const trace = readTrace(text, name);
  if (trace.kind === 'quantiles') {
    return { kind: 'trace', name, trace, what: `quantiles of ${count(trace.rows.length, 'client')}` };
  }
  const responses = trace.prompts.reduce((sum, one) => sum + one.responses.length, 0);
  const what = `${count(trace.prompts.length, 'prompt')} with ${count(responses, 'response')} (${trace.reader})`;
  return { kind: 'trace', name, trace, what };
}

/** The loaded trace as one of responses. Throws `PolicyError` `invalid_input` if there is none, or another kind. */
export function responsesOf(own: Own | undefined): { readonly name: string; readonly trace: Trace } {
  if (own === undefined) {
    throw new PolicyError('invalid_input', { expected: 'a trace of your own, loaded below', got: 'none', path: 't' });
  }
  if (own.kind === 'trace') return own;
  const expected = 'lengths of responses: sequences with images and videos are for the vision-language step';
  throw new PolicyError('invalid_input', { expected, got: own.what, path: own.name });
}
