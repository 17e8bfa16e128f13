/** `rollflex explain`: what it says of logs that are wrong, of things that are not there, and of names that are hostile. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type AnyPolicyDefinition, sealDefinition } from '../../../src/core/machine/definition.ts';
import { lateness, overdueSeconds } from '../../../src/core/why/overdue.ts';
import { create, recordEvents, tailBatching } from '../../../src/index.ts';
import { type Asked, explainSession } from '../../../src/logs/explain/explain.ts';
import { answerOf } from '../../../src/logs/explain/text.ts';
import { LogIndex } from '../../../src/logs/index/log-index.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { logOfAStuckRound } from '../../support/documents/own-files.ts';
import { Folders } from '../../support/servers/decision-log.ts';

const folders = new Folders();
afterAll(() => folders.remove());

const stuck = logOfAStuckRound();

function file(text: string): string {
  const folder = folders.next();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'run.jsonl'), text);
  return join(folder, 'run.jsonl');
}
const log = file(stuck);

/** What the command says, its lines joined. */
async function said(path: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await rollflex('explain', path, ...args);
  return code === 0 ? out.replaceAll('\n', ' ').trim() : `${code} ${err.trim()}`;
}

describe('wrong use', () => {
  test.each([
    [['--prompt', 'q_21'], '--prompt: expected an id of the log (did you mean "q21"?), got "q_21" (unknown_id)'],
    [['--request', 'q21/1#7'], '--request: expected an id of the log (did you mean "q21/1#9"?)'],
    [['--prompt', 'a', '--round', 'b'], '--round: expected one id, got "--prompt beside it"'],
    [['--at', '72'], '--at: expected an event of the log, from 0 to 71, got 72'],
    [['--at', 'noon'], '--at: expected the number of an event (4711), a time in seconds'],
    [['--session', 's'], '--session: expected no --session: this log has one, got "s"'],
  ])('%s', async (args, expected) => {
    expect(await said(log, ...args)).toContain(`2 rollflex: ${expected}`);
  });

  test.each([
    ['an empty file', '', 'run.jsonl: expected a log with a session in it'],
    ['another file', 'hello\n', 'run.jsonl:1: expected a JSON object, got "hello"'],
    ['no snapshot first', '{"event":{}}\n', 'run.jsonl:1: expected a log that begins with a snapshot'],
    ['a broken line', stuck.replace('\n', '\n{"event":\n'), 'run.jsonl:2: expected a JSON object'],
    [
      'a line that is none of a log',
      stuck.replace('\n', '\n{}\n'),
      'run.jsonl:2.event: expected an object (required), got nothing',
    ],
  ])('%s', async (_, text, expected) => {
    expect(await said(file(text))).toContain(expected);
  });
});

describe('a log that this version cannot play', () => {
  test.each([
    ['"version":2,', '"version":9,', 'snapshot.version: expected version 2 of tail-batching'],
    ['"policy":"tail-batching"', '"policy":"acme/mine"', 'no policy "acme/mine" is known here'],
  ])('%s', async (from, to, expected) => {
    const answer = await said(file(stuck.replace(from, to)));
    expect(answer).toMatch(/^What \S+ waits for at event 71 is not known\. {3}This version cannot play the log: /);
    expect(answer).toContain(expected);
  });

  test('or plays otherwise', async () => {
    const lines = stuck.split('\n');
    const at = lines.findIndex((line) => line.includes('request.launch'));
    lines[at] = lines[at]!.replace('"type":"request.launch"', '"type":"request.start"');
    expect(await said(file(lines.join('\n')))).toContain(
      `otherwise than the log from event ${at} on (see rollflex replay)`,
    );
  });

  test('a last line that is cut off is left out', async () => {
    expect(await said(file(stuck.slice(0, -30)))).toContain(
      'is stuck: engine vllm-1 owes response.completed of q21/1#9',
    );
  });
});

describe('a thing', () => {
  test('that is not there any longer, or not yet', async () => {
    expect(await said(log, '--prompt', 'q2')).toMatch(/^Prompt q2 is not held.*round\.completed \(.*at event 8\.$/);
    expect(await said(log, '--prompt', 'q21', '--at', '8')).toBe(
      'Prompt q21 is not there yet at event 8: event 58 brings it.',
    );
  });

  test('at other places: nothing is late a moment after it began', async () => {
    expect(await said(log, '--at', '62')).toMatch(/^Nothing is stuck in tail-batching at event 62\. The oldest wait: /);
    expect(await said(log, '--request', 'q21/1#9', '--at', '912.5s')).toMatch(/for \d+ s .*; nothing is overdue\./);
    expect(await said(log, '--round', 'step-10', '--at', '2100-01-01T00:00:00Z')).toContain('overdue');
  });

  test('an engine owes answers, or nothing', async () => {
    expect(await said(log, '--engine', 'vllm-1')).toMatch(
      /^Engine vllm-1 owes one answer\. It is response\.completed of q21/,
    );
    expect(await said(log, '--engine', 'vllm-0')).toMatch(/^Engine vllm-0 owes nothing at event 71\./);
  });

  test('with a hostile or long name takes three lines of 80 columns', async () => {
    for (const name of ['\u001b[31mred\u202e\n{"p"}', 'p'.repeat(512), '__proto__', '"p":[7]']) {
      const lines: string[] = [];
      const tail = create(tailBatching, { promptsPerRound: 1, responsesPerPrompt: 1, promptSpeculation: 1 });
      recordEvents(tail, (line) => lines.push(line));
      tail.send({ type: 'round.requested', at: 0, roundId: name, weightVersion: 1 });
      tail.send({ type: 'prompts.supplied', at: 1, roundId: name, prompts: [{ promptId: name }] });
      const path = file(`${lines.join('\n')}\n`);
      for (const args of [[], ['--prompt', name], ['--round', name]]) {
        const { code, out } = await rollflex('explain', path, '--at', '99999s', ...args);
        expect(code).toBe(0);
        expect(out.replaceAll('\n', ' ')).toContain('owes response.completed of ');
        expect([...out].filter((sign) => sign === '\u001b' || sign === '\u202e')).toEqual([]);
        const answer = out.trimEnd().split('\n');
        expect(answer.length).toBeLessThanOrEqual(3);
        expect(Math.max(...answer.map((line) => line.length))).toBeLessThanOrEqual(80);
      }
    }
  });
});

test('a policy that does not say what blocks what has the answers to its commands', () => {
  const { waits: _, ...silent } = tailBatching;
  const plain = sealDefinition<AnyPolicyDefinition>(silent);
  const restore = (snapshot: unknown) => create(plain, { snapshot } as never);
  const index = new LogIndex([log], { restore, writer: 'test' });
  const [session] = index.sessions;
  const answer = (asked?: Asked): string => answerOf(explainSession(index, session!, undefined, asked)).join(' ');
  expect(answer()).toMatch(/^tail-batching is stuck: engine vllm-1 owes response\.completed of q21\/1#9, for 46 min/);
  expect(answer({ id: 'q21/1#9', kinds: ['requests'], word: 'request' })).toContain(
    'owes response.completed of q21/1#9',
  );
  expect(answer({ id: 'vllm-1', word: 'engine' })).toContain('Engine vllm-1 owes one answer.');
  const { notes } = explainSession(index, session!, undefined);
  expect(notes).toContainEqual(expect.stringContaining('tail-batching declares no `waits`'));
  index.close();
});

describe('overdue', () => {
  const usual = (medianSeconds: number, highSeconds: number, answers = 1000) => ({
    medianSeconds,
    highSeconds,
    answers,
  });

  test('is beyond 3 to 10 times what 99 of 100 answers take, and never below 10 s', () => {
    expect(overdueSeconds(usual(0.05, 0.1))).toBe(10);
    expect(overdueSeconds(usual(50, 60))).toBe(180);
    expect(overdueSeconds(usual(10, 100))).toBeCloseTo(1000, 5);
    expect(overdueSeconds(usual(20, 100))).toBeGreaterThan(600);
    expect(overdueSeconds(usual(20, 100, 4))).toBe(1000);
    expect(overdueSeconds(usual(1, 2, 4))).toBe(300);
    expect(overdueSeconds(undefined)).toBe(3600);
  });

  test('of a timer by its time, of other events by their age', () => {
    expect(lateness({ dueAt: 100 }, 129) > 1).toBe(false);
    expect(lateness({ dueAt: 100 }, 131) > 1).toBe(true);
    expect(lateness({ since: 0, usual: usual(1, 2) }, 10) > 1).toBe(false);
    expect(lateness({ since: 0, usual: usual(1, 2) }, 11) > 1).toBe(true);
    expect(lateness({}, 1e9) > 1).toBe(false);
  });
});
