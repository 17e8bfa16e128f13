/** Finds the known word nearest to a mistyped one, for "did you mean" in error messages. */

/** Longer words are not compared: a long word is rarely a typing error, and the comparison is slow. */
const longestWord = 80;

/** `prompts_per_round`, `--prompts-per-round` and `promptsPerRound` count as one word. */
const bare = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/**
 * Counts the edits that turn one word into the other: a letter is changed, added, left out, or swapped with its neighbour.
 * Returns a number above `most` if there are more edits than that.
 */
function distance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let before: number[] = [];
  let above = [0];
  for (let column = 1; column <= other.length; column += 1) above.push(column);
  let leastAbove = 0;
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    let leastHere = row;
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let least = Math.min(line[column - 1]! + 1, above[column]! + 1, above[column - 1]! + (isSame ? 0 : 1));
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwapped) least = Math.min(least, before[column - 2]! + 1);
      line.push(least);
      leastHere = Math.min(leastHere, least);
    }
    // A swap skips a row, so the row above may still lead to fewer edits.
    if (leastHere > most && leastAbove > most) return most + 1;
    [before, above, leastAbove] = [above, line, leastHere];
  }
  return above[other.length]!;
}

/** Returns the number of letters at the beginning of both words that are the same. */
function agreement(one: string, other: string): number {
  let count = 0;
  while (count < one.length && one[count] === other[count]) count += 1;
  return count;
}

/**
 * Returns the known word nearest to an unknown one, if one is near enough: at most a third of the letters differ, or one word
 * begins with the other. Of equally near words, the one that agrees longest from its beginning is meant, since names begin with what
 * matters most (`qwen2.5-32b-32k`); further ties go to the first in the given order.
 */
export function nearest(word: unknown, words: Iterable<string>): string | undefined {
  if (typeof word !== 'string' || word.length > longestWord) return undefined;
  const meant = bare(word);
  if (meant === '') return undefined;
  let found: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  let longestAgreed = -1;
  for (const known of words) {
    if (known === word || known.length > longestWord) continue;
    const other = bare(known);
    // In a word of one or two letters, one wrong letter makes another word.
    const most = Math.max(meant.length > 2 ? 1 : 0, Math.floor(Math.max(meant.length, other.length) / 3));
    const isBeginning =
      Math.min(meant.length, other.length) > 2 && (other.startsWith(meant) || meant.startsWith(other));
    const away = isBeginning ? Math.abs(meant.length - other.length) : distance(meant, other, most);
    const isNear = away <= most;
    // A common prefix is weaker evidence than a typing error.
    const rank = isNear ? away : isBeginning ? longestWord + away : Number.POSITIVE_INFINITY;
    if (rank === Number.POSITIVE_INFINITY) continue;
    const agreed = agreement(meant, other);
    if (rank > least || (rank === least && agreed <= longestAgreed)) continue;
    least = rank;
    longestAgreed = agreed;
    found = known;
  }
  return found;
}

/** Returns ` (did you mean "tail-batching"?)`, or an empty text if no word is near. */
export function didYouMean(word: unknown, words: Iterable<string>): string {
  const meant = nearest(word, words);
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`;
}

/** Writes `one of …`, with a suggestion: the `expected` phrase of a `PolicyError` for an unknown word. */
export const oneOf = (words: readonly string[], got: unknown): string =>
  `one of ${words.join(', ')}${didYouMean(got, words)}`;
