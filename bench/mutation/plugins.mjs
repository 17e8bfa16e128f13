/**
 * What is mutated: plugins of Stryker, which loads them by itself in processes of its own.
 *
 * - `prose` leaves out texts with a space in them (descriptions, what an error expected) and generators of events for
 *   tests: a test that repeats them finds nothing.
 * - `sample` lets a number of mutants through, drawn by a hash from all of the definition: the same for the same seed.
 */
import { createHash } from 'node:crypto';
import { CheckStatus } from '@stryker-mutator/api/check';
import { declareFactoryPlugin, declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

const isProse = (text) => /\s/.test(text);

const prose = {
  shouldIgnore({ node }) {
    if (node.type === 'StringLiteral' && isProse(node.value)) return 'prose';
    if (node.type === 'TemplateLiteral' && node.quasis.some(({ value }) => isProse(value.raw))) return 'prose';
    if (node.type === 'FunctionDeclaration' && node.id?.name === 'arbitrary') return 'makes events for tests';
    return undefined;
  },
};

/** Not in the sample: Stryker knows no other word for a mutant that a checker takes out, and leaves it out of the score. */
const leftOut = { status: CheckStatus.CompileError, reason: 'not in the sample' };

function newSample() {
  const size = Number(process.env.ROLLFLEX_MUTANTS);
  const seed = process.env.ROLLFLEX_MUTANTS_SEED ?? '';
  const rank = ({ fileName, location, mutatorName, replacement }) => {
    // Each copy of the tree that Stryker makes has a path of its own.
    const file = fileName.slice(fileName.lastIndexOf('/src/'));
    return createHash('sha256')
      .update(JSON.stringify([seed, file, location, mutatorName, replacement]))
      .digest('hex');
  };
  let drawn = new Set();
  return {
    async init() {},
    async group(mutants) {
      const ranked = mutants.map((one) => ({ id: one.id, rank: rank(one) }));
      ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
      drawn = new Set(ranked.slice(0, size).map(({ id }) => id));
      return [mutants.map(({ id }) => id)];
    },
    async check(mutants) {
      return Object.fromEntries(
        mutants.map(({ id }) => [id, drawn.has(id) ? { status: CheckStatus.Passed } : leftOut]),
      );
    },
  };
}
newSample.inject = [];

export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'prose', prose),
  declareFactoryPlugin(PluginKind.Checker, 'sample', newSample),
];
