/** The ids of a message are the same in its text as in the object. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eachId, eachIdIn } from '../../../src/logs/format/message-ids.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('p1', '"', '\\', '\\"', 'Id":"x', '","', '"],"otherIds":["y'),
);
const name = fc.oneof(fc.constantFrom('promptId', 'requestIds', 'Id', 'Ids', 'type', '"Id', 'a":{"bId'), fc.string());
const { message } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(text, { maxLength: 3 }),
    tie('message'),
    fc.array(tie('message'), { maxLength: 2 }),
  ),
  message: fc.dictionary(name, tie('value'), { maxKeys: 4 }),
}));

const idsOf = (each: (found: (id: string) => void) => void): string[] => {
  const ids: string[] = [];
  each((id) => ids.push(id));
  return ids.sort();
};

test('in objects and in texts', () => {
  fc.assert(
    fc.property(message, (one) => {
      const json = JSON.stringify(one);
      const ids: string[] = [];
      expect(eachIdIn(json, (id) => ids.push(id))).toBe(!json.includes('\\'));
      if (!json.includes('\\')) expect(ids.sort()).toEqual(idsOf((found) => eachId(JSON.parse(json) as object, found)));
    }),
    { numRuns: 500 },
  );
});

test('in a text that is cut off anywhere', () => {
  const json = JSON.stringify({ promptId: 'p1', requestIds: ['r1', 'r2'] });
  for (let length = 0; length <= json.length; length += 1) expect(eachIdIn(json.slice(0, length), () => {})).toBe(true);
});
