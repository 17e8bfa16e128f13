import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compare } from '../../src/sim/compare.ts';
import { jobPreset, rollpackerWorkload } from '../../src/sim/presets.ts';
import { renderReport } from '../../src/sim/report/html.ts';
import { reportClient, writeReport } from '../../src/sim/report/write.ts';
import { chromiumPath, launchChromium } from '../support/chromium.ts';

const { job } = jobPreset('qwen2.5-7b-8k');
const small = { ...job, promptsPerRound: 8, responsesPerPrompt: 2, engines: 3 };
const comparison = compare({ job: small, workload: (seed) => rollpackerWorkload(8192, seed), steps: 5, seeds: [1, 2] });

describe('the report', () => {
  test('is one file that names no other, and no data can end its script', async () => {
    const evil = { ...comparison, workload: { ...comparison.workload, name: '</script><script>alert(1)</script>' } };
    const html = renderReport([evil], 'void 0;');
    expect(html).not.toContain('<script>alert');
    expect(html.match(/(src|href)="(?!data:)/g)).toBeNull();
    expect(html).toContain('clairvoyant lower bound');
  });

  test.runIf(chromiumPath !== undefined)(
    'draws every chart in a real browser, in light and dark, without network',
    async () => {
      const file = join(mkdtempSync(join(tmpdir(), 'rollflex-')), 'report.html');
      const bytes = await writeReport(file, [comparison]);
      expect(bytes).toBeGreaterThan((await reportClient()).length);
      const browser = await launchChromium();
      try {
        for (const colorScheme of ['light', 'dark'] as const) {
          const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 900 } });
          const problems: string[] = [];
          const requests: string[] = [];
          page.on('console', (message) => problems.push(message.text()));
          page.on('pageerror', (error) => problems.push(error.message));
          page.on('request', (request) => requests.push(request.url()));
          await page.goto(`file://${file}`);
          await page.waitForFunction('document.documentElement.dataset.drawn !== undefined');
          expect(problems).toEqual([]);
          expect(requests.filter((url) => !url.startsWith('file:') && !url.startsWith('data:'))).toEqual([]);
          expect(await page.locator('.headline').first().textContent()).toContain('tail-batching would');
          // Each chart has a canvas with more than one colour in it.
          const drawn = await page.evaluate(`[...document.querySelectorAll('.chart')].map((chart) => {
          const canvas = chart.querySelector('canvas');
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(data.buffer)).size;
        })`);
          expect((drawn as number[]).length).toBe(5);
          for (const colours of drawn as number[]) expect(colours).toBeGreaterThan(5);
          const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
          expect(ground).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 27)');
          await page.close();
        }
      } finally {
        await browser.close();
      }
    },
  );
});
