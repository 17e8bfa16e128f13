/** The reasons of a decision as one Python class. */
import type { Shape } from '../tables/schema-table.ts';
import type { Field } from './classes.ts';

/** Whether a shape is a reason, or one of several: the `code` of each is one word. */
export const isReasons = ({ anyOf, oneOf, properties }: Shape): boolean =>
  (anyOf ?? oneOf)?.every(isReasons) ?? typeof properties?.code?.const === 'string';

const codeOf = ({ properties }: Shape): string => String(properties?.code?.const);

/** The fields of all reasons, without their codes. Where not all have a field, or mean it alike, it says who does what. */
export function commonFields(
  reasons: readonly Shape[],
  textOf: (field: Shape) => string,
  typeOf: (field: Shape, key: string) => string,
): Field[] {
  const keys = new Set(reasons.flatMap(({ properties }) => Object.keys(properties ?? {})));
  keys.delete('code');
  return [...keys].map((key) => {
    const having = reasons.filter(({ properties }) => properties?.[key] !== undefined);
    const types = new Set(having.map(({ properties }) => typeOf(properties![key]!, key)));
    const byText = new Map<string, string[]>();
    for (const one of having) {
      const text = textOf(one.properties![key]!);
      byText.set(text, [...(byText.get(text) ?? []), `\`${codeOf(one)}\``]);
    }
    return {
      key,
      type: [...types].join(' | '),
      required: reasons.every(({ required }) => required?.includes(key)),
      about: aboutOf(byText, having.length === reasons.length),
    };
  });
}

/** @param codesByText - codes of the reasons that have the field, by what it means there */
function aboutOf(codesByText: ReadonlyMap<string, readonly string[]>, everywhere: boolean): string {
  const texts = [...codesByText];
  const [text, codes] = texts[0]!;
  if (texts.length === 1) return everywhere ? text : `${text} Only with ${codes.join(', ')}.`.trim();
  return texts.map(([one, of]) => `With ${of.join(', ')}: ${one}`).join(' ');
}
