/** The client of SGLang's routes in the examples: events of a stream, aborts, an engine that goes. */
import { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { eventsOf, SglangClient } from '../../../examples/10-frontier-http/sglang-client.ts';
import { MockHttp } from '../../support/mock-engine/http.ts';

let http: MockHttp | undefined;
afterEach(() => http?.running.stop());

test('server-sent events are whole, however their bytes come', async () => {
  const bytes = new TextEncoder().encode(
    'data: {"text":"é–好"}\n\n: a comment\n\ndata: 2\n\ndata: [DONE]\n\ndata: half',
  );
  for (const size of [1, 2, 7, 1000]) {
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    );
    const events: string[] = [];
    for await (const event of eventsOf(Readable.from(parts))) events.push(event);
    expect(events).toEqual(['{"text":"é–好"}', '2', '[DONE]']);
  }
});

test('generates, aborts, changes weights, and says when a stream breaks', async () => {
  http = await MockHttp.start();
  const client = new SglangClient(http.running.engineUrls[0]!);
  const generate = (requestId: string, text: string) =>
    client.generate({ requestId, text, maxNewTokens: 100, samplingSeed: 0 });
  const [whole, aborted] = [generate('a', '5'), generate('b', '50')];
  await http.have(2);
  await http.advance(8);
  await client.abort('b');
  await http.advance(1);
  expect(await whole).toMatchObject({ ending: 'stop', tokens: 5, weightVersion: 'default' });
  expect(await aborted).toMatchObject({ ending: 'abort', tokens: 8 });
  const update = client.updateWeights(3);
  await http.until(() => Number.isFinite(http!.running.cluster.nextAt()));
  await http.advance(1);
  await update;
  expect(await client.weightVersion()).toBe('3');
  const broken = generate('c', '50');
  const refused = expect(broken).rejects.toThrow();
  await http.have(1);
  http.running.cluster.fault({ fault: 'crash' });
  await refused;
});
