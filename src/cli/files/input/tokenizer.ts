/**
 * Counts the tokens of texts, by a tokenizer of the user, or by an estimate from the number of characters if the user wants one.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { caused, refuse } from '../../../errors.ts';
import type { TextTokens } from '../../../sim/trace/import/dump.ts';

/** Estimates tokens from the number of characters. */
export function tokensPerCharacter(factor: number): TextTokens {
  return {
    method: 'characters',
    label: `${factor} tokens a character`,
    count: (text) => Math.round(text.length * factor),
  };
}

function jsonAt(path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    if ((error as { code?: string }).code !== undefined) throw error;
    refuse('invalid_input', path, 'a JSON object', caused(error), error);
  }
  refuse('invalid_input', path, 'a JSON object', 'something else');
}

const fileAt = (path: string): string => (statSync(path).isDirectory() ? join(path, 'tokenizer.json') : path);
const configOf = (file: string): string => join(dirname(file), 'tokenizer_config.json');

/** Returns the files of a tokenizer. Throws the system's error. */
export const tokenizerFiles = (path: string): string[] => [fileAt(path), configOf(fileAt(path))];

/**
 * Reads the tokenizer of a model from its `tokenizer.json`, or from the folder of this file. Nothing is downloaded.
 *
 * @throws PolicyError `invalid_input` for a file that is no tokenizer; the system's error
 */
export async function fileTokenizer(path: string): Promise<TextTokens> {
  const file = fileAt(path);
  const config = configOf(file);
  const tokenizer = jsonAt(file);
  const settings = existsSync(config) ? jsonAt(config) : {};
  const { Tokenizer } = await import('@huggingface/tokenizers');
  try {
    const loaded = new Tokenizer(tokenizer, settings);
    const count = (text: string): number => loaded.encode(text, { add_special_tokens: false }).ids.length;
    count('a b');
    return { method: 'tokenizer', label: file, count };
  } catch (error) {
    const got = `${(error as Error).message}`;
    refuse('invalid_input', file, 'a tokenizer.json of Hugging Face', got);
  }
}
