/** The playground in a real browser: true numbers, usable by keyboard, on a phone, in the dark, from a folder and a server. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { flexUlysses, registry, runPlanner } from 'rollflex';
import {
  ablation,
  compare,
  comparePools,
  compareVlm,
  defineVlmJob,
  fixedUlysses,
  flexrlScheduler,
  type Job,
  jobPreset,
  mixtureWorkload,
  readTrace,
  readVisionSources,
  rolloutpipeJob,
  rolloutpipeScheduler,
  rolloutpipeWorkload,
  rollpackerWorkload,
  serialBaseline,
  tracedWorkload,
  verlBucketing,
  type Workload,
} from 'rollflex/sim';
import { describe, expect, test } from 'vitest';
import { cell, goTo, playgroundInBrowser, settled, shownConfig } from '../support/browser/playground.ts';

const traces = new URL('../../examples/traces/', import.meta.url);
const text = (name: string): string => readFileSync(new URL(name, traces), 'utf8');
const two = (value: number): string => value.toFixed(2);

/** The job of the playground, as a user of the library writes it. */
function jobOf(P: number, R: number, gpus: number, capTokens: number): Job {
  const { job } = jobPreset('qwen2.5-7b-8k');
  const sandboxSeconds = text('sandbox-livecodebench.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).seconds);
  const hardware = { ...job.hardware!, maxResponseTokens: capTokens };
  const rewards = { ...job.rewards!, sandboxSeconds };
  return { ...job, promptsPerRound: P, responsesPerPrompt: R, engines: gpus, hardware, rewards };
}
function compared(
  job: Job,
  workload: (seed: number) => Workload,
  eta: [number, number],
  steps: number,
  seeds: number[],
) {
  const variants = ablation(job, { promptSpeculation: eta[0], responseSpeculation: eta[1] });
  const schedulers = [variants[1]!, variants[4]!];
  return compare({ job, workload, steps, seeds, baseline: variants[0]!, schedulers, timeline: false }).schedulers;
}
const brief = '#v=sync&t=rollpacker&P=4&R=4&g=8&n=2&s=1&cap=4096';
const small = { pools: '#v=pools&R=8&n=1&s=1', vlm: '#v=vlm&g=8&b=8&f=16' };
const ownLines = Array.from({ length: 12 }, (_, index) => {
  return JSON.stringify({ responses: [{ tokens: 200 + 90 * index }, { tokens: 150 + 40 * index }] });
}).join('\n');

/** Contrast (WCAG 2) of every text against the ground; the least. */
const leastContrast = `(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = light(rgb(getComputedStyle(document.querySelector('.card')).backgroundColor));
  return Math.min(...[...document.querySelectorAll('#app *')]
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''))
    .map((one) => light(rgb(getComputedStyle(one).color)))
    .map((text) => (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)));
})()`;
const fits = 'document.documentElement.scrollWidth <= innerWidth';

describe('the playground in a browser', () => {
  const { open, openAnew } = playgroundInBrowser();

  test('opens from a folder, without a network, with charts', async (context) => {
    const { page, problems } = await open(context, '');
    expect(await page.locator('.headline').textContent()).toMatch(
      /RollPacker: \d\.\d\d × as fast, \d\.\d\d × at equal tokens, on 0\.\d\d × the tokens/,
    );
    const coloured = `[...document.querySelectorAll('.chart[data-chart=timeline] canvas')].slice(0, 2).map((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    })`;
    for (const colours of (await page.evaluate(coloured)) as number[]) expect(colours).toBeGreaterThan(8);
    expect(await page.locator('.meanings a').first().getAttribute('href')).toMatch(/^\.\.\/\.\.\/metrics\.md#/);
    expect(problems).toEqual([]);
  });

  test('is served under a path', async (context) => {
    const { page, problems } = await openAnew(context, { from: 'server', hash: brief });
    expect(await page.locator('.meanings a').first().getAttribute('href')).toMatch(/^\.\.\/metrics\.html#/);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('every speedup stands beside the tokens that were kept', async (context) => {
    const { page } = await open(context, small.pools);
    await goTo(page, small.vlm);
    // What was set in a view stays as it was.
    for (const view of ['sync', 'pools', 'vlm']) {
      await page.locator(`#tab-${view}`).click();
      await settled(page);
      for (const one of await page.locator('.card').allTextContents()) {
        expect(one).toMatch(/\d\.\d\d ×\s*as fast(\d\.\d\d × as fast at equal tokens)?on \d\.\d\d × the tokens/);
      }
      expect(await page.locator('.headline').textContent()).toMatch(/tokens/);
      const cells = page.locator('tbody tr [data-metric="kept"]');
      expect(await cells.count()).toBe(await page.locator('tbody tr [data-metric="speedup"]').count());
    }
  });

  test('a changed setting gives the numbers of the simulator: synchronous job', async (context) => {
    const { page, problems } = await open(context, `${brief.replace('s=1', 's=2')}&etaP=1.5&etaR=1.2`);
    const numbers = async (etaP: number) => {
      const job = jobOf(4, 4, 8, 4096);
      const all = compared(job, (seed) => rollpackerWorkload(4096, seed), [etaP, 1.2], 2, [1, 2]);
      for (const [index, id] of ['baseline', 'tail-batching', 'rollpacker'].entries()) {
        const one = all[index]!;
        expect(await cell(page, id, 'speedup')).toMatch(new RegExp(`^${two(one.speedup.value)} ×`));
        expect(await cell(page, id, 'equal')).toMatch(new RegExp(`^${two(one.equalTokenSpeedup.value)} ×`));
        expect(await cell(page, id, 'kept')).toBe(`${two(one.keptTokenRatio)} ×`);
        const { value } = one.stepSeconds;
        expect(await cell(page, id, 'step')).toBe(`${value.toFixed(value < 10 ? 2 : 1)} s`);
      }
    };
    await numbers(1.5);
    const before = await cell(page, 'tail-batching', 'speedup');
    await page.locator('#set-etaP').fill('1.75');
    await settled(page);
    await numbers(1.75);
    expect(await cell(page, 'tail-batching', 'speedup')).not.toBe(before);
    expect(problems).toEqual([]);
  });

  test('and of pools and vision-language steps', async (context) => {
    const { page, problems } = await open(context, '#v=pools&t=sci-xw&R=8&K=4&Fw=3&n=1&s=2');
    const [serial, both] = comparePools({
      job: rolloutpipeJob(8, { responsesPerPrompt: 4, globalBatchSamples: 8 }),
      workload: (seed) => rolloutpipeWorkload('sci-xw', seed),
      rounds: 1,
      seeds: [1, 2],
      schedulers: [serialBaseline, rolloutpipeScheduler(3)],
    }).schedulers;
    expect(await cell(page, 'cgp-fgd', 'speedup')).toBe(
      `${two(serial!.mainSeconds.value / both!.mainSeconds.value)} ×`,
    );
    expect(await cell(page, 'cgp-fgd', 'waiting')).toBe(`${(100 * both!.computeWaitingRatio).toFixed(1)}\u00a0%`);

    const sources = readVisionSources(text('nextqa-videos.jsonl'), text('servegen-qwen-vl-images.jsonl'));
    const { schedulers } = compareVlm({
      job: defineVlmJob({ gpus: 8, batchSequences: 8 }),
      workload: mixtureWorkload('video-heavy', { sources, maxFrames: 32, capTokens: 512, seed: 1 }),
      steps: 1,
      schedulers: [verlBucketing, fixedUlysses(2), flexrlScheduler],
    });
    await page.evaluate("location.hash = '#v=vlm&t=video-heavy&g=8&b=8&f=32&cap=512&SP=2'");
    await page.waitForSelector('tr[data-scheduler="flex-ulysses"]');
    await settled(page);
    for (const one of schedulers) {
      expect(await cell(page, one.placement, 'speedup')).toBe(`${two(one.speedup)} ×`);
      expect(await cell(page, one.placement, 'balance')).toBe(`${two(one.balance)} ×`);
    }
    expect(await shownConfig(page, 'flexrl').then((config) => registry.create('flexrl', config as never).id)).toBe(
      'flexrl',
    );
    expect(runPlanner(flexUlysses, (await shownConfig(page, 'flex-ulysses')) as never).assignments).toHaveLength(8);
    expect(problems).toEqual([]);
  });

  test('the configurations that it shows are accepted', async (context) => {
    const { page } = await open(context, `${brief}&etaP=1.4&TP=2&up=adaptive-tp`);
    const tail = await shownConfig(page, 'tail-batching');
    expect(tail).toEqual({
      promptsPerRound: 4,
      responsesPerPrompt: 4,
      promptSpeculation: 1.4,
      responseSpeculation: 1.25,
    });
    expect(registry.create('tail-batching', tail as never).id).toBe('tail-batching');
    const rollpacker = await shownConfig(page, 'rollpacker');
    expect(rollpacker).toMatchObject({ promptSpeculation: 1.4, streamTraining: false, startTp: { short: 2, long: 2 } });
    expect(registry.create('rollpacker', rollpacker as never).id).toBe('rollpacker');
    await page.evaluate("location.hash = '#v=pools&R=8&K=4&U=3&Fw=5&n=1&s=1'");
    await page.waitForSelector('pre[data-config="rolloutpipe"]');
    await settled(page);
    const pipe = await shownConfig(page, 'rolloutpipe');
    expect(pipe).toMatchObject({ responsesPerPrompt: 4, globalBatchSamples: 12, width: 5 });
    expect(registry.create('rolloutpipe', pipe as never).id).toBe('rolloutpipe');
  });

  test('works by keyboard, and keeps its settings in the address', async (context) => {
    const { page, problems } = await open(context, brief);
    await page.locator('#tab-sync').focus();
    // Lengths, model and GPU stand before the first slider.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('set-P');
    const outline =
      'getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth';
    expect(await page.evaluate(outline)).toBe('solid3px');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction("location.hash.includes('P=6&')");
    await settled(page);
    expect(await page.locator('output[for="set-P"]').textContent()).toBe('6');
    expect(await page.locator('[role=status][aria-live]').textContent()).toBe(
      await page.locator('.headline').textContent(),
    );
    await page.locator('#tab-sync').focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate('document.activeElement.id')).toBe('tab-pools');
    await page.waitForFunction("location.hash.startsWith('#v=pools&')");
    const unlabelled = `[...document.querySelectorAll('input, select, textarea')].filter((one) => one.labels.length === 0).length`;
    expect(await page.evaluate(unlabelled)).toBe(0);
    await page.getByText('Copy link').press('Enter');
    await page.getByText('Copied.').waitFor();
    expect(problems).toEqual([]);
  });

  test.for([2, 3])('follows a slider to its last position, on %d cores', async (cores, context) => {
    const { page, problems } = await open(context, brief, cores);
    await page.evaluate(`new Promise((done) => {
      const slider = document.getElementById('set-etaP');
      let position = 0;
      const move = () => {
        for (let n = 0; n < 5; n += 1) {
          slider.value = String(1 + (position += 1) / 100);
          slider.dispatchEvent(new Event('input'));
        }
        if (position < 100) requestAnimationFrame(move);
        else done();
      };
      move();
    })`);
    await settled(page);
    const marks = "performance.getEntriesByName('rollflex:painted').map((mark) => mark.detail.settings.etaP)";
    const seen = (await page.evaluate(marks)) as number[];
    expect(seen.at(-1)).toBe(2);
    expect(seen.length).toBeLessThan(100);
    // Those that were shown on the way were in order.
    expect(seen.slice(1)).toEqual([...seen.slice(1)].sort((a, b) => a - b));
    const [, tail] = compared(jobOf(4, 4, 8, 4096), (seed) => rollpackerWorkload(4096, seed), [2, 1.25], 2, [1]);
    expect(await cell(page, 'tail-batching', 'speedup')).toBe(`${two(tail!.speedup.value)} ×`);
    expect(page.workers().length).toBeLessThan(cores);
    expect(problems).toEqual([]);
  });

  test('says what of a link it could not use', async (context) => {
    const { page, problems } = await openAnew(context, { hash: `?etaP=1.5${brief}&etaP=9&nope=1&t=own` });
    const said = await page.locator('[role=alert]').textContent();
    expect(said).toContain('etaP=9: expected a number from 1 to 2 in steps of 0.01; 1.25 is used.');
    expect(said).toContain('nope: no such setting; it is left out.');
    expect(said).toContain('?etaP=1.5: settings stand behind #, not behind ?');
    expect(said).toContain('t is given twice');
    expect(await page.locator('#set-etaP').inputValue()).toBe('1.25');
    // Beside the field as well, and for who cannot see it.
    expect(await page.locator('#set-etaP-error').textContent()).toContain('etaP=9: expected');
    expect(await page.locator('#set-etaP').getAttribute('aria-describedby')).toBe('set-etaP-error set-etaP-help');
    expect(await page.locator('[aria-invalid=true]').count()).toBe(2);
    await page.locator('#set-etaP').fill('1.4');
    await settled(page);
    expect(await page.locator('.error').count()).toBe(0);
    await page.evaluate("location.hash = '#v=sync&t=own&P=4&n=1&s=1'");
    await page.locator('#set-t-error').getByText('not part of a link').waitFor();
    await page.evaluate("location.hash = '#v=sync&TP=8'");
    await page.locator('#set-TP-error').getByText('TP: expected one of 1, 2, 4 for this model, got 8').waitFor();
    await page.evaluate("location.hash = '#v=vlm&m=qwen2.5-vl-32b&g=24&b=8&f=16'");
    await page.locator('#set-g-error').getByText('gpus: expected a multiple of 16').waitFor();
    await page.evaluate("location.hash = '#v=sync&etap=1.5'");
    await page.getByText('etap: no such setting (did you mean "etaP"?); it is left out.').waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('reads a trace of one’s own, and refuses a broken one with its line', async (context) => {
    const { page, problems } = await open(context, brief, 3);
    const file = (name: string, content: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
    await page.locator('#own-file').setInputFiles(file('mine.jsonl', ownLines));
    await page.locator('.own .good').waitFor();
    expect(await page.locator('.own .good').textContent()).toBe('mine.jsonl: 12 prompts with 24 responses (rollflex).');
    await settled(page);
    const trace = readTrace(ownLines, 'mine.jsonl');
    if (trace.kind !== 'prompts') throw new Error('no prompts');
    const { prompts } = trace;
    const workload = (seed: number) =>
      tracedWorkload({ name: 'mine.jsonl', prompts, resampling: 'copula', capTokens: 4096, seed });
    const all = compared(jobOf(4, 4, 8, 4096), workload, [1.25, 1.25], 2, [1]);
    expect(await cell(page, 'rollpacker', 'speedup')).toBe(`${two(all[2]!.speedup.value)} ×`);
    expect(await page.locator('.share').textContent()).toContain('not in the link');

    await page.locator('#own-file').setInputFiles(file('bad.jsonl', `${ownLines}\n{"responses":[{"tokens":-3}]}`));
    await page.locator('.own .error').waitFor();
    expect(await page.locator('.own .error').textContent()).toBe(
      'bad.jsonl:13.responses[0].tokens: expected number > 0, got -3',
    );
    // What was shown before still stands, and goes on, in every worker.
    for (const R of ['2', '3', '4', '5', '4']) await page.locator('#set-R').fill(R);
    await settled(page);
    expect(await cell(page, 'rollpacker', 'speedup')).toBe(`${two(all[2]!.speedup.value)} ×`);
    // Sequences of a vision-language job lead to their view.
    const drop = `(() => {
      const data = new DataTransfer();
      data.items.add(new File(['{"responseTokens":300,"frames":64}\\n'], 'videos.jsonl'));
      document.querySelector('main').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }));
    })()`;
    await page.evaluate(drop);
    await page.waitForSelector('tr[data-scheduler="flex-ulysses"]');
    expect(await page.locator('.note').first().textContent()).toContain('videos.jsonl: recorded');
    expect(problems).toEqual([]);
  });

  test('says when it is busy, and is still when it is not', async (context) => {
    const { page, problems } = await open(context, brief);
    expect(await page.locator('.busy').count()).toBe(0);
    await page.evaluate("location.hash = '#v=sync&t=castillo-7b&P=128&R=16&g=64&n=8&s=1'");
    await page.locator('.busy').getByText('Simulating …').waitFor();
    expect(await page.locator('main').getAttribute('aria-busy')).toBe('true');
    await settled(page);
    expect(await page.locator('.busy').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('reads the dumps of a trainer, packed ones too, and estimates texts only if the reader says how', async (context) => {
    const { page, problems } = await open(context, brief, 3);
    const row = (step: number, prompt: number, k: number) =>
      JSON.stringify({ input: `problem ${prompt}`, output: 'seven '.repeat(50 + 20 * k + prompt), score: k % 2, step });
    const lines = (step: number) =>
      Array.from({ length: 16 }, (_, index) => row(step, index % 4, Math.floor(index / 4))).join('\n');
    const [one, two] = [1, 2].map((step) => ({
      name: `${step}.jsonl`,
      mimeType: '',
      buffer: Buffer.from(lines(step)),
    }));
    const packed = { ...two!, name: '2.jsonl.gz', buffer: gzipSync(two!.buffer) };
    await page.locator('#own-file').setInputFiles([packed, one!]);
    await page.locator('.own .error').waitFor();
    expect(await page.locator('.own .error').textContent()).toBe(
      '1.jsonl:1.output: this dump has texts, and no count of their tokens.',
    );
    await page.locator('#own-tokens').fill('many');
    await page.getByText('Read with this estimate').click();
    await page.locator('.own .error').getByText('expected a number from 0.001 to 10, got many').waitFor();
    await page.locator('#own-tokens').fill('0.25');
    await page.getByText('Read with this estimate').click();
    await page.locator('.own .good').waitFor();
    expect(await page.locator('.own .good').textContent()).toBe(
      '1.jsonl and 1 other: 8 prompts with 32 responses (dump of verl; lengths are ESTIMATES, 0.25 tokens a character).',
    );
    await settled(page);
    expect(await page.locator('.headline').textContent()).toMatch(/RollPacker: \d/);

    const counted = readFileSync(new URL('../fixtures/import/nemo-rl/train_data_step4.jsonl', import.meta.url));
    await page.locator('#own-file').setInputFiles({ name: 'train_data_step4.jsonl', mimeType: '', buffer: counted });
    await page.locator('.own .good').getByText('(dump of nemo-rl)').waitFor();
    await settled(page);
    await page.locator('#own-file').setInputFiles({ ...packed, buffer: Buffer.from('no gzip') });
    await page.locator('.own .error').getByText('2.jsonl.gz: it cannot be read: expected a whole gzip file.').waitFor();
    await page.locator('#own-file').setInputFiles([one!, { ...one!, name: 'bad.jsonl', buffer: Buffer.from('{"a":') }]);
    await page.locator('.own .error').waitFor();
    expect(problems).toEqual([]);
  });

  test('looks well in the dark and on a phone, whatever the settings', async (context) => {
    const phone = {
      viewport: { width: 360, height: 740 },
      isMobile: true,
      hasTouch: true,
      colorScheme: 'dark',
    } as const;
    const { page, problems } = await openAnew(context, { hash: brief, ...phone });
    for (const hash of [brief, small.pools, small.vlm]) {
      if (hash !== brief) await goTo(page, hash);
      expect(await page.evaluate(fits), hash).toBe(true);
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(20, 23, 27)');
      expect(await page.evaluate(leastContrast), hash).toBeGreaterThanOrEqual(4.5);
      expect(await page.locator('.bar').textContent()).toContain(await page.locator('.headline').textContent());
    }
    await page.locator('#theme').selectOption('light');
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(await page.evaluate(leastContrast)).toBeGreaterThanOrEqual(4.5);
    expect(problems).toEqual([]);
    await page.close();
  });
});
