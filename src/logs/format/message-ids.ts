/** The ids in events and decisions: all texts in fields that end in `Id`, or in lists that end in `Ids`, at any depth. */

/** Calls back with each id in a message, with repetitions. */
export function eachId(message: object, found: (id: string) => void): void {
  for (const name in message) {
    const value = (message as Readonly<Record<string, unknown>>)[name];
    if (typeof value === 'string') {
      if (name.endsWith('Id')) found(value);
    } else if (typeof value === 'object' && value !== null) {
      if (Array.isArray(value) && typeof value[0] === 'string') {
        if (name.endsWith('Ids')) for (const one of value) found(one as string);
      } else eachId(value, found);
    }
  }
}

/**
 * Does the same for messages in JSON without spaces, in a fraction of the time of parsing: inside a JSON string the quotation
 * marks would be escaped.
 *
 * @returns false if the text has escapes, so that the caller has to parse it
 */
export function eachIdIn(json: string, found: (id: string) => void): boolean {
  if (json.includes('\\')) return false;
  for (const key of ['Id":"', 'Ids":["']) {
    for (let at = json.indexOf(key); at >= 0; at = json.indexOf(key, at)) {
      at += key.length;
      for (;;) {
        const end = json.indexOf('"', at);
        // The text is no JSON, which the later parsing will report.
        if (end < 0) return true;
        found(json.slice(at, end));
        at = end + 3;
        if (key === 'Id":"' || json.slice(end, at) !== '","') break;
      }
    }
  }
  return true;
}

/** Returns the id that tells an event best from others of its type. */
export function idIn(event: Readonly<Record<string, unknown>>): string | undefined {
  const ids = Object.entries(event).filter(
    (one): one is [string, string] => one[0].endsWith('Id') && typeof one[1] === 'string',
  );
  return (ids.find(([name]) => name !== 'roundId' && name !== 'engineId') ?? ids[0])?.[1];
}
