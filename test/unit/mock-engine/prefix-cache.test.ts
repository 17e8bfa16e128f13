/** The prefix cache of the mock engine: what is found, what is evicted, and what a prefill costs then. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { Prefix } from '../../../src/mock-engine/engine/prompts/prefix.ts';
import { BlockCache } from '../../../src/mock-engine/engine/prompts/prefix-cache.ts';
import { times } from '../../support/basics/runs.ts';
import { ask, clusterOf, type Ended } from '../../support/mock-engine/cluster.ts';
import { MockHttp } from '../../support/mock-engine/http.ts';

/** A text of so many tokens, which begins like every other text of this letter. */
const text = (letter: string, tokens: number): string => letter.repeat(4 * tokens);

function oneEngine(...given: Parameters<typeof clusterOf>) {
  const cluster = clusterOf(given[0], { prefillSecondsPerToken: 1, memoryBoundSeconds: 1e-6, ...given[1] });
  const engine = cluster.engines[0]!;
  const ended: Ended[] = [];
  /** Runs a request to its end, and returns what was found, and how long it took. */
  const run = (prompt: string | readonly number[], maxTokens = 1) => {
    const asked = typeof prompt === 'string' ? { text: prompt } : { tokenIds: prompt };
    const from = cluster.now;
    const one = ask(cluster, engine, `${ended.length}`, asked, ended, { maxTokens, ignoreEos: true });
    cluster.advanceTo(from + 10_000);
    return { cached: one.cachedTokens, seconds: Math.round(one.endedAt - from), text: one.text, ids: one.tokenIds };
  };
  return { cluster, engine, ended, run };
}

describe('a turn', () => {
  test('finds what the turn before it has read and said, in whole blocks, and prefills the rest', () => {
    const { run } = oneEngine();
    const first = run(text('a', 100), 80);
    expect(first).toMatchObject({ cached: 0, seconds: 100 });
    const context = text('a', 100) + first.text;
    const next = run(context + text('t', 40));
    const whole = Math.floor(context.length / 64) * 16;
    expect(next.cached).toBe(whole);
    expect(next.seconds).toBe(Math.ceil(context.length / 4 + 40) - whole);
    const ids = Array.from({ length: 50 }, (_, at) => at);
    const turn = run(ids, 30);
    expect(run([...ids, ...turn.ids, 7]).cached, 'tokens, too').toBe(80);
  });

  test('computes a token at least, and finds nothing of what begins otherwise, or if caching is off', () => {
    const { run } = oneEngine();
    run(text('a', 64));
    expect([run(text('a', 64)).cached, run(text('b', 64)).cached, run(text('a', 65)).cached]).toEqual([48, 0, 64]);
    const off = oneEngine({ prefixCaching: false });
    off.run(text('a', 64));
    expect(off.run(text('a', 64))).toMatchObject({ cached: 0, seconds: 64 });
  });

  test('a chat goes on where the answer stood in it', () => {
    const joined = Prefix.of({ text: text('u', 20), joint: '\n' }).extend({ text: text('r', 20), tokenIds: [] });
    expect(Prefix.of({ text: `${text('u', 20)}\n${text('r', 20)}\nmore` }).blocks.slice(0, 2)).toEqual(joined.blocks);
  });
});

test('samples of one prompt share its prefill', () => {
  const { cluster, engine, ended } = oneEngine();
  for (const id of ['a', 'b', 'c']) ask(cluster, engine, id, { text: text('p', 100) }, ended, { maxTokens: 1 });
  cluster.advanceTo(1000);
  // 100 tokens once, and twice the 4 behind the last whole block.
  expect(ended.map(({ at }) => Math.round(at))).toEqual([108, 108, 108]);
});

test('what was used last stays, in what running requests leave of the KV cache', () => {
  const { run, engine } = oneEngine({}, { kvCapacityTokens: 1000 });
  for (const letter of ['a', 'b', 'c']) run(text(letter, 320));
  run(text('a', 320));
  expect(engine.load()).toMatchObject({ usedTokens: 0, idleTokens: 960 });
  run(text('d', 320));
  // Of the text that was used last but two, the end has made room.
  expect([run(text('a', 320)).cached, run(text('b', 320)).cached]).toEqual([304, 32]);
  engine.forgetPrefixes();
  expect(engine.load().idleTokens).toBe(0);
});

test('a restarted engine has nothing', () => {
  const { cluster, run } = oneEngine();
  run(text('a', 64));
  cluster.fault({ fault: 'crash' });
  cluster.fault({ fault: 'restart' });
  expect(run(text('a', 64)).cached).toBe(0);
});

test('whatever joins, leaves, ends and is evicted: it finds what a search from the first block on finds', () => {
  const prompts = ['', 'a', 'ab', 'ac', 'abc', 'b'].map((letters) => [...letters].map((one) => text(one, 16)).join(''));
  const act = fc.record({ do: fc.constantFrom('join', 'leave', 'end', 'trim'), who: fc.nat(7), what: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const cache = new BlockCache();
      const running = new Map<number, string>();
      /** Texts of blocks that requests have left, the oldest first. */
      let kept: string[] = [];
      const blocks = (prompt: string) =>
        Array.from({ length: prompt.length / 64 }, (_, at) => prompt.slice(0, 64 * (at + 1)));
      const inUse = () => new Set([...running.values()].flatMap(blocks));
      for (const { do: what, who, what: place } of acts) {
        const id = `${who}`;
        const mine = running.get(who);
        if (what === 'trim') {
          cache.trim(16 * place);
          const idle = () => kept.filter((one) => !inUse().has(one)).length;
          while (idle() > place) kept.shift();
        } else if (what === 'join' && mine === undefined) {
          const prompt = prompts[place]!;
          cache.expect(id, Prefix.of({ text: prompt }), prompt.length / 4 + 1);
          const there = new Set([...kept, ...inUse()]);
          const absent = blocks(prompt).findIndex((one) => !there.has(one));
          expect(cache.join(id)).toBe(16 * (absent < 0 ? blocks(prompt).length : absent));
          running.set(who, prompt);
        } else if (mine !== undefined && what === 'leave') {
          cache.leave(id);
          running.delete(who);
        } else if (mine !== undefined && what === 'end') {
          cache.end(id);
          running.delete(who);
          kept = [...kept.filter((one) => !blocks(mine).includes(one)), ...blocks(mine).reverse()];
        }
        expect(cache.idleTokens).toBe(16 * kept.filter((one) => !inUse().has(one)).length);
      }
    }),
    { numRuns: times(200) },
  );
});

describe('over HTTP', () => {
  let http: MockHttp;
  afterEach(() => http.running.stop());

  test('SGLang tells what was cached of each prompt, and of all of them; a flush forgets', async () => {
    http = await MockHttp.start({ speed: 'max' });
    const turn = async () => {
      const body = { text: text('a', 100), sampling_params: { max_new_tokens: 4, ignore_eos: true } };
      return (await http.post('/generate', body)).body.meta_info.cached_tokens;
    };
    expect([await turn(), await turn()]).toEqual([0, 96]);
    const { cache_hit_rate, total_prefill_uncached_tokens } = (await http.get('/v1/loads')).body.loads[0];
    expect([cache_hit_rate, total_prefill_uncached_tokens]).toEqual([0.48, 104]);
    await http.get('/flush_cache');
    expect(await turn()).toBe(0);
    await http.post('/update_weights_from_disk', { model_path: '/m', flush_cache: false });
    expect(await turn(), 'kept if it is asked for').toBe(96);
    await http.post('/update_weights_from_disk', { model_path: '/m' });
    expect(await turn()).toBe(0);
  });

  test('vLLM tells it in the usage if it is started so, and in its metrics; a pause forgets', async () => {
    http = await MockHttp.start({ api: 'vllm', speed: 'max', promptTokensDetails: true });
    const turn = async (more: object = {}) => {
      const body = { messages: [{ role: 'user', content: text('a', 100) }], max_tokens: 4, ignore_eos: true, ...more };
      return (await http.post('/v1/chat/completions', body)).body;
    };
    expect((await turn()).usage.prompt_tokens_details).toBeNull();
    expect((await turn()).usage.prompt_tokens_details).toEqual({ cached_tokens: 96 });
    const streamed: string = await turn({ stream: true, stream_options: { include_usage: true } });
    expect(streamed).toContain('"prompt_tokens_details":{"cached_tokens":96}');
    const metrics: string = (await http.get('/metrics')).body;
    const value = (name: string) => Number(new RegExp(`^vllm:${name}\\{.*\\} (\\S+)$`, 'm').exec(metrics)![1]);
    expect([value('prefix_cache_queries_total'), value('prefix_cache_hits_total')]).toEqual([300, 192]);
    expect(metrics).toContain(
      'vllm:cache_config_info{block_size="16",num_gpu_blocks="62",enable_prefix_caching="True"',
    );
    await http.post('/pause?clear_cache=false', {});
    await http.post('/resume', {});
    expect((await turn()).usage.prompt_tokens_details).toEqual({ cached_tokens: 96 });
    await http.post('/pause', {});
    await http.post('/resume', {});
    expect((await turn()).usage.prompt_tokens_details).toBeNull();
  });
});
