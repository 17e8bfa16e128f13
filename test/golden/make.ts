/**
 * Writes golden traces: `npx tsx test/golden/make.ts <id>…`, or all of them. A change of them is a change of behaviour, or of
 * what `arbitrary` offers: an older trace still holds what is played back. `--into DIR` writes them elsewhere.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { oneOf } from '../../src/core/ids/nearest.ts';
import { create, isPolicyError, recordEvents, registry } from '../../src/index.ts';
import { likelyEvents } from '../../src/testing/index.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

const steps = (index: number): number => (index * 7919 + 104_729) % 999_983;
/** Without the regular steps of the other one, which never reach some events. */
const scattered = (index: number): number => (Math.imul(index + 1, 0x9e3779b1) >>> 8) % 999_983;

/** A trace of fewer events would say little; the first line is the snapshot that they begin with. */
const fewest = 201;

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

interface Trace {
  readonly config: unknown;
  readonly choice: (index: number) => number;
  readonly ending: readonly object[];
}

/** Traces that the usual choices would not lead far enough. */
const special: Readonly<Record<string, Partial<Trace>>> = {
  'long-prompt-queue': {
    // Full now and then, overdue now and then.
    config: { ...exampleConfigs['long-prompt-queue']![1], promptsPerRound: 4, maxDeferrals: 4, maxWaitRounds: 60 },
    choice: scattered,
    ending: flush,
  },
  'complete-group-pipelining': { config: exampleConfigs['complete-group-pipelining']![0], choice: scattered },
};

/** The log of a policy: 800 likely events, of which those that it takes are written down. */
function logOf(definition: AnyPolicyDefinition, { config, choice, ending }: Trace): string[] {
  const policy = create(definition, config);
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
  return lines;
}

const here = fileURLToPath(new URL('.', import.meta.url));
const { values, positionals } = parseArgs({
  options: { into: { type: 'string', default: here } },
  allowPositionals: true,
});
const policies = registry.policies as readonly AnyPolicyDefinition[];
const ids = policies.map(({ id }) => id);
for (const id of positionals) {
  if (!ids.includes(id)) throw new Error(`expected ${oneOf(ids, id)}, got ${id}`);
}

for (const definition of policies) {
  const { id } = definition;
  if (positionals.length > 0 && !positionals.includes(id)) continue;
  const [first, second = first] = exampleConfigs[id] ?? [];
  const usual: Trace = { config: second, choice: steps, ending: [], ...special[id] };
  const logs = [usual, { ...usual, choice: scattered }].map((trace) => logOf(definition, trace));
  const lines = logs.find((one) => one.length > fewest);
  if (lines === undefined)
    throw new Error(`${id} takes ${logs[1]!.length - 1} of 800 events: \`arbitrary\` offers too many that are refused`);
  writeFileSync(join(values.into, `${id}.jsonl`), `${lines.join('\n')}\n`);
}
