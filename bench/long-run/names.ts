/**
 * Whether a state grows with the names of what is gone: rounds, requests, prompts, steps and batches that are over, and
 * engines, nodes, reward workers and replicas that are lost for good, none of whose names comes a second time.
 */
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { create } from '../../src/core/machine/start.ts';
import type { EventMessage } from '../../src/schemas/vocabulary.ts';
import { ObedientHost } from '../../src/testing/hosts/obedient-host.ts';
import { choicesOf, play } from '../../src/testing/hosts/play-to-end.ts';
import { answer, type Subject } from '../../src/testing/runs/run.ts';
import { mayForget } from '../../test/support/examples/configs.ts';

/** Lives after which policies remember as much as they ever do: 64 of what is over, and hundreds of measurements. */
export const livesUntilFull = 800;
/** Lives at the end of each part over which the greatest state is taken: one that a filter leaves with less is not rare. */
const compared = 200;

/** Remembers tens of thousands of test cases and runs: its own tests hold its state after a million. */
const withTestCases = ({ id }: AnyPolicyDefinition, config: unknown): boolean =>
  id === 'sandbox-timeout' || JSON.stringify(config).includes('"sandbox"');

/** Lengths of prompts are remembered by tens of thousands: with fewer, a state is full after few lives. */
const rememberedPrompts = 9;

/** A configuration whose memory of prompts is soon full. */
function soonFull({ config: schema }: AnyPolicyDefinition, config: unknown): unknown {
  const { dividedRollout } = config as { readonly dividedRollout?: object };
  const small = {
    rememberedPrompts,
    ...(config as object),
    ...(dividedRollout && { dividedRollout: { rememberedPrompts, ...dividedRollout } }),
  };
  return schema.safeParse(small).success ? small : config;
}

/** The configurations among these with which a policy is watched: none where no host can begin anew. */
export function watchable(definition: AnyPolicyDefinition, configs: readonly unknown[]): unknown[] {
  const canRestart = (definition.events as readonly EventMessage[]).some(({ type }) => type === 'host.restarted');
  if (!canRestart) return [];
  const watched = configs.filter((config) => mayForget(config) && !withTestCases(definition, config));
  return watched.map((config) => soonFull(definition, config));
}

/** Machines that come and are lost, under names of their own. */
function machinesOf(life: number): { type: string; at: number; [field: string]: unknown }[] {
  const at = life;
  // All names have one length: a state is to grow with their number only.
  const name = 100_000 + life;
  const gpus = { serverId: `s${name}`, gpuIds: [`g${name}`], kvCapacityTokens: 1e6 };
  return [
    { type: 'engine.added', at, engineId: `engine${name}`, ...gpus },
    { type: 'engine.added', at, engineId: `engine${name}` },
    { type: 'engine.lost', at, engineId: `engine${name}` },
    { type: 'node.added', at, nodeId: `node${name}`, hostMemoryBytes: 100, ranks: [10 + life] },
    { type: 'node.lost', at, nodeId: `node${name}` },
    { type: 'reward-worker.added', at, workerId: `worker${name}`, kind: 'sandbox', slots: 1 },
    { type: 'reward-worker.lost', at, workerId: `worker${name}` },
    { type: 'replica.lost', at, replica: `replica${name}` },
  ];
}

/** Characters of the greatest state, after few lives and after all of them. */
export interface Growth {
  readonly policy: string;
  readonly lives: number;
  readonly early: number;
  readonly late: number;
}

/**
 * Plays so many lives, each a host that begins, does its work under names of its own, and is gone.
 * Throws where the state has grown.
 */
export function watchNames(definition: AnyPolicyDefinition, config: unknown, lives: number): Growth {
  const policy = create(definition, config) as unknown as Subject & { readonly at: number };
  const parsed = definition.config.parse(config);
  const taken = new Set((definition.events as readonly EventMessage[]).map(({ type }) => type));
  const lengths: number[] = [];
  const counts = (life: number): boolean =>
    [livesUntilFull, lives].some((until) => life < until && life >= until - compared);
  for (let life = 0; life < lives; life += 1) {
    const prefix = `life${100_000 + life}-`;
    // Refused by those who know no such machine.
    for (const event of machinesOf(life)) if (taken.has(event.type)) answer(policy, event as never);
    // A life may make several versions of the weights.
    const host = new ObedientHost(definition, parsed, {
      prefix,
      choices: choicesOf(life),
      weightVersion: 100 * life + 1,
    });
    const restarted = { type: 'host.restarted', at: life, idPrefix: prefix };
    const given = answer(policy, restarted as never);
    if ('decisions' in given) host.heard(restarted as never, given.decisions);
    host.begin();
    play(policy, host);
    lengths.push(counts(life) ? JSON.stringify(policy.snapshot().state).length : 0);
  }
  const most = (until: number): number => Math.max(...lengths.slice(until - compared, until));
  const growth = { policy: definition.id, lives, early: most(livesUntilFull), late: most(lives) };
  // Numbers get a digit more now and then.
  if (growth.late < 1.03 * growth.early + 100) return growth;
  const { id } = definition;
  const [early, late] = [growth.early, growth.late];
  throw new Error(`${id}: its state has ${early} characters after ${livesUntilFull} lives, ${late} after ${lives}`);
}
