/** What a router counts, as Prometheus reads it. */
import type { Engines } from './engines.ts';
import type { Programs } from './programs.ts';

/** Counters of a router. */
export const newCounts = () => ({
  turns: 0,
  retries: 0,
  failures: 0,
  clientsGone: 0,
  heldTooLong: 0,
  heldSeconds: 0,
});

/** Writes the metrics. */
export function metricsOf(counts: ReturnType<typeof newCounts>, programs: Programs, engines: Engines): string {
  const lines: string[] = [];
  const write = (name: string, type: 'counter' | 'gauge', help: string, value: number): void => {
    lines.push(`# HELP router_${name} ${help}`, `# TYPE router_${name} ${type}`, `router_${name} ${value}`);
  };
  write('turns_total', 'counter', 'Turns that clients have asked for.', counts.turns);
  write('retries_total', 'counter', 'Turns that were sent to an engine once more.', counts.retries);
  write('engine_failures_total', 'counter', 'Connections to engines that failed.', counts.failures);
  write('clients_gone_total', 'counter', 'Turns whose client went away.', counts.clientsGone);
  write('held_too_long_total', 'counter', 'Turns that were refused because no engine had room.', counts.heldTooLong);
  write('held_seconds_total', 'counter', 'Seconds that turns were held back.', counts.heldSeconds);
  write('policy_events_total', 'counter', 'Events that the policy has taken.', programs.decided.events);
  write('policy_seconds_total', 'counter', 'Seconds that it took.', programs.decided.seconds);
  write('programs', 'gauge', 'Programs that have not ended.', programs.size);
  write('turns_held', 'gauge', 'Turns that are held back now.', programs.held);
  write('engines_up', 'gauge', 'Engines that answer.', engines.all.filter((one) => one.isUp).length);
  return `${lines.join('\n')}\n`;
}
