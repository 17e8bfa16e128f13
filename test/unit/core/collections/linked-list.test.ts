import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LinkedList } from '../../../../src/core/collections/linked-list.ts';

interface Item {
  readonly value: number;
  previous: Item | null;
  next: Item | null;
}

test('items leave in the order in which they came, or from anywhere, as from an array', () => {
  const steps = fc.array(fc.record({ push: fc.boolean(), place: fc.nat(20) }), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (all) => {
      const list = new LinkedList<Item>();
      const model: Item[] = [];
      all.forEach(({ push, place }, value) => {
        if (push || model.length === 0) {
          const item = { value, previous: null, next: null };
          list.push(item);
          model.push(item);
        } else {
          const [item] = model.splice(place % model.length, 1);
          list.remove(item!);
          expect(item).toEqual({ value: item!.value, previous: null, next: null });
        }
        expect(list.size).toBe(model.length);
        expect(list.peek()).toBe(model[0]);
      });
      for (const item of model) {
        expect(list.peek()).toBe(item);
        list.remove(item);
      }
      expect(list.peek()).toBeUndefined();
    }),
  );
});
