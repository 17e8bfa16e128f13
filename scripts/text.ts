/** Names and lines of generated source, whatever its language. */

/** `round.opened` or `tail-batching` as `RoundOpened`, `TailBatching`. */
export function className(id: string): string {
  return id
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

/** Text in lines of at most so many characters. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1)!;
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= most) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
