/**
 * One test file under one mutant, as a test file of its own: modules are loaded once for many pairs of them, and the mutant
 * is changed in place.
 */
import { afterEach, beforeEach, test } from 'vitest';

const killed = new Set();
const killers = new Set();
const broken = new Set(JSON.parse(process.env.ROLLFLEX_MUTANTS_BROKEN ?? '[]'));

/** `first`: nothing more for a mutant that is killed; `check`: without a mutant, what has killed one. */
export async function pair({ id, file, until }) {
  const isNeeded = until === 'check' ? killers.has(file) : until === 'all' || !killed.has(id);
  if (!isNeeded) return test.skip('not needed', () => undefined);
  const { planted } = globalThis;
  process.env.ROLLFLEX_MUTANT = id;
  process.env.ROLLFLEX_MUTANTS_TEST = file;
  planted.active = id;
  planted.seen.clear();
  let isKilled = false;
  const kill = () => {
    if (id === '') return;
    isKilled = true;
    killed.add(id);
    killers.add(file);
  };
  beforeEach(({ task, skip }) => {
    if (isKilled || broken.has(`${file} ${task.name}`)) skip();
  });
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') kill();
  });
  planted.isImporting = true;
  try {
    await import(`${new URL(`../${file}`, import.meta.url).href}?of=${id}`);
  } catch (error) {
    kill();
    throw error;
  }
  planted.isImporting = false;
}
