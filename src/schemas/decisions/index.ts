/** Decisions: commands for the host, in the imperative, and notices, in the past tense. One file a family. */
import { byName, type Of } from '../vocabulary.ts';
import * as families from './families.ts';

export * from './families.ts';

/** Every decision of the vocabulary. */
export const decisions = byName(Object.values(families));

/** Any decision of the vocabulary. */
export type VocabularyDecision = Of<(typeof decisions)[number]>;
