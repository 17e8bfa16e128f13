/**
 * tsup turns chunks into CommonJS with a transform that takes the assignment to a field for one to an export of the same name:
 * `this.#rest = 0` became `this.#rest = exports.rest = 0`, and other chunks found a number where a function had been.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Options } from 'tsup';

const taken = /((?:this\.#?|#)(\w+)) = exports\.\2 ([-+*/%&|^?]*=)(?!=)/g;

/** Returns the code with assignments to fields only, and their number. */
export function keepFields(code: string): { readonly code: string; readonly mended: number } {
  let mended = 0;
  const kept = code.replace(taken, (_all, field: string, _name, operator: string) => {
    mended += 1;
    return `${field} ${operator}`;
  });
  return { code: kept, mended };
}

/** Mends the files of a CommonJS build. */
export const cjsFields: NonNullable<Options['plugins']>[number] = {
  name: 'cjs-fields',
  buildEnd({ writtenFiles }) {
    for (const { name } of writtenFiles) {
      if (!name.endsWith('.cjs')) continue;
      const { code, mended } = keepFields(readFileSync(name, 'utf8'));
      if (mended > 0) writeFileSync(name, code);
    }
  },
};
