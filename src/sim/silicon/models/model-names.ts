/** Finds a model of the table by a name as users write it: with or without organisation, precision, tuning and date. */
import { nearest } from '../../../core/ids/nearest.ts';
import { refuse } from '../../../errors.ts';
import { shapeOf } from './model-config.ts';
import type { ModelShape, Precision } from './model-shape.ts';
import { type ModelEntry, models } from './model-table.ts';

/** A model, and the precision that its name asks for, if it does. */
export interface ResolvedModel {
  /** Its shape; `name` is the id in the table. */
  readonly shape: ModelShape;
  /** Precision of the weights by the suffix of the name, such as `-FP8`; undefined where it has none: `shape.nativePrecision`. */
  readonly precision: Precision | undefined;
}

const precisions: Readonly<Record<string, Precision>> = {
  bf16: 'bf16',
  fp16: 'bf16',
  fp8: 'fp8',
  mxfp8: 'fp8',
  nvfp4: 'fp4',
  mxfp4: 'fp4',
  fp4: 'fp4',
  w4a4: 'fp4',
  int8: 'int8',
  '8bit': 'int8',
  w8a8: 'int8',
  w8a16: 'int8',
  int4: 'int4',
  '4bit': 'int4',
  w4a16: 'int4',
  w4afp8: 'int4',
};
/** Methods, which are of 4 bits where nothing else is said. */
const fourBits = new Set(['awq', 'gptq', 'bnb']);
const tunings = new Set(
  (
    'instruct it chat base pt hf thinking reasoning plus preview exp experimental terminus speciale sft rl dpo grpo text latest ' +
    'original dynamic static block pertensor perchannel per tensor channel quantized kv kv8 quark gguf mlx unsloth qat turbo ' +
    'hybrid fast'
  ).split(' '),
);
/** Dates, versions, lengths of context. */
const marks = /^(\d{4,8}|v\d+(\.\d+)*|\d+k|1m)$/;
/** Vendors in front of a name without a slash. */
const vendors = new Set(['meta', 'nvidia', 'ai21', 'c4ai']);

const isSuffix = (word: string): boolean =>
  Object.hasOwn(precisions, word) || fourBits.has(word) || tunings.has(word) || marks.test(word);

/** Splits a name into words, in small letters; a point within a number divides nothing. */
function wordsOf(name: string): readonly string[] {
  // `models--Qwen--Qwen3-8B` is how a cache writes it.
  const own = name.split(/\/|--|__/).findLast((part) => part.trim() !== '') ?? '';
  const split = own
    .toLowerCase()
    .split(/[^a-z0-9.]+|\.(?!\d)|(?<!\d)\./)
    .filter((word) => word !== '');
  const words: string[] = [];
  for (const word of split) {
    // `Llama-3_3` and `qwen2-5` are written where points are not allowed.
    if (/^\d$/.test(word) && /\d$/.test(words.at(-1) ?? '')) words.push(`${words.pop()}.${word}`);
    else words.push(word);
  }
  return words.length > 1 && vendors.has(words[0]!) ? words.slice(1) : words;
}

const isSize = (word: string): boolean => /^(\d+x)?\d+(\.\d+)?[bt]$/.test(word);
const isActive = (word: string): boolean => /^a\d+(\.\d+)?b$/.test(word);

/** Returns what a name begins with: all of it, without suffixes behind its size, and without active parameters, too. */
function stemsOf(name: string): readonly string[] {
  const words = [...wordsOf(name)];
  const whole = words.join('');
  if (!words.some((word) => isSize(word) || isActive(word))) return [whole];
  while (isSuffix(words.at(-1)!)) words.pop();
  return [whole, words.join(''), words.some(isSize) ? words.filter((word) => !isActive(word)).join('') : whole];
}

let known: ReadonlyMap<string, ModelEntry> | undefined;

/** Entries by stems. A name of its own is worth more than a short form of another. */
function stems(): ReadonlyMap<string, ModelEntry> {
  if (known) return known;
  const found = new Map<string, ModelEntry>();
  const named = models.map((entry) => ({ entry, forms: [entry.id, ...entry.aliases].map(stemsOf) }));
  for (const rank of [0, 1, 2]) {
    for (const { entry, forms } of named) {
      for (const form of forms) {
        const stem = form[rank];
        if (stem !== undefined && !found.has(stem)) found.set(stem, entry);
      }
    }
  }
  known = found;
  return found;
}

function precisionOf(suffixes: readonly string[]): Precision | undefined {
  const said = suffixes.find((word) => Object.hasOwn(precisions, word));
  if (said !== undefined) return precisions[said];
  return suffixes.some((word) => fourBits.has(word)) ? 'int4' : undefined;
}

/** Ids of all models, without organisation. */
export const modelNames = (): readonly string[] => models.map(({ id }) => short(id));

const short = (id: string): string => id.slice(id.indexOf('/') + 1);

/** Billions of parameters that a word speaks of: `32b`, `8x7b`, `a22b`, `1t`. */
function billionsOf(word: string | undefined): number | undefined {
  const [, times = '1x', number = '', unit] = /^a?(\d+x)?([\d.]+)([bt])$/.exec(word ?? '') ?? [];
  return unit === undefined ? undefined : Number.parseInt(times, 10) * Number(number) * (unit === 't' ? 1000 : 1);
}

/** Whether a word says again what the model has: `671b` or `a37b`, behind `deepseek-v3`. */
function isOwnSize(word: string, { totalParameters, activeParameters }: ModelShape): boolean {
  const billions = billionsOf(word);
  if (billions === undefined) return false;
  const own = (isActive(word) ? activeParameters : totalParameters) / 1e9;
  return Math.abs(billions / own - 1) <= 0.1;
}

const sharedLetters = (one: string, other: string): number => {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
};

/** What was meant: of the names with about the size of the unknown one the nearest, and others of that size and family; or of all. */
function meant(name: string): string {
  const words = [...wordsOf(name)];
  const isOnlySize = words.every(isSize);
  // A version may be what is wrong.
  while (words.length > 0 && isSuffix(words.at(-1)!) && !words.at(-1)!.startsWith('v')) words.pop();
  const bare = words.join('-');
  const sizeOf = (one: string): number | undefined => billionsOf(wordsOf(one).find(isSize));
  const billions = sizeOf(name);
  const farness = (one: string): number => Math.abs((sizeOf(one) ?? Number.NaN) / (billions ?? Number.NaN) - 1);
  const isAlike = (one: string): boolean => farness(one) <= 0.15;
  const names = models.flatMap(({ id, aliases }) => [short(id), ...aliases]);
  const best = isOnlySize ? undefined : (nearest(bare, names.filter(isAlike)) ?? nearest(bare, names));
  const others = modelNames()
    // Without anything near, those of the same family; of a size alone, all of that size.
    .filter((one) =>
      isOnlySize ? isAlike(one) : (isAlike(one) || best === undefined) && sharedLetters(one.toLowerCase(), bare) >= 4,
    )
    .sort((one, other) =>
      isOnlySize
        ? farness(one) - farness(other)
        : sharedLetters(other.toLowerCase(), bare) - sharedLetters(one.toLowerCase(), bare),
    );
  const said = [...new Set(best === undefined ? others : [best, ...others])].slice(0, 3);
  return said.length === 0 ? '' : ` (did you mean ${said.map((one) => `"${one}"`).join(' or ')}?)`;
}

/**
 * Finds a model by its name. Case, organisation, separators, and words of precision, tuning, date and its own size behind the name do
 * not matter; the longest known name that the given one begins with is taken. Any other word behind it is refused: it may be another model.
 *
 * @param path path of a refusal
 * @throws PolicyError `unknown_id`, with the nearest names of the same size
 */
export function resolveModel(name: string, path = 'model'): ResolvedModel {
  const words = wordsOf(name);
  for (let length = words.length; length > 0; length -= 1) {
    const entry = stems().get(words.slice(0, length).join(''));
    const suffixes = words.slice(length);
    if (entry === undefined) continue;
    const shape = shapeOf(entry.config, entry.id);
    if (!suffixes.every((word) => isSuffix(word) || isOwnSize(word, shape))) continue;
    return { shape, precision: precisionOf(suffixes) };
  }
  refuse('unknown_id', path, `a known model${meant(name)}`, name);
}

/** Returns the shape of a model by its name. Throws `PolicyError` `unknown_id`. */
export const modelOf = (name: string, path?: string): ModelShape => resolveModel(name, path).shape;
