/**
 * A trainer dies at some step, and resumes from a checkpoint of an earlier one while the server's state is newer: it opens
 * its own snapshot with `onExisting: replace`, and sends `host.restarted` with a new prefix. No prompt is lost or trained
 * twice, and what the engines still report of the life that is gone changes nothing.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RollpackerInput } from '../../src/recipes/rollpacker/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs, times } from '../support/basics/runs.ts';
import { smallCluster } from '../support/examples/configs.ts';
import { RollpackerHost } from '../support/hosts/rollpacker.ts';
import { rpc, type WireClient } from '../support/servers/clocked.ts';
import { TailTrainer, type TrainerState, tailConfig } from '../support/servers/tail-trainer.ts';

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

interface Checkpoint {
  readonly snapshot: unknown;
  readonly state: TrainerState;
  readonly at: number;
  readonly isOpen: boolean;
}

/** A death: so many steps after the checkpoint, and so far into the step. */
const death = fc.record({ checkpoint: fc.nat(6), after: fc.nat(4), into: fc.nat(12), early: fc.nat(10) });

test('tail batching: any number of deaths, any checkpoints', async () => {
  let deaths = 0;
  await fc.assert(
    fc.asyncProperty(tapes(), fc.array(death, { minLength: 1, maxLength: 3 }), async (tape, all) => {
      const { client } = rpc();
      const choices = choicesFrom(tape);
      const prompts = 24;
      await client.call('session.open', { policy: 'tail-batching', config: tailConfig, session: 'job' });
      let trainer = new TailTrainer(client, choices, prompts, { loaded: 0, trained: [] }, 0);
      const goOn = async (steps: number, into: number) => {
        while (!trainer.isDone && trainer.steps < steps) await trainer.step();
        for (let n = 0; n < into && !trainer.isDone; n += 1) await trainer.step();
      };
      for (const [index, { checkpoint, after, into, early }] of all.entries()) {
        const from = trainer.steps + checkpoint;
        await goOn(from, early);
        const saved: Checkpoint = {
          snapshot: (await client.call('session.snapshot', { session: 'job' })).snapshot,
          ...plain({ state: trainer.state, at: trainer.at, isOpen: trainer.isOpen }),
        };
        await goOn(from + after, into);
        // Here it dies. The server, and the engines, know nothing of it.
        const before = trainer.running;
        const { at } = trainer;
        await client.call('session.open', { snapshot: saved.snapshot, session: 'job', onExisting: 'replace' });
        trainer = new TailTrainer(client, choices, prompts, saved.state, at);
        await trainer.restarted(`life-${index}/`, saved.isOpen);
        for (const requestId of before) await trainer.lateReport(requestId);
        deaths += 1;
      }
      for (let n = 0; n < 3000 && !trainer.isDone; n += 1) await trainer.step();
      expect(trainer.isDone).toBe(true);
      const trained = trainer.state.trained.flat();
      expect([...trained].sort()).toEqual(Array.from({ length: prompts }, (_, index) => `p${index}`).sort());
    }),
    runs(40),
  );
  expect(deaths).toBeGreaterThanOrEqual(times(40));
});

type Told = { readonly event: unknown; readonly decisions: unknown };
const cluster: RollpackerInput = {
  ...smallCluster,
  rewardKindByDomain: { code: 'sandbox' },
  rewardRetry: { infrastructure: 1 },
  maxResponseTokens: 200,
};
const configs: Readonly<Record<string, RollpackerInput>> = {
  'everything on': cluster,
  'tail batching only': {
    ...cluster,
    adaptiveTp: false,
    adaptiveTimeout: false,
    asyncReward: false,
    streamTraining: false,
  },
};

describe('rollpacker', () => {
  /** The same on the server; its decisions are those of the host's own policy. */
  const mirror = async (client: WireClient, told: readonly Told[]) => {
    for (let at = 0; at < told.length; at += 25) {
      const some = told.slice(at, at + 25);
      const { decisions } = await client.call('session.send', { session: 'job', events: some.map((one) => one.event) });
      expect(decisions).toEqual(plain(some.flatMap((one) => one.decisions)));
    }
  };

  test.each(Object.entries(configs))('%s', async (_, config) => {
    await fc.assert(
      fc.asyncProperty(tapes(), fc.nat(120), fc.integer({ min: 1, max: 80 }), async (tape, checkpoint, after) => {
        // The host does the same from the same tape: a checkpoint of it is its life until then, lived again.
        const live = (steps: number) => {
          const choices = choicesFrom(tape);
          const host = new RollpackerHost(config, choices, 8 + choices.below(20));
          const told: Told[] = [];
          host.observe = (event, decisions) => void told.push({ event: plain(event), decisions: plain(decisions) });
          for (let index = 0; index < steps && !host.isDone; index += 1) host.step(true);
          return { host, told };
        };
        const { client } = rpc();
        await client.call('session.open', { policy: 'rollpacker', config, session: 'job' });
        const dead = live(checkpoint + after);
        const { host, told } = live(checkpoint);
        const saved = told.length;
        expect(dead.told.slice(0, saved)).toEqual(told);
        await mirror(client, told);
        const { snapshot } = await client.call('session.snapshot', { session: 'job' });
        await mirror(client, dead.told.slice(saved));
        await client.call('session.open', { snapshot, session: 'job', onExisting: 'replace' });
        host.restart();
        const known = new Set(host.running);
        for (const id of dead.host.running) if (!known.has(id)) host.lateReport(id);
        for (let index = 0; index < 3000 && !host.isDone; index += 1) host.step(false);
        expect(host.isDone, host.describe()).toBe(true);
        // Its three books: prompts and responses, rewards and groups, gradients.
        host.compare();
        await mirror(client, told.slice(saved));
        const end = await client.call('session.snapshot', { session: 'job' });
        expect(end.snapshot).toEqual(plain(host.snapshot));
      }),
      runs(10),
    );
  });
});
