/** Records a real vLLM: `npx tsx scripts/record-engine.ts URL KEY [FILE]` writes the shapes of its answers as JSON. */
import { Recorder } from '../test/support/mock-engine/recorded/recorder.ts';
import { writeRecording } from '../test/support/mock-engine/recorded/recording.ts';
import { vllmArguments, vllmCalls } from '../test/support/mock-engine/recorded/vllm-calls.ts';

const [url, key, file] = process.argv.slice(2);
if (key === undefined) throw new Error('expected URL KEY [FILE]: the address of vLLM, its key, and where to write');
const recorder = new Recorder(url!, key);
await vllmCalls(recorder);
const read = async (path: string) => (await fetch(`${url}${path}`)).json();
const { version } = (await read('/version')) as { version: string };
const { paths } = (await read('/openapi.json')) as { paths: Record<string, object> };
const routes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);
writeRecording(
  {
    server: 'vllm',
    version,
    recorded: new Date().toISOString().slice(0, 10),
    how: `Recorded from \`VLLM_SERVER_DEV_MODE=1 vllm serve MODEL ${vllmArguments.join(' ')}\``,
    routes: routes.sort(),
    answers: recorder.answers,
  },
  file,
);
