/**
 * Shows which files, functions and calls an event takes on its way from the JSON line to the answer, a plain
 * `response.completed` through `rollpacker` on the server against one that completes its round.
 * `npx tsx bench/overhead/walk.ts [--files] [--functions] [--most FILES,CALLS]`. Counted by V8, in the sources and not in a bundle;
 * functions of libraries are not counted. Exit code 1 if the plain one takes more files or calls than `--most`.
 */
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { RpcServer } from '../../src/rpc/index.ts';
import { smallCluster } from '../../test/support/examples/configs.ts';

const { values } = parseArgs({
  options: {
    files: { type: 'boolean', default: false },
    functions: { type: 'boolean', default: false },
    most: { type: 'string' },
  },
});
const root = fileURLToPath(new URL('../../src/', import.meta.url));

interface Decision {
  readonly type: string;
  readonly requestId: string;
  readonly count: number;
  readonly roundId: string;
}
let answers = '';
const served = new RpcServer().connect({
  write: (text) => void (answers += text),
  waiting: 0,
  drained: async () => undefined,
  destroy: () => undefined,
})!;

async function call(method: string, params: object): Promise<{ decisions: Decision[] }> {
  answers = '';
  await served.receive(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`));
  const { result, error } = JSON.parse(answers) as { result: { decisions: Decision[] }; error?: unknown };
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return result;
}
let prompts = 0;
const send = async (event: object): Promise<Decision[]> =>
  (await call('session.send', { session: 's', events: [event] })).decisions;

const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');

async function walked(name: string, event: object) {
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await inspector.post('Profiler.takePreciseCoverage');
  const decisions = await send(event);
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  await inspector.post('Profiler.stopPreciseCoverage');
  const files = new Map<string, Map<string, number>>();
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue;
    const path = fileURLToPath(url);
    if (!path.startsWith(root)) continue;
    for (const { functionName, ranges } of functions) {
      const [{ count, startOffset } = { count: 0, startOffset: 0 }] = ranges;
      if (count === 0) continue;
      const file = path.slice(root.length);
      const counted = files.get(file) ?? new Map<string, number>();
      counted.set(`${functionName || 'anonymous'}@${startOffset}`, count);
      files.set(file, counted);
    }
  }
  const functions = [...files.values()].reduce((sum, one) => sum + one.size, 0);
  const calls = [...files.values()].reduce((sum, one) => [...one.values()].reduce((a, b) => a + b, sum), 0);
  console.log(
    `${name}: ${files.size} files, ${functions} functions, ${calls} calls; ${decisions.map((one) => one.type).join(', ')}`,
  );
  if (values.files || values.functions) {
    for (const [file, counted] of [...files].sort()) {
      console.log(`  ${file} ${[...counted.values()].reduce((a, b) => a + b, 0)}`);
      if (values.functions) for (const [one, count] of counted) console.log(`    ${one.replace(/@.*/, '')} ${count}`);
    }
  }
  return { decisions, files: files.size, calls };
}

await call('session.open', { session: 's', policy: 'rollpacker', config: smallCluster });
const decided = await send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 });
const launched: Decision[] = [];
for (const one of decided.filter(({ type }) => type === 'prompts.request')) {
  const supplied = Array.from({ length: one.count }, () => ({ promptId: `p${prompts++}` }));
  const answer = await send({ type: 'prompts.supplied', at: 0, roundId: 'r', prompts: supplied });
  launched.push(...answer.filter(({ type }) => type === 'request.launch'));
}
const completed = (index: number) => {
  const { requestId } = launched[index]!;
  return { type: 'response.completed', at: index, requestId, tokens: 100 + index };
};
// One before, so that nothing is done for the first time in what is counted; the other is the first of its prompt.
const promptOf = (index: number): string => launched[index]!.requestId.split('/')[0]!;
const plain = launched.findIndex((_, index) => promptOf(index) !== promptOf(0));
await send(completed(0));
const { files, calls } = await walked('a plain response.completed', completed(plain));
const [mostFiles = Infinity, mostCalls = Infinity] = values.most?.split(',').map(Number) ?? [];
if (files > mostFiles || calls > mostCalls) {
  console.error(`it may take ${mostFiles} files and ${mostCalls} calls`);
  process.exitCode = 1;
}
for (let index = 1; index < launched.length; index += 1) {
  if (index === plain) continue;
  const before = await call('session.snapshot', { session: 's' });
  const decisions = await send(completed(index));
  if (!decisions.some(({ type }) => type === 'round.completed')) continue;
  await call('session.close', { session: 's' });
  await call('session.open', { session: 's', snapshot: (before as unknown as { snapshot: unknown }).snapshot });
  await walked('one that completes its round', completed(index));
  break;
}
inspector.disconnect();
