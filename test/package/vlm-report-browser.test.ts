/** Pictures of plans in a real browser: drawn in light and dark, wide and narrow, every coloured sequence seen. */
import { compareVlm, defineVlmJob, writeReport } from 'rollflex/sim';
import { describe, expect, test } from 'vitest';
import { expectDrawn, expectFits, looks, openAll, reportInBrowser } from '../support/browser/report.ts';
import { mixture } from '../support/simulator/vlm.ts';

const job = defineVlmJob({ gpus: 16, batchSequences: 32 });
const comparison = compareVlm({ job, workload: mixture('image-heavy'), steps: 1 });

/** The colours of each chart; of a plan, those of the longest sequences. */
const shows = { plan: ['seq0', 'seq1', 'seq2'], stages: ['rollout', 'train'] };

/** Contrast (WCAG 2) of the colours of sequences against the ground of a chart; the least. */
const leastContrast = `(() => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => [1, 3, 5]
    .map((at) => parseInt(style.getPropertyValue(name).trim().replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3').slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = light('--panel');
  return Math.min(...[0, 1, 2, 3, 4, 5].map((i) => light('--seq' + i))
    .map((one) => (Math.max(one, ground) + 0.05) / (Math.min(one, ground) + 0.05)));
})()`;

describe('the report of VLM steps in a browser', () => {
  const { open } = reportInBrowser((file) => writeReport(file, [], [comparison]));

  // The report of a comparison is looked at in all of them.
  test.for([looks[0]!, looks.at(-1)!])(
    'draws stages and plans, %s, %d pixels wide',
    async ([scheme, width], context) => {
      const { page, problems } = await open(context, scheme, width);
      await openAll(page, () => expectFits(page));
      await expectDrawn(page, 4, shows);
      // Text on the bars is of the ground's colour: enough for small text too.
      expect(await page.evaluate(leastContrast)).toBeGreaterThanOrEqual(4.4);
      expect(problems).toEqual([]);
    },
  );
});
