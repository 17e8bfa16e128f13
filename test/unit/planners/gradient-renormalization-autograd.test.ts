/**
 * The factors on a real model with a real autograd library (TensorFlow.js, float32): a small language model, trained on
 * sampled sequences by their advantages, on replicas with uneven shares and one without any.
 */
import { createRequire } from 'node:module';
import type * as tfjs from '@tensorflow/tfjs-core';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gradientRenormalization, runPlanner } from '../../../src/index.ts';
import type { GradientRenormalizationInput } from '../../../src/planners/gradient-renormalization/index.ts';
import { generator } from '../../support/basics/numbers.ts';

const vocabulary = 11;
const width = 8;
const longest = 6;

// What Node would load has no gradients: they are modules beside it.
const modules = ['@tensorflow/tfjs-core/dist/register_all_gradients', '@tensorflow/tfjs-backend-cpu'];
const bundled = await build({
  stdin: {
    contents: [...modules.map((one) => `import '${one}';`), `export * from '@tensorflow/tfjs-core';`].join('\n'),
    resolveDir: import.meta.dirname,
  },
  bundle: true,
  write: false,
  format: 'iife',
  globalName: 'tf',
  platform: 'node',
  mainFields: ['module', 'main'],
});
const tf = new Function('require', `${bundled.outputFiles[0]!.text}; return tf;`)(
  createRequire(import.meta.url),
) as typeof tfjs;

interface Sequence {
  readonly tokens: readonly number[];
  readonly advantage: number;
}
type Gradients = Record<string, tfjs.Tensor>;

const random = generator(7);
const sequences: Sequence[] = Array.from({ length: 13 }, () => ({
  tokens: Array.from({ length: 2 + Math.floor(random() * longest) }, () => Math.floor(random() * vocabulary)),
  advantage: 0.2 + random(),
}));
const weights = (rows: number, columns: number) =>
  Array.from({ length: rows }, () => Array.from({ length: columns }, () => random() - 0.5));

let variables: Record<'embedding' | 'hidden' | 'bias' | 'head', tfjs.Variable>;
beforeAll(async () => {
  tf.env().set('IS_TEST', true); // or it advertises its native backend
  await tf.setBackend('cpu');
  variables = {
    embedding: tf.variable(tf.tensor2d(weights(vocabulary, width)), true, 'embedding'),
    hidden: tf.variable(tf.tensor2d(weights(width, width)), true, 'hidden'),
    bias: tf.variable(tf.tensor2d(weights(1, width)), true, 'bias'),
    head: tf.variable(tf.tensor2d(weights(width, vocabulary)), true, 'head'),
  };
});
afterAll(() => tf.disposeVariables());

/** Tokens that the loss counts: all but the first, each predicted from the one before. */
const lossTokens = (batch: readonly Sequence[]) => batch.reduce((sum, { tokens }) => sum + tokens.length - 1, 0);

type Unit = 'samples' | 'tokens';
type Reduction = 'mean' | 'sum';

/** The loss as a trainer writes it: of each sequence its mean over tokens, or all tokens alike; then mean or sum. */
function loss(batch: readonly Sequence[], unit: Unit, reduction: Reduction): tfjs.Scalar {
  const pairs = batch.flatMap(({ tokens, advantage }) =>
    tokens.slice(1).map((next, index) => ({ next, before: tokens[index]!, advantage, length: tokens.length - 1 })),
  );
  const one = (values: number[]) => tf.oneHot(tf.tensor1d(values, 'int32'), vocabulary, 1, 0, 'float32');
  const state = tf.matMul(one(pairs.map((pair) => pair.before)), variables.embedding as unknown as tfjs.Tensor2D);
  const hidden = tf.tanh(
    tf.add(tf.matMul(state as tfjs.Tensor2D, variables.hidden as unknown as tfjs.Tensor2D), variables.bias),
  );
  const logits = tf.matMul(hidden as tfjs.Tensor2D, variables.head as unknown as tfjs.Tensor2D);
  const chosen = tf.sum(tf.mul(tf.logSoftmax(logits), one(pairs.map((pair) => pair.next))), 1);
  const share = pairs.map((pair) => -pair.advantage / (unit === 'samples' ? pair.length : 1));
  const sum = tf.sum(tf.mul(chosen, tf.tensor1d(share)));
  const size = unit === 'samples' ? batch.length : lossTokens(batch);
  return (reduction === 'mean' ? tf.div(sum, size) : sum) as tfjs.Scalar;
}

/** Gradients by autograd; zeros where there is nothing to compute. */
function gradients(batch: readonly Sequence[], unit: Unit, reduction: Reduction): Gradients {
  if (batch.length > 0) return tf.variableGrads(() => loss(batch, unit, reduction)).grads;
  return Object.fromEntries(Object.entries(variables).map(([name, one]) => [name, tf.zerosLike(one)]));
}

const combine = (all: readonly Gradients[], factors: readonly number[]): Gradients =>
  Object.fromEntries(
    Object.keys(variables).map((name) => [name, tf.addN(all.map((one, index) => tf.mul(one[name]!, factors[index]!)))]),
  );

/** What DDP and FSDP do: add up, and take the mean where the collective is one. */
const collect = (all: readonly Gradients[], collective: 'sum' | 'mean'): Gradients =>
  combine(
    all,
    all.map(() => (collective === 'mean' ? 1 / all.length : 1)),
  );

/** Largest difference in a tensor, relative to the largest value in it; the worst of all tensors. */
function relativeError(one: Gradients, other: Gradients): number {
  const errors = Object.keys(other).map((name) => {
    const [a, b] = [one[name]!.dataSync(), other[name]!.dataSync()];
    const largest = Math.max(...b.map(Math.abs));
    return Math.max(...a.map((value, index) => Math.abs(value - b[index]!))) / largest;
  });
  return Math.max(...errors);
}

/** Four replicas: 1, 0, 7 and 5 sequences, cut in micro-batches of different sizes, one of them empty. */
const cuts = [
  [[0, 1]],
  [],
  [
    [1, 4],
    [4, 4],
    [4, 8],
  ],
  [
    [8, 9],
    [9, 13],
  ],
];
const split = cuts.map((one) => one.map(([from, to]) => sequences.slice(from, to)));
const countsOf = (batch: readonly Sequence[]) => ({ samples: batch.length, tokens: lossTokens(batch) });

const combinations = (['samples', 'tokens'] as const).flatMap((unit) =>
  (['mean', 'sum'] as const).flatMap((reduction) =>
    (['sum', 'mean'] as const).map((collective) => ({ unit, reduction, collective })),
  ),
);

describe.each(combinations)('on autograd: unit $unit, local $reduction, collective $collective', (setting) => {
  const { unit, reduction, collective } = setting;
  const input = (withMicroBatches: boolean): GradientRenormalizationInput => ({
    ...setting,
    replicas: split.map((one) => ({
      ...countsOf(one.flat()),
      ...(withMicroBatches ? { microBatches: one.map(countsOf) } : {}),
    })),
  });
  const whole = () => gradients(sequences, unit, 'mean');

  test('the gradient of uneven and empty replicas is that of the whole batch, to 1e-6', () => {
    const { factors } = runPlanner(gradientRenormalization, input(false));
    const locals = split.map((one, index) => combine([gradients(one.flat(), unit, reduction)], [factors[index]!]));
    expect(relativeError(collect(locals, collective), whole())).toBeLessThan(1e-6);
  });

  test('so it is with a factor for each micro-batch', () => {
    const { microBatchFactors } = runPlanner(gradientRenormalization, input(true));
    const none = gradients([], unit, reduction);
    const locals = split.map((one, index) =>
      combine([none, ...one.map((batch) => gradients(batch, unit, reduction))], [0, ...microBatchFactors![index]!]),
    );
    expect(relativeError(collect(locals, collective), whole())).toBeLessThan(1e-6);
  });

  test('without the factors it is another one', () => {
    const plain = collect(
      split.map((one) => gradients(one.flat(), unit, reduction)),
      collective,
    );
    expect(relativeError(plain, whole())).toBeGreaterThan(0.05);
  });
});
