/** Words of the vocabulary as TypeScript types, by their names. */
import type { VocabularyDecision } from './decisions/index.ts';
import type { VocabularyEvent } from './events/index.ts';

type Any = VocabularyEvent | VocabularyDecision;

/** An event or a decision by its type, or any of them. */
export type Message<T extends Any['type'] = Any['type']> = Extract<Any, { type: T }>;
