/** Freezes a state, so that a function that changes it fails at the place of the change. */

const changers = ['set', 'add', 'delete', 'clear'] as const;

function refuseChange(): never {
  throw new TypeError('a frozen collection is changed');
}

/**
 * Freezes everything that can be reached from a state: objects, arrays, maps and sets. Private fields of classes stay as they are.
 *
 * @returns a function that says whether a typed array, which cannot be frozen, has been changed since
 */
export function freeze(state: unknown): () => boolean {
  const seen = new Set<object>();
  const arrays: (readonly [array: Uint8Array, before: string])[] = [];
  const pending: unknown[] = [state];
  while (pending.length > 0) {
    const one = pending.pop();
    if (typeof one !== 'object' || one === null || seen.has(one)) continue;
    seen.add(one);
    if (ArrayBuffer.isView(one)) {
      const bytes = new Uint8Array(one.buffer, one.byteOffset, one.byteLength);
      arrays.push([bytes, bytes.join()]);
      continue;
    }
    if (one instanceof Map || one instanceof Set) {
      pending.push(...one.keys(), ...one.values());
      for (const name of changers) if (name in one) Object.defineProperty(one, name, { value: refuseChange });
    }
    pending.push(...Object.values(one));
    Object.freeze(one);
  }
  return () => arrays.some(([bytes, before]) => bytes.join() !== before);
}

/** Whether an error says that something frozen was to be changed. */
export function isChange(error: unknown): error is TypeError {
  return error instanceof TypeError && /frozen|read.only|not extensible|Cannot (delete|redefine)/.test(error.message);
}
