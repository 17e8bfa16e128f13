/** Timelines of both pools in a real browser: drawn in light and dark, wide and narrow; zoom leaves no problem behind. */
import { comparePools, rolloutpipeJob, rolloutpipeWorkload, writeReport } from 'rollflex/sim';
import { describe, expect, test } from 'vitest';
import {
  expectDrawn,
  expectFits,
  looks,
  openAll,
  picture,
  reportInBrowser,
  zoomInto,
} from '../support/browser/report.ts';

const comparison = comparePools({
  job: rolloutpipeJob(16),
  workload: (seed) => rolloutpipeWorkload('lsat-ar', seed),
  rounds: 2,
  seeds: [1],
});

const shows = { pools: ['rollout', 'train', 'short'], waits: ['overhead', 'train', 'sync'] };

describe('the report of disaggregated pools in a browser', () => {
  const { open } = reportInBrowser((file) => writeReport(file, [], [], [comparison]));

  // The report of a comparison is looked at in all of them.
  test.for([looks[0]!, looks.at(-1)!])(
    'draws waits and timelines, %s, %d pixels wide',
    async ([scheme, width], context) => {
      const { page, problems } = await open(context, scheme, width);
      await openAll(page, () => expectFits(page));
      await expectDrawn(page, 2, shows);
      const chart = page.locator('.chart.pools');
      await chart.scrollIntoViewIfNeeded();
      const before = await picture(chart);
      await zoomInto(page, chart);
      await expect.poll(() => picture(chart)).not.toBe(before);
      expect(problems).toEqual([]);
    },
  );
});
