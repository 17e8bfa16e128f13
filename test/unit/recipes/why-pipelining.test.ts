/** Why things wait in the loader and in the recipes with a frontier: each answer leads to whoever has to act. */
import { expect, test } from 'vitest';
import { create, flexrl, rolloutPipe, tailPipelining, type Why, type WhyAll } from '../../../src/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { LoaderSession, node, video } from '../../support/sessions/loader.ts';
import { only } from '../../support/sessions/session.ts';

type Policy = { send(event: never): unknown[]; why(id: string, what?: string): Why };

const sender =
  (policy: Policy) =>
  (type: string, more: object, at = 0): VocabularyDecision[] =>
    policy.send({ type, at, ...more } as never) as VocabularyDecision[];

/** The whole answer, but the times: each thing with where it stands, and the first event with whoever sends it. */
function chain(why: Why): string[] {
  const [first] = why.owed;
  return [why, ...why.through]
    .map(({ id, stands }) => `${id} ${stands}`)
    .concat(first === undefined ? [] : named(first));
}

const named = ({ who, event: { type, ...fields } }: WhyAll['owed'][number]): string =>
  `${who}: ${type} ${Object.values(fields).flat().join(' ')}`;

test('a step waits for the rank that has not fetched its frames, and a queued sample for the node that is full', () => {
  const session = new LoaderSession({ nodes: [node('a', 20, 0, 1)] });
  session.draw('s', video('x'), video('y'), video('z'));
  expect(chain(session.loader.why('z'))).toEqual([
    'z is next to be preprocessed',
    'x is being preprocessed on node a',
    'loader: sample.preprocessed preprocess/0 a',
  ]);
  session.done(0, 'a');
  session.plan('b', [{ sampleId: 'x', ranks: [0, 1] }]);
  session.has(0, 0);
  expect(chain(session.loader.why('s'))).toEqual([
    's is the current step',
    'b has 1 of 2 slices',
    'slice/1 is fetched by rank 1 from node a',
    'loader: slice.materialized slice/1 1',
  ]);
});

test('flexrl waits for a batch that is to be planned, or for the end of its step', () => {
  const policy = create(flexrl, { nodes: [node('a', 100, 0, 1)], devices: 2, strategy: 'ulysses', ulyssesDegree: 2 });
  const send = sender(policy as never);
  send('samples.drawn', { stepId: 's', samples: [video('x')] });
  send('sample.preprocessed', { preprocessId: 'preprocess/0', nodeId: 'a', bytes: 10 });
  const why = policy.why('x');
  expect(why.stands).toBe('is on node a, and no batch needs it now');
  expect(why.owed.map(named)).toEqual(['host: batch.ready s', 'host: step.completed s']);
});

test('in rolloutpipe, a round leads to the request on which its training waits', () => {
  const policy = create(rolloutPipe, { responsesPerPrompt: 2, globalBatchSamples: 4, width: 1 });
  const send = sender(policy as never);
  const prompts = ['a', 'b'].map((promptId) => ({ promptId }));
  send('round.opened', { roundId: 'r', kind: 'long', weightVersion: 0, prompts });
  expect(chain(policy.why('r'))).toEqual([
    'r has 0 of 2 groups generated',
    'a has no request yet',
    'host: request.arrived a r 0',
  ]);
  const arrive = (promptId: string, at: number) => {
    for (const index of [0, 1]) {
      send('request.arrived', { requestId: `${promptId}/${index}#0`, promptId, roundId: 'r', index }, at);
    }
  };
  arrive('a', 1);
  arrive('b', 2);
  expect(chain(policy.why('b/1#0'))).toEqual([
    'b/1#0 is not admitted yet',
    'b waits for a slot, as number 1',
    'frontier has 1 of 1 groups in service',
    'a has 0 of 2 responses',
    'a/0#0 is admitted to the engines',
    'engine: response.completed a/0#0',
  ]);
  for (const requestId of ['a/0#0', 'a/1#0']) send('response.completed', { requestId, tokens: 5 }, 3);
  send('reward.ready', { requestId: 'a/0#0', reward: 1 }, 4);
  expect(chain(policy.why('a'))).toEqual([
    'a has the rewards of 1 of 2 responses',
    'a/1#0 has no reward',
    'host: reward.ready a/1#0',
  ]);
  send('reward.ready', { requestId: 'a/1#0', reward: 0 }, 5);
  const ready = policy.why('r\na');
  expect(ready.stands).toBe('has its rewards');
  expect(ready.owed.map(named)).toEqual(['engine: response.completed b/0#0', 'engine: response.completed b/1#0']);
  for (const requestId of ['b/0#0', 'b/1#0']) send('response.completed', { requestId, tokens: 5 }, 6);
  const [sent] = ['b/0#0', 'b/1#0'].flatMap((requestId, reward) =>
    only(send('reward.ready', { requestId, reward }, 7), 'train.dispatch'),
  );
  const { updateId } = sent!;
  expect(chain(policy.why('a'))).toEqual([
    'a is in update 0 of its round',
    `${updateId} is being trained, with 0 of 2 groups consumed`,
    `trainer: update.consumed ${updateId} a b`,
  ]);
  send('update.consumed', { updateId, groups: ['a', 'b'], seconds: 1 }, 8);
  expect(policy.why().owed.map(named)).toEqual([`trainer: optimizer.stepped r ${updateId}`]);
  send('optimizer.stepped', { roundId: 'r', updateId }, 9);
  expect(policy.why('r').owed.map(named)).toEqual(['trainer: weights.published r publication#0']);
});

test('in tail-pipelining, a launched request that the frontier holds back waits for the group in service', () => {
  const policy = create(tailPipelining, {
    promptsPerRound: 2,
    responsesPerPrompt: 1,
    promptSpeculation: 1,
    responseSpeculation: 1,
    globalBatchSamples: 2,
    frontier: true,
    width: 1,
  });
  const send = sender(policy as never);
  send('round.requested', { roundId: 'r', weightVersion: 0 });
  send('prompts.supplied', { roundId: 'r', prompts: [{ promptId: 'a' }, { promptId: 'b' }] });
  expect(chain(policy.why('b'))).toEqual([
    'b has 0 of 1 responses',
    'frontier has 1 of 1 groups in service',
    'a has 0 of 1 responses',
    'a/0#0 is admitted to the engines',
    'engine: response.completed a/0#0',
  ]);
  expect(policy.why('b').owed).toHaveLength(1);
  expect(policy.why('r').owed.map(named)).toEqual(['engine: response.completed a/0#0']);
});
