/** Parses numbers on the command line. Other text, and a number out of bounds, is refused; the error gives the bounds. */
import { InvalidArgumentError } from 'commander';

function bounded(text: string, least: number, most: number, what: string, fits: (value: number) => boolean): number {
  const value = Number(text);
  if (text.trim() === '' || !fits(value) || value < least || value > most) {
    throw new InvalidArgumentError(`Expected ${what} from ${least} to ${most}.`);
  }
  return value;
}

/** Parses a whole number within bounds, both included. */
export function whole(least: number, most: number): (text: string) => number {
  return (text) => bounded(text, least, most, 'a whole number', Number.isSafeInteger);
}

/** Parses a number within bounds, both included. */
export function between(least: number, most: number): (text: string) => number {
  return (text) => bounded(text, least, most, 'a number', Number.isFinite);
}
