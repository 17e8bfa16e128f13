/** Ten bad days in simulated time: what the policies decide, what `rollflex explain` says, and what the day has cost. */
import assert from 'node:assert/strict';
import { explain } from './explain.ts';
import { fullDisk } from './full-disk.ts';
import { Host } from './host.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { countOf, summary } from './summary.ts';

async function play({ title, policies, outside = {}, fault, worst }: Scenario): Promise<string> {
  const day = new Host(policies, outside, false);
  fault?.(day);
  let event = 0;
  day.cluster.agenda.at(worst, () => {
    event = day.log.length - 1;
  });
  day.run();
  // A time means little to a clock that jumps.
  const place = outside.ahead === undefined ? `${worst}s` : String(event);
  const usual = new Host(policies, outside, true);
  usual.run();
  const trained = new Set(day.trained);
  const [failed, filtered] = ['prompt.failed', 'prompt.filtered'].map((type) => countOf(day.decisions, type));
  const seconds = day.now - usual.now;
  const requests = countOf(day.decisions, 'request.launch') - countOf(usual.decisions, 'request.launch');
  assert.equal(trained.size, day.trained.length, 'no prompt is trained twice');
  assert.equal(trained.size + failed! + filtered!, day.drawn, 'no prompt is lost');
  return [
    title,
    ...summary(day.decisions).map((line) => `  ${line}`),
    `  at ${worst} s: ${await explain(day.log, place)}`,
    `  ${trained.size} prompts trained, ${failed} given up, ${filtered} filtered; ${changeOf(seconds, 's')} and ${changeOf(requests, 'requests')} than usual`,
  ].join('\n');
}

/** A number beside that of a usual day. */
function changeOf(more: number, unit: string): string {
  return `${Math.abs(Math.round(more))} ${unit} ${Math.round(more) < 0 ? 'fewer' : 'more'}`;
}

const days = await Promise.all([...scenarios.map(play), fullDisk()]);
console.log(days.join('\n\n'));
