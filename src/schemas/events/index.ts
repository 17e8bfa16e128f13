/** Events: facts that the host reports, in the past tense. One file a family. */
import { byName, type Of } from '../vocabulary.ts';
import * as families from './families.ts';

export * from './families.ts';

/** Every event of the vocabulary. */
export const events = byName(Object.values(families));

/** Any event of the vocabulary. */
export type VocabularyEvent = Of<(typeof events)[number]>;
