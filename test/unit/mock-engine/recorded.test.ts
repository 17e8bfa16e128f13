/** The mock engine against recordings of the real servers, field by field. */
import { afterAll, describe, expect, test } from 'vitest';
import { MockHttp } from '../../support/mock-engine/http.ts';
import { compare } from '../../support/mock-engine/recorded/compare.ts';
import { vllmDifferences } from '../../support/mock-engine/recorded/differences.ts';
import { Recorder } from '../../support/mock-engine/recorded/recorder.ts';
import { readRecording } from '../../support/mock-engine/recorded/recording.ts';
import { vllmCalls } from '../../support/mock-engine/recorded/vllm-calls.ts';

const stops: (() => unknown)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

/** An engine whose time goes on by four tokens every few milliseconds, however busy the machine is. */
async function recorderOf(api: 'vllm' | 'sglang'): Promise<Recorder> {
  const cost = { memoryBoundSeconds: 1, kvCapacityTokens: 100_000 };
  const http = await MockHttp.start(
    { api, model: 'tiny', contextTokens: 4096, apiKey: 'secret', streamInterval: 4 },
    cost,
  );
  const { cluster, engineUrls } = http.running;
  const clock = setInterval(() => cluster.advanceTo(cluster.now + 4), 2);
  stops.push(
    () => clearInterval(clock),
    () => http.running.stop(),
  );
  const secondsOf = 160; // simulated ones, for a second of a real server
  return new Recorder(engineUrls[0]!, 'secret', async (seconds) => {
    const until = cluster.now + seconds * secondsOf;
    await http.until(() => cluster.now >= until);
  });
}

describe('vLLM', () => {
  const recording = readRecording('vllm');

  test(`answers as vLLM ${recording.version} does`, async () => {
    const recorder = await recorderOf('vllm');
    await vllmCalls(recorder);
    expect(compare(recording.answers, recorder.answers, vllmDifferences)).toEqual({ found: [], unused: [] });
  });
});
