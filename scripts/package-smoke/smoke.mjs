/** Uses the installed package from ESM. */
import assert from 'node:assert/strict';
import { Readable, Writable } from 'node:stream';
import { create, gradientRenormalization, isPolicyError, registry, runPlanner, tailBatching } from 'rollflex';
import { selectTp } from 'rollflex/adaptive-tp';
import { explain, readLog } from 'rollflex/logs';
import { startMockEngine } from 'rollflex/mock-engine';
import { RpcServer, serveStdio } from 'rollflex/rpc';
import { responseCompleted } from 'rollflex/schemas';
import { compare, jobPreset, renderReport, reportClient, rollpackerWorkload } from 'rollflex/sim';
import * as entry from 'rollflex/tail-batching';

assert.equal(entry.tailBatching, tailBatching, 'an entry passes on what the root has');
assert.equal(typeof selectTp, 'function', 'and what only it has');
const tail = create(tailBatching, { promptsPerRound: 2, responsesPerPrompt: 2 });
const [plan, need] = tail.send({ type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 1 });
assert.equal(plan.type, 'round.planned');
assert.equal(need.count, 3);
assert.equal(registry.restore(JSON.parse(JSON.stringify(tail.snapshot()))).seq, 1);
const began = `${JSON.stringify({ snapshot: tail.snapshot() })}\n`;
assert.equal(explain(readLog([{ name: 'run.jsonl', read: () => began }])).sessions[0].verdict, 'waits');
assert.throws(() => tail.send({ type: 'response.completed', at: 0, requestId: 'x', tokens: 1 }), isPolicyError);
assert(responseCompleted.schema.safeParse({ type: 'response.completed', at: 0, requestId: 'x', tokens: 1 }).success);
const replicas = [{ samples: 1 }, { samples: 3 }];
assert.deepEqual(runPlanner(gradientRenormalization, { replicas }), { factors: [0.25, 0.75], total: 4 });
assert.deepEqual(registry.plan('grpo-advantages', { groups: [{ rewards: [2, 2] }] }).groups[0].advantages, [0, 0]);
const { job } = jobPreset('qwen2.5-14b-16k');
const small = { ...job, promptsPerRound: 8 };
const result = compare({ job: small, workload: (seed) => rollpackerWorkload(4096, seed), steps: 2, seeds: [1] });
assert(result.schedulers[1].rolloutSpeedup.value > 0);
assert(renderReport([result], await reportClient()).includes('</html>'));
const answers = [];
const input = Readable.from([
  Buffer.from('{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"policy":"flexrl"}}\n'),
]);
const output = new Writable({ write: (text, _, done) => done(answers.push(JSON.parse(text))) });
await serveStdio(new RpcServer(), { input, output });
assert.equal(answers[0].error.data.code, 'invalid_config');
const mock = await startMockEngine({
  cost: job.cost,
  workload: rollpackerWorkload(4096, 1),
  options: { api: 'vllm', speed: 'max' },
});
const asked = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ prompt: 'a', max_tokens: 3, ignore_eos: true }),
};
assert.equal((await (await fetch(`${mock.url}/v1/completions`, asked)).json()).usage.completion_tokens, 3);
// Not everybody who uses it has installed what metrics need.
const metrics = await (await fetch(`${mock.engineUrls[0]}/metrics`)).text();
assert.match(
  metrics,
  /^vllm:num_requests_running|the package prom-client beside the npm package rollflex \(npm install prom-client\)/m,
);
await mock.stop();
console.log(`ESM on Node ${process.version}`);
