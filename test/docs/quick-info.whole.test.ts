/** What an editor shows of a setting, of an event and of a decision: the words of their schemas, by a language service that reads all. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = join(root, 'test/docs/quick-info.sample.ts');
const text = `
import { create, tailBatching } from '../../src/index.ts';
import type { RollpackerInput } from '../../src/recipes/rollpacker/index.ts';
const policy = create(tailBatching, { promptsPerRound: 2, responsesPerPrompt: 2, retry: { data: 1 } });
policy.on('request.launch', (launch) => {
  launch.resumeFrom?.finished;
  if (launch.reason.code === 'retry_data') launch.reason.budget;
});
policy.send({ type: 'turn.finished', at: 0, requestId: 'p/0#0', tokens: 3 });
const settings = {} as RollpackerInput;
settings.maxWaitRounds;
settings.rewardRetry?.timeout;
settings.onRestart;
`;

function languageService(): ts.LanguageService {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const read = (path: string) => (path === file ? text : ts.sys.readFile(path));
  return ts.createLanguageService({
    // What it shows needs no types of Node, and these are large.
    getCompilationSettings: () => ({ ...options, types: [] }),
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const source = read(path);
      return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source);
    },
    getCurrentDirectory: () => dirname(file),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: read,
  });
}

describe('an editor shows what the schema says', () => {
  const service = languageService();
  test.each([
    [
      'a setting, which the recipe has of a part',
      'promptsPerRound',
      '(property) SpeculativeAdmissionInput.promptsPerRound: number',
      'P0: prompts that a round trains on.',
    ],
    [
      'a setting inside another',
      'data: 1',
      '(property) data?: number | undefined',
      'Further tries of a response after faults',
    ],
    [
      'a field of a decision',
      'resumeFrom',
      '(property) RequestLaunch.resumeFrom?: KeptResponse',
      'Tokens to continue from',
    ],
    [
      'a field of an object in it',
      'finished;',
      '(property) KeptResponse.finished: boolean',
      'Whether the response is complete.',
    ],
    ['a number of a reason', 'budget', '(property) budget: number', 'Most further tries after failures of this kind.'],
    [
      'a field of an event',
      'tokens',
      '(property) TurnFinished.tokens: number',
      'Tokens that the trajectory has generated so far.',
    ],
    ['a field of every event', 'at: 0', '.at: number', 'Time in seconds on one clock'],
    [
      'a setting that is picked from a part',
      'maxWaitRounds',
      '(property) maxWaitRounds?: number',
      'A prompt that has waited this many rounds forces a long round',
    ],
    [
      'a setting that has another name in a part',
      'rewardRetry',
      '(property) RollpackerInput.rewardRetry?: {',
      'Retry budgets of each response.',
    ],
    ['what is inside it', 'timeout;', '(property) timeout?: number', 'Further tries of a response that ran out'],
    [
      'a setting that a recipe has in its own way',
      'onRestart',
      `(property) RollpackerInput.onRestart?: "launch"`,
      'Requests are launched anew when the host restarts.',
    ],
  ])('%s', (_, at, type, meaning) => {
    const info = service.getQuickInfoAtPosition(file, text.indexOf(at));
    expect(ts.displayPartsToString(info?.displayParts)).toContain(type);
    expect(ts.displayPartsToString(info?.documentation)).toContain(meaning);
  });

  test.each([
    ['a setting', 'data: 1', '1'],
    ['one that is picked from a part', 'maxWaitRounds', '16'],
    ['one inside one that has another name in a part', 'timeout;', '0'],
  ])('the default of %s', (_, at, value) => {
    const info = service.getQuickInfoAtPosition(file, text.indexOf(at));
    const tags = info?.tags?.map((tag) => `@${tag.name} ${ts.displayPartsToString(tag.text)}`);
    expect(tags).toEqual([`@defaultValue \`${value}\``]);
  });
});
