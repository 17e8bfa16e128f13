/** A few numbers in a configuration, or in a snapshot, cannot become requests without end. */
import { describe, expect, test } from 'vitest';
import { create, registry, speculativeAdmission } from '../../../src/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { smallCluster } from '../../support/examples/configs.ts';
import { Session } from '../../support/sessions/session.ts';

const shape = { promptsPerRound: 50, responsesPerPrompt: 100_000 };
const recipes = {
  'speculative-admission': {},
  'tail-batching': {},
  'tail-pipelining': { globalBatchSamples: 100_000 },
  rollpacker: smallCluster,
};

describe.each(Object.entries(recipes))('%s', (id, more) => {
  const refused = (config: object) => refusal(() => registry.create(id as never, { ...more, ...config } as never));

  test('a round of more than a million requests is refused, with what it would have', () => {
    expect(refused(shape)).toMatchObject({
      code: 'invalid_config',
      path: 'responsesPerPrompt',
      expected: 'a round of at most 1000000 requests, prompts × responses with speculation: it has 7875000',
      got: '100000',
    });
    expect(refused({ promptsPerRound: 1, responsesPerPrompt: Number.MAX_SAFE_INTEGER })).toMatchObject({
      code: 'invalid_config',
      path: 'responsesPerPrompt',
    });
    expect(refused({ promptsPerRound: Number.MAX_SAFE_INTEGER, responsesPerPrompt: 1 })).toMatchObject({
      path: 'promptsPerRound',
    });
  });
});

test('a snapshot with a round of more requests is refused, too', () => {
  const config = { promptsPerRound: 2, responsesPerPrompt: 2, speculation: 'auto' } as const;
  const session = new Session(create(speculativeAdmission, config) as never);
  session.open([{ promptId: 'a' }]);
  const text = JSON.stringify(session.policy.snapshot());
  registry.restore(JSON.parse(text));
  for (const [given, wrong] of [
    ['"responses":3,', '"responses":9007199254740991,'],
    ['"chosen":0', '"chosen":1e9'],
  ] as const) {
    expect(text).toContain(given);
    const broken = JSON.parse(text.replace(given, wrong));
    expect(refusal(() => registry.restore(broken))).toMatchObject({ code: 'snapshot_mismatch' });
  }
});
