/** Who gets which event and decision of a recipe, worked out once for a configuration. */
import type { DecisionMessage, EventMessage } from '../../schemas/vocabulary.ts';
import type { RecipeSpec, Wire, Wiring } from './spec.ts';

/** Makes the wiring of a recipe for a configuration. */
export function wiringOf<Config>(
  spec: Pick<RecipeSpec<never, Config, never, never, string>, 'parts' | 'off' | 'routes'> & {
    readonly events: readonly EventMessage[];
    readonly decisions: readonly DecisionMessage[];
  },
): (config: Config) => Wiring {
  const names = Object.keys(spec.parts);
  const listed = new Set<string>(spec.decisions.map(({ type }) => type));
  return (config) => {
    const off = spec.off?.(config) ?? [];
    const recipients = (type: string, from?: string): readonly string[] =>
      Object.freeze(
        names.filter(
          (name) =>
            name !== from && !off.includes(name) && spec.parts[name]!.events.some((message) => message.type === type),
        ),
      );
    const wireOf = (from: string, type: string): Wire => {
      const { out = listed.has(type), to } = spec.routes[from]?.[type] ?? {};
      const isList = typeof to === 'object';
      return {
        out: typeof out === 'function' ? out(config) : out,
        recipients: isList ? to.filter((name) => !off.includes(name)) : recipients(type, from),
        to: isList ? undefined : to,
      };
    };
    const wiresOf = (from: string) =>
      new Map<string, Wire>(spec.parts[from]!.decisions.map(({ type }) => [type, wireOf(from, type)]));
    return {
      off,
      outside: new Map(spec.events.map(({ type }) => [type, recipients(type)])),
      inside: Object.fromEntries(names.map((name) => [name, wiresOf(name)])),
    };
  };
}
