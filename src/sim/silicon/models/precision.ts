/** The precision of published weights, from the `quantization_config` of a model. */
import type { ConfigFields } from './config-fields.ts';
import type { Precision } from './model-shape.ts';

type Quantization = NonNullable<ConfigFields['quantization_config']>;

const bits = (number: number | null | undefined, isInteger: boolean): Precision | undefined => {
  if (number === 4) return isInteger ? 'int4' : 'fp4';
  if (number === 8) return isInteger ? 'int8' : 'fp8';
  return undefined;
};

/** By the words in the method and the algorithm; the first that is there counts. */
const words: readonly (readonly [RegExp, Precision])[] = [
  [/mxfp4|nvfp4|w4a4/, 'fp4'],
  [/w4a16|int4|w4afp8/, 'int4'],
  [/w8a8|w8a16|int8/, 'int8'],
  [/fp8/, 'fp8'],
];

/** Of groups with several precisions, the one with the fewest bits: that of most weights. */
function ofGroups({ config_groups }: Quantization): Precision | undefined {
  const found = Object.values(config_groups ?? {}).map(({ weights }) =>
    bits(weights?.num_bits, weights?.type === 'int'),
  );
  return found.find((one) => one === 'int4' || one === 'fp4') ?? found.find((one) => one !== undefined);
}

/**
 * Returns the precision in which most weights are stored: bf16 without a quantization. Adds a sentence to `assumed` for a quantization
 * that it does not know.
 */
export function precisionOf(given: Quantization | null | undefined, assumed: string[]): Precision {
  if (given === null || given === undefined) return 'bf16';
  const method = `${given.quant_method ?? ''} ${given.quant_algo ?? ''}`.toLowerCase();
  const named = words.find(([word]) => word.test(method))?.[1];
  const found = ofGroups(given) ?? named ?? bits(given.bits, true) ?? (given.load_in_4bit ? 'int4' : undefined);
  if (found !== undefined) return found;
  assumed.push(`quantization ${method.trim() || 'without a method'} is not known: bf16`);
  return 'bf16';
}
