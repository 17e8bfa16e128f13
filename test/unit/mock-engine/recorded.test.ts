/** The mock engine against recordings of the real servers, field by field. */
import { afterAll, describe, expect, test } from 'vitest';
import { MockCluster } from '../../../src/mock-engine/engine/cluster.ts';
import { Pacer } from '../../../src/mock-engine/http/pacer.ts';
import { sglangApi } from '../../../src/mock-engine/sglang/api.ts';
import { vllmApi } from '../../../src/mock-engine/vllm/api.ts';
import { costOf, countingWorkload } from '../../support/mock-engine/cluster.ts';
import { MockHttp } from '../../support/mock-engine/http.ts';
import { compare } from '../../support/mock-engine/recorded/compare.ts';
import { missingRoutes, sglangDifferences, vllmDifferences } from '../../support/mock-engine/recorded/differences.ts';
import { Recorder } from '../../support/mock-engine/recorded/recorder.ts';
import { readRecording } from '../../support/mock-engine/recorded/recording.ts';
import { sglangCalls } from '../../support/mock-engine/recorded/sglang-calls.ts';
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

const cases = [
  ['vllm', vllmCalls, vllmDifferences],
  ['sglang', sglangCalls, sglangDifferences],
] as const;

/** Routes of earlier versions, which stay for clients of these. */
const more = {
  vllm: [],
  sglang: ['GET /get_weight_version', 'GET /get_load'],
};

function routesOf(api: 'vllm' | 'sglang'): string[] {
  const cluster = new MockCluster({ api }, { cost: costOf({ kvCapacityTokens: 100_000 }), workload: countingWorkload });
  const stand = { cluster, engine: cluster.engines[0]!, pacer: new Pacer(cluster, 0), server: () => expect.fail() };
  return Object.keys((api === 'vllm' ? vllmApi : sglangApi)(stand).routes);
}

describe.each(cases)('%s', (api, calls, differences) => {
  const recording = readRecording(api);

  test(`answers as version ${recording.version} does`, async () => {
    const recorder = await recorderOf(api);
    await calls(recorder);
    expect(compare(recording.answers, recorder.answers, differences)).toEqual({ found: [], unused: [] });
  });

  test('has its routes, except for those that are listed', () => {
    const own = routesOf(api);
    const missing = recording.routes.filter((one) => !own.includes(one));
    const listed = missingRoutes[api];
    expect(missing.filter((one) => !listed.some(({ routes }) => routes.test(one)))).toEqual([]);
    expect(listed.filter(({ routes }) => !missing.some((one) => routes.test(one)))).toEqual([]);
    expect(own.filter((one) => !recording.routes.includes(one))).toEqual(more[api]);
  });
});
