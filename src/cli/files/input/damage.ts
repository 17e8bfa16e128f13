/** Lines that are not one whole JSON object: what of them is whole, and what has happened. */
import type { Damage } from './notes.ts';

/** What a damaged line has. */
export interface Damaged {
  readonly what: Damage;
  /** Texts of its whole objects. */
  readonly whole: readonly string[];
  /** Number of objects that are not whole: 0 or 1. */
  readonly lost: 0 | 1;
}

const [quote, backslash] = [34, 92];
/** `[` and `{` differ in one bit, and so do `]` and `}`. */
const [anyOpen, anyClose] = [123, 125];
const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);
const candidates = 16;

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Scan {
  /** The ends of objects that follow each other. */
  readonly ends: readonly number[];
  /** Whether the text goes on after the last end with an object that does not end. */
  readonly isOpen: boolean;
}

/** Finds the objects that a text consists of; undefined for a text that has something else between them. */
function scanned(text: string): Scan | undefined {
  const ends: number[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (depth === 0 && code !== anyOpen) {
      if (isSpace(code)) continue;
      return undefined;
    }
    if (code === quote) {
      for (at += 1; at < text.length && text.charCodeAt(at) !== quote; at += 1)
        if (text.charCodeAt(at) === backslash) at += 1;
      if (at >= text.length) return { ends, isOpen: true };
    } else if ((code | 32) === anyOpen) depth += 1;
    else if ((code | 32) === anyClose) {
      depth -= 1;
      if (depth === 0) ends.push(at + 1);
    }
  }
  return { ends, isOpen: depth > 0 };
}

const partsOf = (text: string, ends: readonly number[]): string[] =>
  ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end));

/** Whether a value may follow after a part of an object: then an object behind it may be a part of it. */
function awaitsValue(part: string): boolean {
  let isInString = false;
  for (let at = 0; at < part.length; at += 1) {
    const code = part.charCodeAt(at);
    if (code === quote) isInString = !isInString;
    else if (isInString && code === backslash) at += 1;
  }
  return !isInString && /[:,[]\s*$/.test(part);
}

/** Finds whole objects that follow a part of an object, by the key with which the line begins. */
function afterPart(text: string): string[] | undefined {
  const opening = /^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:/.exec(text)?.[0].trim();
  if (opening === undefined) return undefined;
  let at = text.indexOf(opening, opening.length);
  for (let count = 0; at !== -1 && count < candidates; count += 1) {
    const rest = text.slice(at);
    const found = awaitsValue(text.slice(0, at)) ? undefined : scanned(rest);
    if (found !== undefined && !found.isOpen && found.ends.length > 0) return partsOf(rest, found.ends);
    at = text.indexOf(opening, at + 1);
  }
  return undefined;
}

/**
 * Returns what of a line is whole; undefined if the line is one object, or nothing that looks like a damaged one.
 *
 * @param text - a line that is no JSON
 */
export function damagedLine(text: string): Damaged | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  const found = scanned(text);
  const parts = found === undefined ? [] : partsOf(text, found.ends);
  const isGlued = found?.isOpen === false && parts.length > 1;
  if (isGlued && parts.every(isJson)) return { what: 'glued', whole: parts, lost: 0 };
  const after = afterPart(text);
  if (after !== undefined) return { what: 'gluedCut', whole: after, lost: 1 };
  if (isGlued) return { what: 'glued', whole: parts, lost: 0 };
  return found?.isOpen === true ? { what: 'cutLine', whole: parts, lost: 1 } : undefined;
}
