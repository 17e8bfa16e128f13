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
