import { describe, expect, test } from 'vitest';
import { registry } from '../../../src/registry.ts';
import { exampleConfigs } from '../../support/examples/configs.ts';
import { only, prompts, Session } from '../../support/sessions/session.ts';

const session = (id: string, config: object): Session =>
  Object.assign(new Session(registry.create(id as never, config as never) as never), { restoresFirst: true });

describe('after a restart at another version', () => {
  const config = { promptsPerRound: 2, responsesPerPrompt: 1, promptSpeculation: 1, responseSpeculation: 1 };
  const open = (more: object = {}): Session => {
    const tail = session('tail-batching', { ...config, ...more });
    tail.send({ type: 'round.requested', roundId: 'r', weightVersion: 7 });
    tail.send({ type: 'prompts.supplied', roundId: 'r', prompts: prompts('a', 'b') });
    tail.complete('a/0#0');
    return tail;
  };

  test.each([
    ['ahead, within the staleness', { maxStaleness: 1 }, 8],
    ['behind', {}, 5],
    ['the same', {}, 7],
  ])('%s: the open round goes on, nothing is dropped, and launches name the version', (_, more, weightVersion) => {
    const tail = open(more);
    const again = tail.send({ type: 'host.restarted', idPrefix: 'x-', weightVersion });
    expect(again.map(({ type }) => type)).not.toContain('prompt.deferred');
    const launch = only(again, 'request.launch')[0]!;
    expect(launch).toMatchObject({ promptId: 'b', weightVersion });
    const completed = only(tail.complete(launch.requestId), 'round.completed')[0]!;
    expect(completed).toMatchObject({ weightVersion });
    expect(completed.prompts.map(({ responses }) => responses[0]!.weightVersions)).toEqual([[7], [weightVersion]]);
    // The next round may have this version again, under another id.
    tail.send({ type: 'round.requested', roundId: 'r again', weightVersion });
  });

  test('ahead, beyond the staleness: what is too old leaves by name, and what has nothing yet does not', () => {
    const tail = session('speculative-admission', { ...config, promptsPerRound: 3, responsesPerPrompt: 2 });
    tail.open(prompts('a', 'b', 'c'), 'long', 7);
    tail.complete('a/0#0');
    const again = tail.send({ type: 'host.restarted', idPrefix: 'x-', weightVersion: 8 });
    const deferred = only(again, 'prompt.deferred');
    expect(deferred.map(({ prompt, reason }) => [prompt.promptId, reason.code])).toEqual([['a', 'stale_weights']]);
    const launched = only(again, 'request.launch').map((one) => [one.promptId, one.weightVersion]);
    expect(launched).toEqual(['b', 'b', 'c', 'c'].map((id) => [id, 8]));
    expect(only(again, 'prompts.request')).toMatchObject([{ count: 1 }]);
  });

  test('a trainer that has fallen back requests its rounds again', () => {
    const tail = open();
    tail.complete('b/0#0');
    tail.refuses({ type: 'round.requested', at: 0, roundId: 'r2', weightVersion: 5 }, 'out_of_order', 'weightVersion');
    tail.send({ type: 'host.restarted', idPrefix: 'x-', weightVersion: 5 });
    tail.send({ type: 'round.requested', roundId: 'r2', weightVersion: 5 });
  });

  test('complete-group-pipelining: groups of both versions are trained, and the weights that come of older ones are taken', () => {
    const one = session('complete-group-pipelining', { responsesPerPrompt: 1, globalBatchSamples: 2 });
    const group = (promptId: string, version: number) =>
      one.send({
        ...{
          type: 'group.rewarded',
          roundId: 'r',
          promptId,
          samples: 1,
          tokens: 1,
          reason: { code: 'all_rewarded', responses: 1, missing: 0, waitedSeconds: 0 },
        },
        responses: [{ requestId: `${promptId}/0#0`, tokens: 1, reward: 1, weightVersions: [version] }],
      } as never);
    one.send({ type: 'round.opened', roundId: 'r', kind: 'long', weightVersion: 7, prompts: prompts('a', 'b') });
    group('a', 7);
    one.refuses(
      { type: 'round.opened', at: 0, roundId: 's', kind: 'long', weightVersion: 5, prompts: [] },
      'out_of_order',
    );
    one.send({ type: 'host.restarted', idPrefix: 'x-', weightVersion: 5 });
    expect(only(group('b', 5), 'train.dispatch')).toMatchObject([{ groups: ['a', 'b'] }]);
    one.send({ type: 'round.opened', roundId: 's', kind: 'long', weightVersion: 5, prompts: [] });
  });
});

describe('a report about an engine', () => {
  const takers = registry.policies.filter(
    ({ id, events }) =>
      id !== 'watchdog' &&
      events.some(({ type }) => type === 'engine.lost') &&
      events.some(({ type }) => type === 'engine.added'),
  );

  test.each(takers.map(({ id }) => id))(
    'that has left is late, not wrong, and of one never added it is wrong: %s',
    (id) => {
      let checked = 0;
      for (const config of exampleConfigs[id]!) {
        // Where the engines are settings, those are the ones that may be added.
        const engineId = /"engineId":"([^"]+)"/.exec(JSON.stringify(config))?.[1] ?? 'e';
        const about = (...types: string[]): void => {
          const one = session(id, config as object);
          for (const type of types) one.send({ type, engineId } as never);
        };
        try {
          about('engine.added');
        } catch {
          // Here, `engines.placed` says first which engines there are.
          continue;
        }
        checked += 1;
        for (const last of ['engine.lost', 'engine.drained']) {
          about('engine.added', 'engine.drained', last);
          about('engine.added', 'engine.lost', last, 'engine.added', last);
          session(id, config as object).refuses({ type: last, at: 0, engineId: 'never' }, 'unknown_id', 'engineId');
        }
      }
      expect(checked).toBeGreaterThan(0);
    },
  );
});
