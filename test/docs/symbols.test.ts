/** Every symbol and every metric is defined once, in docs/metrics.md; every word in docs/vocabulary.md. */
import { readFileSync } from 'node:fs';
import { prometheus, RpcServer } from 'rollflex/rpc';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { pageFiles, root } from '../../scripts/site/pages.ts';

const read = (file: string): string => readFileSync(root + file, 'utf8');
const metrics = read('docs/metrics.md');
const pages = ['README.md', ...pageFiles()].filter((file) => !/CHANGELOG|PROVENANCE/.test(file));

/** The words of a text, without what is code, links and addresses. */
const proseOf = (text: string): string =>
  text
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '')
    .replace(/\]\([^)]*\)/g, ']');

/** Greek letters, letters with an index or a nought, Tmin and Tmax. Σ is a sum, µ a millionth, Δ a difference. */
const symbol =
  /(?<![\w/])(?:[α-ωλ](?:_[A-Za-z])?(?![\wα-ω])|[A-Za-zα-ω]_[A-Za-z](?!\w)|[PR]0(?!\w)|T(?:min|max)(?!\w))/gu;
const symbolsIn = (text: string): string[] => proseOf(text).match(symbol) ?? [];

/** What stands in the first column of the table of symbols. */
const defined = new Set(
  /## Symbols\n([\s\S]*?)\n## /
    .exec(metrics)![1]!
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => line.split('|')[1]!.split(','))
    .map((cell) => cell.trim().replace(/\(.*\)$/, '')),
);

describe('symbols', () => {
  test('are found', () => {
    expect(symbolsIn('P0 · η_P and F_w, not `R0`, with α(b) + γ; P90 is none')).toEqual(['P0', 'η_P', 'F_w', 'α', 'γ']);
  });

  test.each(pages)('%s uses none that is not defined', (file) => {
    expect([...new Set(symbolsIn(read(file)))].filter((one) => !defined.has(one))).toEqual([]);
  });

  test('there is one table of them', () => {
    expect(pages.filter((file) => /^\| symbol +\|/m.test(read(file)))).toEqual(['docs/metrics.md']);
  });

  test('each is used somewhere beside its definition', () => {
    const all = pages
      .filter((file) => file !== 'docs/metrics.md')
      .map(read)
      .join('\n');
    const greek = [...defined].filter((one) => symbolsIn(one).length > 0);
    expect(greek.length).toBeGreaterThan(5);
    expect(greek.filter((one) => !all.includes(one))).toEqual([]);
  });
});

/** Fields of the interfaces of a file that are numbers, or intervals and lists of them. */
function numbersOf(file: string, names: readonly string[]): string[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.ES2022, true);
  const found = source.statements.filter(ts.isInterfaceDeclaration).filter((one) => names.includes(one.name.text));
  expect(found.map((one) => one.name.text).sort()).toEqual([...names].sort());
  return found.flatMap((one) =>
    one.members
      .filter(ts.isPropertySignature)
      .filter((member) => /^(readonly )?(number|Interval)\b/.test(member.type?.getText() ?? ''))
      .map((member) => member.name.getText()),
  );
}

describe('metrics', () => {
  // Not measured, but given or counted off: which one it is, and when.
  const places = [
    'step',
    'round',
    'seed',
    'gpus',
    'seeds',
    'rounds',
    'startSeconds',
    'endSeconds',
    'value',
    'low',
    'high',
    'confidence',
  ];
  const results: [string, string[]][] = [
    ['src/sim/comparison/result.ts', ['StepResult', 'RunResult', 'SchedulerResult', 'EngineResult']],
    ['src/sim/pools/result.ts', ['PoolsRound', 'PoolsRun', 'PoolsSchedulerResult', 'ReductionShares', 'PoolsRow']],
    ['src/sim/vlm-formulas/result.ts', ['VlmSchedulerResult']],
    ['src/sim/vlm-formulas/step.ts', ['VlmStep']],
    ['src/sim/bounds/lower-bound.ts', ['LowerBound']],
  ];
  test.each(results)('those of %s are defined', (file, names) => {
    const fields = [...new Set(numbersOf(file, names))].filter((one) => !places.includes(one));
    expect(fields.length).toBeGreaterThan(4);
    const said = new Set([...metrics.matchAll(/`(?:[\w[\]]+\.)*(\w+)`/g)].map(([, name]) => name!));
    expect(fields.filter((one) => !said.has(one))).toEqual([]);
  });

  test('those of a server are defined', async () => {
    const { listen } = await prometheus();
    const server = new RpcServer();
    const listening = await listen(server, { port: 0, host: '127.0.0.1' });
    const text = await (await fetch(`http://127.0.0.1:${listening.port}/metrics`)).text();
    await listening.close();
    server.close();
    const names = [...text.matchAll(/^# TYPE (rollflex_\w+)/gm)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((one) => !metrics.includes(`| \`${one}\` |`))).toEqual([]);
  });
});
