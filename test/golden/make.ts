/** Writes the golden traces: `npx tsx test/golden/make.ts`. A change of them is a change of behaviour. */
import { writeFileSync } from 'node:fs';
import type { AnyPolicyDefinition } from '../../src/core/definition.ts';
import { isPolicyError, recordEvents, registry, startPolicy } from '../../src/index.ts';
import { likelyEvents } from '../../src/testing/index.ts';
import { exampleConfigs } from '../support/example-configs.ts';

const steps = (index: number): number => (index * 7919 + 104_729) % 999_983;
/** Without the regular steps of the other one, which never reach some events. */
const scattered = (index: number): number => (Math.imul(index + 1, 0x9e3779b1) >>> 8) % 999_983;

/** The queue to its last prompt. */
const flush = [
  { type: 'source.exhausted', at: 100 },
  ...['end0', 'end1', 'end2', 'end3', 'end4', 'end5'].map((roundId) => ({
    type: 'round.requested',
    at: 100,
    roundId,
    weightVersion: 999,
  })),
];

const traces = [
  {
    id: 'long-prompt-queue',
    // Full now and then, overdue now and then.
    config: { ...exampleConfigs['long-prompt-queue']![1], promptsPerRound: 4, maxDeferrals: 4, maxWaitRounds: 60 },
    choice: scattered,
    ending: flush,
  },
  {
    id: 'complete-group-pipelining',
    config: exampleConfigs['complete-group-pipelining']![0],
    choice: scattered,
    ending: [],
  },
  ...['adaptive-tp', 'frontier-group-dispatch', 'gpu-scale-down', 'group-assembly', 'reward-dispatch',
    'rolloutpipe', 'rollpacker', 'sandbox-timeout', 'shadow-loader', 'speculative-admission', 'stream-training', 'tail-batching',
    'tail-pipelining']
    .filter((id) => exampleConfigs[id] !== undefined)
    .map((id) => ({ id, config: exampleConfigs[id]![1] ?? exampleConfigs[id]![0], choice: steps, ending: [] })),
];

for (const { id, config, choice, ending } of traces) {
  const definition = registry.get(id) as AnyPolicyDefinition;
  const policy = startPolicy(definition, config);
  const lines: string[] = [];
  recordEvents(policy as never, (line) => lines.push(line));
  const tape = Array.from({ length: 397 }, (_, index) => choice(index));
  for (const event of [...likelyEvents(definition, config, tape, 800), ...ending]) {
    try {
      (policy as unknown as { send(event: unknown): unknown }).send(event);
    } catch (error) {
      if (!isPolicyError(error)) throw error;
    }
  }
  writeFileSync(new URL(`./${id}.jsonl`, import.meta.url), `${lines.join('\n')}\n`);
}
