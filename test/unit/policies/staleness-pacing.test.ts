import { describe, expect, test } from 'vitest';
import { create, stalenessPacing } from '../../../src/index.ts';
import type { StalenessPacingInput } from '../../../src/policies/staleness-pacing/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { itemsWalked } from '../../../src/testing/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { only, prompts, Session } from '../../support/sessions/session.ts';

const roundId = 'run';

/** A run with short ways to launch and complete groups. */
class Run extends Session {
  /** Launches by group. */
  readonly launches = new Map<string, string>();

  constructor(config: StalenessPacingInput, weightVersion = 0) {
    super(create(stalenessPacing, config) as never);
    this.restoresFirst = true;
    this.tell({ type: 'round.requested', roundId, weightVersion });
  }

  tell(event: object): VocabularyDecision[] {
    const told = this.send(event as never);
    for (const { groupId, launchId } of only(told, 'group.launch')) this.launches.set(groupId, launchId);
    return told;
  }

  supply(...ids: string[]): VocabularyDecision[] {
    return this.tell({ type: 'prompts.supplied', roundId, prompts: prompts(...ids) });
  }

  ids(groupId: string) {
    return { roundId, groupId, launchId: this.launches.get(groupId)! };
  }

  /** Completes groups, in this order. */
  finish(...groupIds: string[]): VocabularyDecision[] {
    return groupIds.flatMap((groupId) =>
      this.tell({ type: 'group.completed', ...this.ids(groupId), samples: 2, tokens: 100 }),
    );
  }

  reject(groupId: string, cause: 'filtered' | 'failed' = 'filtered'): VocabularyDecision[] {
    return this.tell({ type: 'group.rejected', ...this.ids(groupId), cause });
  }

  publish(number: number, weightVersion: number): VocabularyDecision[] {
    return this.tell({ type: 'weights.published', roundId, publicationId: `batch#${number}`, weightVersion });
  }
}

const brief = (decisions: readonly VocabularyDecision[]): string[] =>
  decisions.map((one) => {
    switch (one.type) {
      case 'prompts.request':
        return `ask ${one.count}`;
      case 'group.launch':
        return `launch ${one.groupId} v${one.weightVersion}`;
      case 'train.batch':
        return `train ${one.groups.map(({ groupId }) => groupId).join('')} → v${one.weightVersion}, lag ${one.reason.largestLag}`;
      case 'group.drop':
        return `drop ${one.groupId} (${one.reason.tokens})`;
      default:
        return one.type;
    }
  });

describe('launches', () => {
  test('P · (η + 1) groups are launched, P · η while the trainer works, and P more with each version', () => {
    const run = new Run({ groupsPerBatch: 2, maxStaleness: 2 });
    expect(brief(run.supply(...'abcdefg'))).toEqual([...'abcdef'].map((id) => `launch ${id} v0`));
    expect(brief(run.finish('c', 'a'))).toEqual(['train ac → v1, lag 0']);
    expect(brief(run.publish(0, 1))).toEqual(['launch g v1', 'ask 1']);
  });

  test('without staleness, nothing is launched while the trainer works', () => {
    const run = new Run({ groupsPerBatch: 1, maxStaleness: 0 }, 4);
    expect(brief(run.supply('a', 'b'))).toEqual(['launch a v4']);
    expect(brief(run.finish('a'))).toEqual(['train a → v5, lag 0']);
    expect(brief(run.publish(0, 5))).toEqual(['launch b v5']);
  });

  test('a group that is rejected is replaced at once, complete or not', () => {
    const run = new Run({ groupsPerBatch: 2 });
    run.supply(...'abcdef');
    expect(brief(run.reject('a'))).toEqual(['group.withdrawn', 'launch e v0']);
    run.finish('b');
    expect(brief(run.reject('b', 'failed'))).toEqual(['group.withdrawn', 'launch f v0']);
    expect(brief(run.reject('c'))).toEqual(['group.withdrawn', 'ask 1']);
  });

  test('maxGroups is a smaller reserve', () => {
    const run = new Run({ groupsPerBatch: 2, maxStaleness: 4, maxGroups: 3 });
    expect(run.supply(...'abcd').length).toBe(3);
    expect(brief(run.finish('b', 'c'))).toEqual(['train bc → v1, lag 0', 'launch d v0', 'ask 1']);
  });

  test('prompts that are here already are merged and asked for again, until the source seems to have no others', () => {
    const run = new Run({ groupsPerBatch: 1, maxStaleness: 1 });
    expect(brief(run.supply('a'))).toEqual(['launch a v0']);
    expect(brief(run.supply('a'))).toEqual(['prompt.merged', 'ask 1']);
    expect(brief(run.supply('a'))).toEqual(['prompt.merged']);
    expect(brief(run.finish('a'))).toEqual(['train a → v1, lag 0', 'ask 1']);
    expect(brief(run.supply('a'))).toEqual(['launch a v0']);
  });

  test('a prompt that is merged in the place of a rejected one is asked for again, also after a restart', () => {
    for (const isRestarted of [false, true]) {
      const run = new Run({ groupsPerBatch: 2, maxStaleness: 0 });
      run.supply('a', 'b');
      expect(brief(run.reject('b'))).toEqual(['group.withdrawn', 'ask 1']);
      if (isRestarted) run.tell({ type: 'host.restarted', idPrefix: 'x-' });
      expect(brief(run.supply('a'))).toEqual(['prompt.merged', 'ask 1']);
      expect(brief(run.supply('c'))).toEqual(['launch c v0']);
    }
  });

  test('a source that has only the prompts that are here gets a smaller batch, and is asked again', () => {
    const run = new Run({ groupsPerBatch: 2, maxStaleness: 0 });
    run.supply('a');
    expect(brief(run.supply('a'))).toEqual(['prompt.merged', 'ask 1']);
    expect(brief(run.supply('a'))).toEqual(['prompt.merged']);
    expect(brief(run.finish('a'))).toEqual(['train a → v1, lag 0']);
    expect(brief(run.publish(0, 1))).toEqual(['ask 2']);
  });
});

describe('versions that the host tells', () => {
  const two = (): Run => {
    const run = new Run({ groupsPerBatch: 1, maxStaleness: 2, maxBatches: 2 });
    run.supply('a', 'b', 'c');
    expect(brief(run.finish('a', 'b'))).toEqual(['train a → v1, lag 0', 'train b → v2, lag 1']);
    return run;
  };

  test('engines that have the weights of two batches at once say so for both, and no version is made up', () => {
    const run = two();
    run.publish(0, 2);
    run.publish(1, 2);
    expect(brief(run.supply('d'))).toEqual(['launch d v2']);
    expect(brief(run.finish('c'))).toEqual(['train c → v3, lag 2']);
    expect(brief(run.publish(2, 3))).toEqual(['ask 1']);
  });

  test('after a restart behind, groups count as of its version, and the next launches name it', () => {
    const run = new Run({ groupsPerBatch: 1, maxStaleness: 1 }, 7);
    run.supply('a', 'b');
    const again = run.tell({ type: 'host.restarted', idPrefix: 'x-', weightVersion: 5 });
    expect(brief(again)).toEqual(['round.resumed', 'launch a v5', 'launch b v5']);
    expect(brief(run.finish('a'))).toEqual(['train a → v6, lag 0']);
  });

  test('after a restart behind, what was handed over makes an older version, too, and nothing is held up', () => {
    const run = new Run({ groupsPerBatch: 1, maxStaleness: 1 }, 5);
    run.supply('a', 'b');
    expect(brief(run.finish('a'))).toEqual(['train a → v6, lag 0']);
    const again = run.tell({ type: 'host.restarted', idPrefix: 'x-', weightVersion: 4 });
    expect(brief(again)).toEqual(['round.resumed', 'train a → v5, lag 0', 'launch b v4']);
    run.publish(0, 5);
    expect(brief(run.finish('b'))).toEqual(['train b → v6, lag 1']);
  });

  test('after a restart ahead, what is complete is trained if it is in time, and else dropped by name', () => {
    const run = new Run({ groupsPerBatch: 2, maxStaleness: 1 }, 7);
    run.supply('a', 'b', 'c', 'd');
    run.finish('a');
    const near = run.tell({ type: 'host.restarted', idPrefix: 'x-', weightVersion: 8 });
    expect(brief(near)).toEqual(['round.resumed', 'launch b v8', 'launch c v8', 'launch d v8']);
    const far = run.tell({ type: 'host.restarted', idPrefix: 'y-', weightVersion: 9 });
    expect(brief(far)).toEqual(['round.resumed', 'launch b v9', 'launch c v9', 'launch d v9', 'drop a (100)', 'ask 1']);
  });
});

describe('batches', () => {
  test('take any groups of the window, the oldest first, and none outside it', () => {
    const run = new Run({ groupsPerBatch: 2, maxStaleness: 2, windowGroups: 3 });
    run.supply(...'abcdef');
    expect(brief(run.finish('f', 'e', 'd', 'c'))).toEqual([]);
    // With b the window has two; then it moves on by two.
    expect(brief(run.finish('b'))).toEqual(['train bc → v1, lag 0']);
    expect(brief(run.publish(0, 1))).toEqual(['train de → v2, lag 1', 'ask 2']);
  });

  test('wait for groups that would be too old later', () => {
    const run = new Run({ groupsPerBatch: 2, maxStaleness: 1 });
    run.supply(...'abcd');
    run.finish('c', 'd');
    run.publish(0, 1);
    run.supply('e', 'f');
    expect(brief(run.finish('e', 'f', 'b'))).toEqual([]);
    expect(brief(run.finish('a'))).toEqual(['train ab → v2, lag 1']);
    expect(brief(run.publish(1, 2))).toEqual(['train ef → v3, lag 1', 'ask 2']);
  });

  test('are fetched ahead, where the trainer takes several; the weights of one are those of all before it', () => {
    const run = new Run({ groupsPerBatch: 1, maxStaleness: 2, maxBatches: 2 });
    run.supply(...'abcd');
    expect(brief(run.finish('c', 'b', 'a'))).toEqual(['train c → v1, lag 0', 'train b → v2, lag 1']);
    expect(run.why('batch#1')).toEqual([
      'batch#1 is fetched ahead, with 1 groups',
      'batch#0 is trained, with 1 groups',
      'trainer: weights.published run batch#0',
    ]);
    run.refuses(
      { type: 'weights.published', at: 1, roundId, publicationId: 'batch#1', weightVersion: 1 },
      'invalid_event',
      'weightVersion',
    );
    expect(brief(run.publish(1, 2))).toEqual(['train a → v3, lag 2', 'launch d v2', 'ask 1']);
    expect(run.publish(0, 1)).toMatchObject([{ type: 'training.late' }]);
    const again = run.tell({ type: 'host.restarted', idPrefix: 'h-' });
    expect(only(again, 'train.batch')).toMatchObject([{ publicationId: 'batch#2', weightVersion: 3 }]);
  });

  test('the last one has what is left, and ends the round', () => {
    const run = new Run({ groupsPerBatch: 2 });
    run.supply(...'abc');
    run.finish('a', 'b');
    run.tell({ type: 'source.exhausted' });
    expect(brief(run.publish(0, 1))).toEqual([]);
    expect(brief(run.finish('c'))).toEqual(['train c → v2, lag 1']);
    expect(brief(run.publish(1, 2))).toEqual(['round.drained']);
    const again = { type: 'round.requested', roundId: 'next', weightVersion: 2 };
    expect(brief(run.tell(again))).toEqual(['source.drained']);
    run.tell({ type: 'source.reopened' });
    expect(brief(run.tell({ ...again, roundId: 'third' }))).toEqual(['ask 4']);
  });

  test('a domain that is exhausted is not the source', () => {
    const run = new Run({ groupsPerBatch: 1 });
    expect(run.tell({ type: 'source.exhausted', domain: 'math' })).toEqual([]);
    expect(run.tell({ type: 'source.exhausted' }).map(({ type }) => type)).toEqual(['round.drained']);
  });
});

describe('trouble', () => {
  test('a restart launches anew what was in flight, after what is complete, and names the batch again', () => {
    const run = new Run({ groupsPerBatch: 2, maxStaleness: 2 });
    run.supply(...'abcdef');
    run.finish('a', 'b', 'd');
    const [resumed, ...rest] = run.tell({ type: 'host.restarted', idPrefix: 'h1-' });
    expect(resumed).toMatchObject({ type: 'round.resumed', roundId, promptIds: ['c', 'd', 'e', 'f'] });
    expect(brief(rest)).toEqual(['train ab → v1, lag 0', 'launch c v0', 'launch e v0', 'launch f v0']);
    expect(rest[1]).toMatchObject({ launchId: 'h1-launch#6', reason: { code: 'host_restarted' } });
    // The earlier try of c completes after all: it is not what was launched now.
    const late = { type: 'group.completed', roundId, groupId: 'c', launchId: 'launch#2', samples: 2, tokens: 9 };
    expect(run.tell(late)).toMatchObject([{ type: 'group.late', reason: { code: 'launch_over' } }]);
    // The first of these was the batch before the restart: it keeps its id.
    run.publish(0, 1);
    expect(brief(run.finish('f'))).toEqual(['train df → v2, lag 1']);
  });

  test('versions that the host skips cost the groups that are too late, complete ones last', () => {
    const run = new Run({ groupsPerBatch: 2, maxStaleness: 2 });
    run.supply(...'abcdef');
    run.finish('a', 'b', 'e');
    // Version 2 is the last one for these, and takes two of four.
    expect(brief(run.publish(0, 2))).toEqual(['drop f (0)', 'drop d (0)', 'ask 4']);
    expect(brief(run.finish('c'))).toEqual(['train ce → v3, lag 2']);
    expect(brief(run.publish(1, 9))).toEqual(['ask 2']);
  });

  test('reports twice, of old launches and of old batches, change nothing', () => {
    const run = new Run({ groupsPerBatch: 1 });
    run.supply('a', 'b');
    run.finish('b');
    expect(run.finish('b')).toMatchObject([{ type: 'group.late', reason: { code: 'launch_over' } }]);
    run.finish('a');
    expect(run.finish('a')).toMatchObject([{ type: 'group.late', reason: { code: 'known' } }]);
    run.publish(0, 1);
    expect(run.publish(0, 1)).toMatchObject([{ type: 'training.late', reason: { code: 'publication_over' } }]);
  });

  test('prompts for a round that is over are handed back', () => {
    const run = new Run({ groupsPerBatch: 1 });
    run.tell({ type: 'source.exhausted' });
    expect(run.supply('a')).toMatchObject([{ type: 'prompt.returned', reason: { code: 'round_closed' } }]);
  });

  test('what does not fit is refused', () => {
    const run = new Run({ groupsPerBatch: 1 }, 3);
    run.supply('a', 'b');
    const given = { ...run.ids('a'), samples: 1, tokens: 1 };
    const completed = (more: object) => ({ type: 'group.completed', at: 1, ...given, ...more });
    run.refuses(completed({ launchId: undefined }), 'invalid_event', 'launchId');
    run.refuses(completed({ launchId: 'launch#9' }), 'unknown_id', 'launchId');
    run.refuses(completed({ groupId: 'b' }), 'invalid_event', 'groupId');
    run.refuses(completed({ roundId: 'other' }), 'invalid_event', 'roundId');
    run.finish('a');
    const published = { type: 'weights.published', at: 1, roundId, publicationId: 'batch#0', weightVersion: 4 };
    run.refuses({ ...published, weightVersion: 3 }, 'invalid_event', 'weightVersion');
    run.refuses({ ...published, publicationId: 'batch#1' }, 'unknown_id', 'publicationId');
    run.refuses({ ...published, roundId: 'other' }, 'invalid_event', 'roundId');
    run.refuses({ type: 'round.requested', at: 1, roundId: 'r2', weightVersion: 3 }, 'out_of_order', 'roundId');
    run.refuses({ type: 'prompts.supplied', at: 1, roundId: 'r2', prompts: [] }, 'unknown_id', 'roundId');
    run.refuses({ type: 'host.restarted', at: 1, idPrefix: '' }, 'duplicate_id', 'idPrefix');
    run.tell({ type: 'source.exhausted' });
    run.finish('b');
    run.publish(0, 4);
    run.publish(1, 5);
    run.refuses({ type: 'round.requested', at: 1, roundId, weightVersion: 5 }, 'duplicate_id', 'roundId');
    run.refuses({ type: 'round.requested', at: 1, roundId: 'r2', weightVersion: 4 }, 'out_of_order', 'weightVersion');
  });

  test('a window or a reserve below a batch is refused', () => {
    for (const name of ['windowGroups', 'maxGroups']) {
      const make = () => create(stalenessPacing, { groupsPerBatch: 3, [name]: 2 } as never);
      expect(refusal(make)).toMatchObject({ code: 'invalid_config', path: name });
    }
  });
});

test('a batch is answered with the version that it was named with, though versions were skipped meanwhile', () => {
  const run = new Run({ groupsPerBatch: 1, maxStaleness: 2, maxBatches: 2 });
  run.supply('a', 'b', 'c');
  expect(brief(run.finish('a', 'b'))).toEqual(['train a → v1, lag 0', 'train b → v2, lag 1']);
  run.publish(0, 9);
  // The trainer knows only what `train.batch` has named.
  expect(brief(run.publish(1, 2)).filter((one) => one.startsWith('launch'))).toEqual([]);
  run.supply('d');
  expect(brief(run.finish('d'))).toContain('train d → v10, lag 0');
  expect(refusal(() => run.publish(2, 9))).toMatchObject({ code: 'invalid_event', path: 'weightVersion' });
});

test('a snapshot of version 1, whose batches had no versions, is read', () => {
  const run = new Run({ groupsPerBatch: 1, maxStaleness: 2, maxBatches: 2 }, 5);
  run.supply('a', 'b', 'c', 'd');
  run.finish('a', 'b');
  const saved = JSON.parse(JSON.stringify(run.policy.snapshot()));
  for (const one of saved.state.batches) delete one.weightVersion;
  run.policy = create(stalenessPacing, { snapshot: { ...saved, version: 1 } }) as never;
  run.refuses(
    { type: 'weights.published', at: 0, roundId, publicationId: 'batch#1', weightVersion: 6 },
    'invalid_event',
    'weightVersion',
  );
  expect(brief(run.publish(1, 7))).toContain('launch d v7');
});

test('why says what holds a group up', () => {
  const run = new Run({ groupsPerBatch: 2, maxStaleness: 1, windowGroups: 2 });
  run.supply(...'abcde');
  run.finish('d');
  expect(run.why('a')).toMatchInlineSnapshot(`
    [
      "a is generated since version 0",
      "host: group.completed run a launch#0",
    ]
  `);
  expect(run.why('d')).toMatchInlineSnapshot(`
    [
      "d is complete, and outside the window",
      "batch#0 is not decided: 0 groups of 2 are complete",
      "a is generated since version 0",
      "host: group.completed run a launch#0",
      "host: group.completed run b launch#1",
      "host: group.completed run c launch#2",
    ]
  `);
  expect(run.why('e')).toMatchInlineSnapshot(`
    [
      "e waits to be launched: 4 of 4 groups are here, 3 of them in flight",
      "batch#0 is not decided: 0 groups of 2 are complete",
      "a is generated since version 0",
      "host: group.completed run a launch#0",
      "host: group.completed run b launch#1",
      "host: group.completed run c launch#2",
    ]
  `);
  run.finish('a', 'b');
  expect(run.why('e')).toMatchInlineSnapshot(`
    [
      "e waits to be launched: 2 of 2 groups are here, 1 of them in flight",
      "batch#1 is not decided: 1 groups of 2 are complete",
      "batch#0 is trained, with 2 groups",
      "trainer: weights.published run batch#0",
    ]
  `);
  expect(run.why('run', 'rounds')).toMatchInlineSnapshot(`
    [
      "run has 1 groups in flight and 1 complete, the trainer works",
      "batch#0 is trained, with 2 groups",
      "trainer: weights.published run batch#0",
      "data source: source.exhausted",
    ]
  `);
});

test('what all groups wait for is found in linear time', () => {
  const walked = (n: number): number => {
    const run = new Run({ groupsPerBatch: n, maxStaleness: 1 });
    run.restoresFirst = false;
    run.supply(...Array.from({ length: 2 * n }, (_, index) => `p${index}`));
    for (let index = 1; index < n; index += 1) run.finish(`p${index}`);
    return itemsWalked(() => (run.policy as unknown as { why(): unknown }).why());
  };
  expect(walked(400) / walked(100)).toBeLessThan(6);
});
