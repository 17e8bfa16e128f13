/**
 * Escapes foreign text for a terminal, a log or a page: control characters could move the cursor, set titles, or show a name
 * backwards. Control characters are written as in JSON, such as `\u001b`, so that escaped JSON keeps its values.
 */

/** C0, C1 and bidirectional controls, and two Unicode separators that some programs read as line breaks. */
const controls = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const layout: ReadonlySet<string> = new Set(['\n', '\t']);

const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes all controls except line breaks and tabs, which are part of our layout. */
export const printable = (text: string): string =>
  text.replace(controls, (sign) => (layout.has(sign) ? sign : escaped(sign)));

/** Escapes foreign text inside a line, including line breaks and tabs. */
export const oneLine = (text: string): string => text.replace(controls, escaped);
