/** Agents before four engines: with the policy, and turn by turn; then an engine dies under them. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, programScheduling } from 'rollflex';
import { startMockEngine } from 'rollflex/mock-engine';
import { costModelSchema, rollpackerWorkload } from 'rollflex/sim';
import { agent } from './agents.ts';
import type { Policy } from './programs.ts';
import { roundRobin } from './round-robin.ts';
import { Router } from './router.ts';

const agents = 48;
const cost = costModelSchema.parse({
  memoryBoundSeconds: 0.01,
  computeSecondsPerSequence: 0,
  overheadSeconds: 0,
  secondsPerSequence: 0.0004,
  secondsPerContextToken: 0,
  prefillSecondsPerToken: 1e-4,
  kvCapacityTokens: 60_000,
});

interface Incident {
  readonly afterTurns: number;
  readonly engine: number;
}

/** Runs all agents, and returns which part of what they have sent was cached. */
async function run(policy: Policy, incident?: Incident) {
  const mock = await startMockEngine({
    cost,
    workload: rollpackerWorkload(8192, 1),
    options: { api: 'vllm', engines: 4, speed: 20, apiKey: 'secret', promptTokensDetails: true },
  });
  const router = new Router({ engines: mock.engineUrls, apiKey: 'secret', pollSeconds: 0.2 }, policy);
  const url = await router.start();
  const settings = { url, turns: 6, systemCharacters: 4000, toolCharacters: 1200, maxTokens: 60, toolMs: 20 };
  const accepted = (): number => mock.cluster.engines.reduce((sum, { counts }) => sum + counts.accepted, 0);
  const crash = async ({ afterTurns, engine }: Incident): Promise<void> => {
    while (accepted() < afterTurns) await sleep(1);
    mock.cluster.fault({ fault: 'crash', engine });
  };
  try {
    const running = Promise.all(Array.from({ length: agents }, (_, number) => agent(`agent-${number}`, settings)));
    const [results] = await Promise.all([running, incident && crash(incident)]);
    const sum = (field: 'promptTokens' | 'cachedTokens'): number => results.reduce((all, one) => all + one[field], 0);
    return {
      turns: results.reduce((all, { engines }) => all + engines.length, 0),
      cached: sum('cachedTokens') / sum('promptTokens'),
    };
  } finally {
    await router.stop();
    await mock.stop();
  }
}

const policy = (): Policy => create(programScheduling, { kvCapacityTokens: cost.kvCapacityTokens });
const without = await run(roundRobin());
const placed = await run(policy());
// How much more depends on how busy this machine is: agents and engines run in real time.
assert(placed.cached > without.cached, `${placed.cached} against ${without.cached}`);
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
console.log(`${agents} agents, ${placed.turns} turns; of what they sent, the engines had in their caches:`);
console.log(`  turn by turn     ${percent(without.cached)}`);
console.log(`  with the policy  ${percent(placed.cached)}`);
const broken = await run(policy(), { afterTurns: 100, engine: 1 });
assert.equal(broken.turns, placed.turns);
console.log(`  one engine dies  ${percent(broken.cached)}, and no turn is lost`);
