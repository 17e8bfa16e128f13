/**
 * Escapes foreign text for a terminal, a log or a page: control characters could move the cursor, set titles, or show a
 * name backwards. They are written as in JSON, `\u001b`, so that JSON keeps its values.
 */

/** C0, C1 and bidirectional controls, and the two separators of Unicode that some readers take for line breaks. */
const controls = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const layout: ReadonlySet<string> = new Set(['\n', '\t']);

const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes all controls but line breaks and tabs, which are our own layout. */
export const printable = (text: string): string =>
  text.replace(controls, (sign) => (layout.has(sign) ? sign : escaped(sign)));

/** Escapes foreign text that stands within a line: line breaks and tabs too. */
export const oneLine = (text: string): string => text.replace(controls, escaped);
