/** The ids in events and decisions: all texts in fields that end in `Id`, or in lists that end in `Ids`, at any depth. */

/** Whether a name ends in `Id` or `Ids`. It is asked for each field of each line of a log, so it compares codes. */
function isIdField(name: string): boolean {
  const end = name.charCodeAt(name.length - 1) === 0x73 ? name.length - 1 : name.length;
  return name.charCodeAt(end - 1) === 0x64 && name.charCodeAt(end - 2) === 0x49;
}

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
