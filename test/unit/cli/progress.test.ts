/** Progress where standard error is no terminal: lines by the clock, and none of a quick command. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { foundText } from '../../../src/cli/advise/progress.ts';
import { Progress } from '../../../src/cli/terminal/progress.ts';

const lines: string[] = [];
beforeEach(() => {
  lines.length = 0;
  vi.stubEnv('ROLLFLEX_PROGRESS', undefined);
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

test('a line every five seconds says what is done and what is left, also while threads work', () => {
  const progress = new Progress({ text: 'simulating', isQuiet: false });
  vi.advanceTimersByTime(4000);
  progress.done = 0.2;
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(7000);
  progress.stop();
  vi.advanceTimersByTime(20_000);
  expect(lines).toEqual([
    'rollflex: simulating: 20%, about 16 s left\n',
    'rollflex: simulating: 20%, about 16 s left\n',
  ]);
});

test('none where it is quiet, or where the environment says so', () => {
  vi.stubEnv('ROLLFLEX_PROGRESS', 'off');
  const off = new Progress({ text: 'simulating', isQuiet: false });
  vi.stubEnv('ROLLFLEX_PROGRESS', undefined);
  const quiet = new Progress({ text: 'simulating', isQuiet: true });
  vi.advanceTimersByTime(60_000);
  for (const one of [off, quiet]) one.stop();
  expect(lines).toEqual([]);
});

test('what is found so far has an interval only from three runs on', () => {
  const gain = { value: 0.447, low: -22.5, high: 111.9, confidence: 0.95 };
  expect(foundText({ label: '1.25 / 1.25', gain, seeds: 2 })).toBe(
    'so far 1.25 / 1.25: 1.81x as fast (45% of the time saved) in 2 runs, too few for an interval',
  );
  expect(foundText({ label: '1.25 / 1.25', gain: { ...gain, low: 0.4, high: 0.5 }, seeds: 4 })).toBe(
    'so far 1.25 / 1.25: 1.81 ± 0.19x as fast (45% of the time saved) in 4 runs',
  );
});
