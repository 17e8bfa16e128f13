/** What every message of the vocabulary has: its name, and each field that is the same in all of them. */
import type { EventMessage } from '../../src/schemas/index.ts';
import { className } from '../text.ts';
import { comment } from './comment.ts';
import { objectsModule } from './named.ts';
import type { Declared, FieldText } from './sharing.ts';
import { TypeWriter } from './type-writer.ts';

const name = 'Stamped';

const fieldsOf = ({ type, schema }: EventMessage): Map<string, FieldText> =>
  new TypeWriter([]).fieldsOf(className(type), schema, 'output');

/** The name of a message is the argument of the type that it extends. */
const withArgument = ({ comment: above, start }: FieldText): string => [...above, `${start} Type;`].join('\n');

/** The declaration of the type that all messages extend, and what each of them has from it. */
export class Stamped {
  /** Its declaration. */
  readonly text: string;
  readonly #keys: readonly string[];

  /** @param messages - all of the vocabulary */
  constructor(messages: readonly EventMessage[]) {
    const [first, ...others] = messages.map(fieldsOf) as [Map<string, FieldText>, ...Map<string, FieldText>[]];
    const textOf = (fields: ReadonlyMap<string, FieldText>, key: string): string | undefined => {
      const field = fields.get(key);
      return field !== undefined && key === 'type' ? withArgument(field) : field?.text;
    };
    this.#keys = [...first.keys()].filter((key) => others.every((one) => textOf(one, key) === textOf(first, key)));
    this.text = [
      ...comment(['What every event and every decision has.'], ''),
      `export interface ${name}<Type extends string> {`,
      ...this.#keys.map((key) => textOf(first, key)!),
      '}',
    ].join('\n');
  }

  /** What a message has from it. */
  of(message: EventMessage): Declared {
    const fields = [...fieldsOf(message)].filter(([key]) => this.#keys.includes(key));
    const applied = `${name}<'${message.type}'>`;
    return { name, module: objectsModule, applied, side: 'output', fields: new Map(fields) };
  }
}
