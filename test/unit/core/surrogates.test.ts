import { expect, test } from 'vitest';
import { recogniserOf } from '../../../src/core/machine/recognise.ts';
import { create, tailBatching } from '../../../src/index.ts';
import { engineId, isWellFormed, promptId, requestId } from '../../../src/schemas/units.ts';
import { refusal } from '../../support/basics/refusal.ts';

test('a lone surrogate is refused in an id, and written as an escape where the refusal says it', () => {
  const tail = create(tailBatching, { promptsPerRound: 1, responsesPerPrompt: 1 });
  tail.send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 });
  for (const promptId of ['\ud800', 'a\udc00', '\udc00\ud800']) {
    const found = refusal(() => tail.send({ type: 'prompts.supplied', at: 0, roundId: 'r', prompts: [{ promptId }] }));
    expect(found).toMatchObject({ code: 'invalid_event', path: 'prompts[0].promptId' });
    expect(isWellFormed(found.got)).toBe(true);
  }
  // A whole pair is a character.
  tail.send({ type: 'prompts.supplied', at: 0, roundId: 'r', prompts: [{ promptId: '\ud83d\ude00' }] });
});

test('ids are recognised without zod', () => {
  for (const schema of [promptId, requestId, engineId]) {
    expect(recogniserOf(schema)('a')).toBe(true);
    expect(recogniserOf(schema)('\ud800')).toBe(false);
    expect(recogniserOf(schema)('')).toBe(false);
  }
});
