/** Reasons of decisions, each with its code: what they have in common is declared once. */
import type { Shape } from '../tables/schema-table.ts';
import { wrapped } from '../text.ts';

const widest = 120;

/** The type of reasons, and what it needs. Editors and pages would show an alias by its name, and not by its fields. */
export const reasonTypes = (aboutCode: string): readonly string[] => [
  `/** Which one of several reasons. */
export interface Coded<Code extends string> {
  /** ${aboutCode} */
  code: Code;
}`,
  `/** Why a decision was made. */
export interface Because<Code extends string, Numbers = unknown> {
  /** One of these codes, with what the decision rests on. */
  reason: Code extends string ? { [Key in keyof (Coded<Code> & Numbers)]: (Coded<Code> & Numbers)[Key] } : never;
}`,
];

/** A reason is an object whose code is a word, of which nothing more is said. */
const isReason = ({ properties, additionalProperties }: Shape): boolean =>
  typeof properties?.code?.const === 'string' &&
  properties.code.description === undefined &&
  typeof additionalProperties !== 'object';

/** The reasons that a shape is one of, those with the same fields together; nothing for what is none. */
export function reasonsIn(shape: Shape): { codes: string[]; rest: Shape }[] | undefined {
  const all = shape.anyOf ?? shape.oneOf ?? [shape];
  if (!all.every(isReason)) return undefined;
  const found = new Map<string, { codes: string[]; rest: Shape }>();
  for (const { properties, required } of all) {
    const { code, ...others } = properties!;
    const rest: Shape = {
      type: 'object',
      properties: others,
      required: required?.filter((key) => key !== 'code') ?? [],
    };
    const key = JSON.stringify(rest);
    const same = found.get(key);
    if (same === undefined) found.set(key, { codes: [code!.const as string], rest });
    else same.codes.push(code!.const as string);
  }
  return [...found.values()];
}

/** The type of reasons with the same fields; the text of these, or nothing if they have none. */
export function becauseOf(codes: readonly string[], rest: string | undefined, indent: string): string {
  const words = codes.map((code) => `'${code}'`).join(' | ');
  const text = `Because<${words}${rest === undefined ? ">['reason']" : ','}`;
  const lines = wrapped(text, widest - indent.length - 4).join(`\n${indent}    `);
  return rest === undefined ? lines : `${lines} ${rest}>['reason']`;
}
