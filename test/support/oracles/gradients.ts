/** A small network with gradients by hand, in float64, and batches that are made of tokens in samples in groups. */

/** One token that the loss counts: what goes in, and what should come out. */
export interface Token {
  readonly x: readonly number[];
  readonly y: number;
}
/** Tokens of a sample, samples of a group. */
export type Sample = readonly Token[];
export type Group = readonly Sample[];
/** A token with its weight in a loss. */
export type Weighted = readonly (readonly [Token, number])[];

const inputs = 3;
const hidden = 4;
/** Parameters of the network. */
export const parameterCount = hidden * (inputs + 1) + hidden + 1;

/** Gradient of Σ weight · (output − y)² ÷ 2 of a network with one hidden layer of tanh, for all parameters. */
export function gradient(parameters: readonly number[], tokens: Weighted): number[] {
  const into = new Array<number>(parameterCount).fill(0);
  const outAt = hidden * (inputs + 1);
  for (const [{ x, y }, weight] of tokens) {
    const activations: number[] = [];
    let output = parameters[outAt + hidden]!;
    for (let unit = 0; unit < hidden; unit += 1) {
      const at = unit * (inputs + 1);
      const sum = x.reduce((all, value, index) => all + value * parameters[at + index]!, parameters[at + inputs]!);
      activations.push(Math.tanh(sum));
      output += activations[unit]! * parameters[outAt + unit]!;
    }
    const error = weight * (output - y);
    into[outAt + hidden]! += error;
    for (let unit = 0; unit < hidden; unit += 1) {
      const at = unit * (inputs + 1);
      const back = error * parameters[outAt + unit]! * (1 - activations[unit]! ** 2);
      into[outAt + unit]! += error * activations[unit]!;
      x.forEach((value, index) => {
        into[at + index]! += back * value;
      });
      into[at + inputs]! += back;
    }
  }
  return into;
}

/** What a loss is a mean over. */
export type Unit = 'samples' | 'tokens' | 'groups' | 'weights' | 'constant';

/** The weight of each sample of a group, as a selection of prompts gives it. */
const weightOf = (group: Group): number => 1 + 0.375 * (group.length % 3);

/** How much some groups hold. */
export function countsOf(groups: readonly Group[]) {
  const samples = groups.flat();
  const weights = groups.reduce((sum, group) => sum + weightOf(group) * group.length, 0);
  return { samples: samples.length, tokens: samples.flat().length, groups: groups.length, weights };
}

/**
 * The sum, over the units in these groups, of their losses, as weighted tokens, times a factor. The loss of a sample is
 * the mean over its tokens, that of a group the mean over its samples.
 */
export function sumOfLosses(groups: readonly Group[], unit: Unit, factor: number): Weighted {
  return groups.flatMap((group) =>
    group.flatMap((sample) =>
      sample.map((token) => {
        const share = unit === 'tokens' ? 1 : 1 / sample.length / (unit === 'groups' ? group.length : 1);
        return [token, factor * share * (unit === 'weights' ? weightOf(group) : 1)] as const;
      }),
    ),
  );
}

/** Units in these groups. */
export function unitsIn(groups: readonly Group[], unit: Unit): number {
  return countsOf(groups)[unit === 'constant' ? 'samples' : unit];
}

/** Weighted sum of gradients. */
export function combined(gradients: readonly (readonly number[])[], factors: readonly number[]): number[] {
  const sum = new Array<number>(gradients[0]?.length ?? parameterCount).fill(0);
  gradients.forEach((one, index) => {
    one.forEach((value, at) => {
      sum[at]! += value * factors[index]!;
    });
  });
  return sum;
}

/** Largest difference, relative to the largest component of the second. */
export function relativeError(one: readonly number[], other: readonly number[]): number {
  const largest = (values: readonly number[]) => Math.max(...values.map(Math.abs));
  const difference = largest(one.map((value, index) => value - other[index]!));
  return difference === 0 ? 0 : difference / largest(other);
}
