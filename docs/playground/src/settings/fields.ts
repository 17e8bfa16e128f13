/** A setting of the playground: its name in the URL, its range, and what it means. */
import { z } from 'zod';
import { didYouMean } from '../../../../src/core/ids/nearest.ts';

/** A number on a slider. */
export interface RangeField {
  readonly kind: 'range';
  readonly label: string;
  readonly help: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly usual: number;
  /** Behind the number: ` GPUs`. */
  readonly unit?: string;
}

/** One of a few. */
export interface ChoiceField<V extends string = string> {
  readonly kind: 'choice';
  readonly label: string;
  readonly help: string;
  readonly options: readonly (readonly [value: V, label: string])[];
  readonly usual: NoInfer<V>;
}

export type Field = RangeField | ChoiceField;
export type Fields = Readonly<Record<string, Field>>;
/** The settings that fields describe. */
export type SettingsOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends ChoiceField<infer V> ? V : number;
};
/** Settings of any view. */
export type Settings = Readonly<Record<string, number | string>>;

export const range = (label: string, help: string, rest: Omit<RangeField, 'kind' | 'label' | 'help'>): RangeField => ({
  kind: 'range',
  label,
  help,
  ...rest,
});

export const choice = <V extends string>(
  label: string,
  help: string,
  options: readonly (readonly [V, string])[],
  usual: NoInfer<V>,
): ChoiceField<V> => ({ kind: 'choice', label, help, options, usual });

/** The default settings. */
export function usual<F extends Fields>(fields: F): SettingsOf<F> {
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.usual])) as SettingsOf<F>;
}

/** What a field accepts, as a phrase. */
export function expectation(field: Field): string {
  if (field.kind === 'choice') return `one of ${field.options.map(([value]) => value).join(', ')}`;
  const steps = field.step === 1 ? 'a whole number' : 'a number';
  const by = field.step === 1 ? '' : ` in steps of ${field.step}`;
  return `${steps} from ${field.min} to ${field.max}${by}`;
}

const isOnStep = (value: number, { min, step }: RangeField): boolean => {
  const steps = (value - min) / step;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
};

/** The text of a URL as the value of a field. */
export function schemaOf(field: Field): z.ZodType<number | string, string> {
  const error = `expected ${expectation(field)}`;
  if (field.kind === 'choice') {
    const known = field.options.map(([one]) => one);
    const meant = ({ input }: { input?: unknown }): string => `${error}${didYouMean(input, known)}`;
    return z.string().refine((value) => known.includes(value), { error: meant });
  }
  return z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, error)
    .transform(Number)
    .refine((value) => value >= field.min && value <= field.max && isOnStep(value, field), error);
}
