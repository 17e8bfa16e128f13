/** Law 11: when a policy reports `source.drained`, it holds nothing. */

import { ObedientHost } from '../hosts/obedient-host.ts';
import { choicesOf, drain, expectEmpty } from '../hosts/play-to-end.ts';
import { latestVersion } from '../hosts/weights.ts';
import { answer, newSubject } from '../runs/run.ts';
import type { Case } from './law.ts';

/**
 * Throws if a ledger holds anything when the policy reports that its source is drained: during the run, or at the end, after a
 * cooperative host that knows the whole run has finished all work.
 *
 * @returns events that were sent
 */
export function drainedIsEmpty({ definition, config, events, hints }: Case): number {
  if (!definition.decisions.some(({ type }) => type === 'source.drained')) return 0;
  const subject = newSubject(definition, config);
  const parsed = definition.config.parse(config);
  const weightVersion = latestVersion(events) + 1;
  const choices = choicesOf(events.length);
  const host = new ObedientHost(definition, parsed, { prefix: 'end-', choices, weightVersion, hints, isLenient: true });
  host.onDrained = (event) => expectEmpty(definition, subject, `after source.drained, at ${JSON.stringify(event)}`);
  for (const event of events) {
    const given = answer(subject, event);
    if (!('refused' in given)) host.heard(event, given.decisions);
  }
  return events.length + drain(definition, subject, host);
}
