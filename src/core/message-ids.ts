/** The ids in events and decisions: all texts in fields that end in `Id`, or in lists that end in `Ids`, at any depth. */

const isIdField = (name: string): boolean => name.endsWith('Id') || name.endsWith('Ids');

/** Calls back with each id in a message, with repetitions. */
export function eachId(message: object, found: (id: string) => void): void {
  for (const name in message) {
    const value = (message as Readonly<Record<string, unknown>>)[name];
    if (typeof value === 'string') {
      if (isIdField(name)) found(value);
    } else if (typeof value === 'object' && value !== null) {
      if (Array.isArray(value) && typeof value[0] === 'string') {
        if (isIdField(name)) for (const one of value) found(one as string);
      } else eachId(value, found);
    }
  }
}

/**
 * Does the same with messages in JSON without spaces, which takes a fraction of the time to parse them. Inside of a text the
 * quotation marks would be escaped.
 */
export function eachIdIn(json: string, found: (id: string) => void): void {
  for (const key of ['Id":"', 'Ids":["']) {
    for (let at = json.indexOf(key); at >= 0; at = json.indexOf(key, at)) {
      at += key.length;
      for (;;) {
        const end = endOfText(json, at);
        const id = json.slice(at, end);
        found(id.includes('\\') ? (JSON.parse(`"${id}"`) as string) : id);
        at = end + 3;
        if (key === 'Id":"' || json.slice(end, at) !== '","') break;
      }
    }
  }
}

/** Returns the place of the quotation mark that ends a text. */
function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from); ; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
}
