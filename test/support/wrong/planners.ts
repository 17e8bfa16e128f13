/** A planner that keeps the laws, and one for each way to break them. */
import { type AnyPlannerDefinition, definePlanner, PolicyError, z } from '../../../src/index.ts';

const input = z.strictObject({
  shares: z
    .array(z.strictObject({ of: z.string().describe('Whose.'), size: z.number().describe('How much.') }))
    .describe('All.'),
  half: z.boolean().default(false).describe('Whether to take half of each.'),
});
const plan = z.strictObject({ sizes: z.array(z.number()).describe('One for each share.') });
type Input = z.output<typeof input>;
const sizesOf = ({ shares, half }: Input): number[] => shares.map(({ size }) => (half ? size / 2 : size));

const right = {
  id: 'acme/shares',
  version: 1,
  summary: 'Sizes of shares.',
  source: 'acme',
  input,
  plan,
  compute: (given: Input) => ({ sizes: sizesOf(given) }),
};
const wrong = (changes: object): AnyPlannerDefinition => definePlanner({ ...right, ...changes } as typeof right);

export const rightPlanner: AnyPlannerDefinition = definePlanner(right);
export const plannerInput = {
  shares: [
    { of: 'a', size: 3 },
    { of: 'b', size: 1 },
  ],
  half: true,
};

const shared = { sizes: [1, 2] };
let calls = 0;
const anything = z.unknown() as unknown as typeof input;

/** Each with a word of the error that its law gives. */
export const wrongPlanners: readonly { title: string; says: string; definition: AnyPlannerDefinition }[] = [
  { title: 'reads a clock', says: 'it uses now', definition: wrong({ compute: () => ({ sizes: [Date.now()] }) }) },
  { title: 'counts its calls', says: 'differ', definition: wrong({ compute: () => ({ sizes: [calls++] }) }) },
  {
    title: 'takes keys in the order in which they stand',
    says: 'order of keys',
    definition: wrong({
      input: anything,
      compute: (given: object) => ({ sizes: Object.keys(given).map((key) => key.length) }),
    }),
  },
  {
    title: 'changes its input',
    says: 'the input is changed',
    definition: wrong({
      input: anything,
      compute: (given: Input) => {
        given.shares[0]!.size = 0;
        return { sizes: [] };
      },
    }),
  },
  {
    title: 'hands out its input',
    says: 'changes the plan',
    definition: wrong({ input: anything, plan: anything, compute: (given: Input) => ({ sizes: given.shares }) }),
  },
  { title: 'hands out one plan twice', says: 'another plan', definition: wrong({ compute: () => shared }) },
  { title: 'plans what its schema does not allow', says: 'fit its schema', definition: wrong({ compute: () => ({}) }) },
  {
    title: 'has a plan that takes unknown keys',
    says: 'takes unknown keys',
    definition: wrong({ plan: z.object({ sizes: z.array(z.number()).describe('Sizes.') }) }),
  },
  {
    title: 'takes unknown keys deep inside',
    says: 'an unknown key shares[0].unknownKey',
    definition: wrong({ input: input.extend({ shares: z.array(z.object(input.shape.shares.element.shape)) }) }),
  },
  {
    title: 'takes texts for numbers',
    says: 'it takes shares[0].size = null',
    definition: wrong({
      input: input.extend({ shares: z.array(input.shape.shares.element.extend({ size: z.coerce.number() })) }),
    }),
  },
  {
    title: 'refuses wrong values only as it computes',
    says: 'as infeasible, not as invalid_input',
    definition: wrong({
      input: z.strictObject({ shares: z.unknown(), half: z.unknown() }),
      compute: (given: unknown) => {
        const parsed = input.safeParse(given);
        if (!parsed.success) throw new PolicyError('infeasible', { expected: 'shares', got: given });
        return right.compute(parsed.data);
      },
    }),
  },
  {
    title: 'does not say where a value is wrong',
    says: 'with the path ""',
    definition: wrong({
      input: z
        .strictObject({ shares: z.unknown(), half: z.unknown() })
        .refine((given) => input.safeParse(given).success, 'expected something else'),
    }),
  },
  {
    title: 'plans numbers that JSON does not have',
    says: 'is no JSON: sizes[0] is Infinity',
    definition: wrong({ plan: anything, compute: () => ({ sizes: [Number.POSITIVE_INFINITY] }) }),
  },
  {
    title: 'does not describe a field',
    says: 'sizes has no description in its plan',
    definition: wrong({ plan: z.strictObject({ sizes: z.array(z.number()) }) }),
  },
];
