/** Uses the installed package from CommonJS, and both copies together. */
const assert = require('node:assert/strict');
const { createRegistry, isPolicyError, longPromptQueue, registry } = require('rollflex');
const { startMockEngine } = require('rollflex/mock-engine');
const { tailBatching } = require('rollflex/tail-batching');
const { events } = require('rollflex/schemas');
const { compare, jobPreset, renderReport, reportClient, rollpackerWorkload } = require('rollflex/sim');

const queue = registry.create('long-prompt-queue', { promptsPerRound: 2 });
assert.equal(queue.send({ type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 1 })[0].type, 'round.planned');
assert.equal(tailBatching, require('rollflex').tailBatching, 'an entry passes on what the root has');
assert(events.length > 10);
const { job } = jobPreset('qwen2.5-14b-16k');
const small = { ...job, promptsPerRound: 8 };
const result = compare({ job: small, workload: (seed) => rollpackerWorkload(4096, seed), steps: 2, seeds: [1] });

async function main() {
  assert(renderReport([result], await reportClient()).includes('</html>'));
  const mock = await startMockEngine({ cost: job.cost, workload: rollpackerWorkload(4096, 1) });
  assert.equal((await fetch(`${mock.url}/health`)).status, 200);
  await mock.stop();
  const other = await import('rollflex');
  try {
    other.create(longPromptQueue, {});
    assert.fail('a configuration without P0 was accepted');
  } catch (error) {
    assert(isPolicyError(error), 'errors of the ESM copy are recognised');
  }
  const joined = createRegistry(other.registry.definitions.filter((one) => one.id === 'long-prompt-queue'));
  assert.equal(joined.create('long-prompt-queue', { promptsPerRound: 1 }).seq, 0, 'so are its definitions');
  console.log(`CommonJS on Node ${process.version}`);
}
main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
