/**
 * Text of others on a terminal, in a log, on a page: control characters could move the cursor, set titles, or show a name
 * backwards. They are written as JSON writes them, `\u001b`, so that JSON stays JSON with the same values.
 */

/** C0, C1 and bidirectional controls, and the two separators of Unicode that some readers take for line breaks. */
const controls = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const layout: ReadonlySet<string> = new Set(['\n', '\t']);

const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Text with all controls escaped but line breaks and tabs: those are our own layout. */
export const printable = (text: string): string =>
  text.replace(controls, (sign) => (layout.has(sign) ? sign : escaped(sign)));

/** A name, or another text of somebody else, that stands within a line: line breaks and tabs are escaped as well. */
export const oneLine = (text: string): string => text.replace(controls, escaped);
