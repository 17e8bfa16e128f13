/** What a client asks for: its body, and the name of its program. */
import type { IncomingMessage } from 'node:http';
import type { Asked } from './relay.ts';

/** Headers that name a program, in this order: ours, that of the SGLang gateway, and what clients of other routers send. */
const names = ['x-program-id', 'x-smg-routing-key', 'x-session-id'];
/** Returns the name of the program: from a header, or else from the field `program_id`. */
export function programIn({ headers, body }: Asked): string | undefined {
  for (const name of names) if (typeof headers[name] === 'string' && headers[name] !== '') return headers[name];
  const text = Buffer.concat(body).toString();
  if (!text.includes('"program_id"')) return undefined;
  try {
    const { program_id: name } = JSON.parse(text) as { readonly program_id?: unknown };
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch {
    // The engine says what is wrong with it.
    return undefined;
  }
}

/** Reads the body of a request; `undefined` if it is too long. */
export function bodyOf(
  request: IncomingMessage,
  mostBytes: number,
): Promise<{ body: Buffer[]; bytes: number } | undefined> {
  return new Promise((resolve, reject) => {
    const body: Buffer[] = [];
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > mostBytes) return resolve(undefined);
      body.push(part);
    });
    request.on('end', () => resolve({ body, bytes }));
    request.on('error', reject);
  });
}
