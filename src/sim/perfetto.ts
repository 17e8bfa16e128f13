/** A run as a Chrome trace (chrome://tracing, ui.perfetto.dev): a process a scheduler, a thread an engine. */
import type { ComparisonResult, RunResult } from './result.ts';

interface TraceEvent {
  readonly name: string;
  readonly ph: 'X' | 'M' | 'C';
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly ts: number;
  readonly dur?: number;
  readonly args?: Readonly<Record<string, unknown>>;
}

const microseconds = (seconds: number): number => Math.round(seconds * 1e6);
/** Threads below this one are rounds and counters, engines come after. */
const firstEngine = 10;

function runEvents(run: RunResult, name: string, pid: number): TraceEvent[] {
  const named = (what: string, tid: number, text: string): TraceEvent => ({
    name: what,
    ph: 'M',
    pid,
    tid,
    ts: 0,
    args: { name: text },
  });
  const events = [named('process_name', 0, name), named('thread_name', 1, 'rounds')];
  for (const step of run.steps) {
    const { startSeconds, endSeconds, roundId, kind, queueDepth, bubbleRatio, keptTokens, abortedTokens } = step;
    const args = { keptTokens, abortedTokens, bubbleRatio };
    events.push({
      name: `${roundId} (${kind})`,
      ph: 'X',
      pid,
      tid: 1,
      ts: microseconds(startSeconds),
      dur: microseconds(endSeconds - startSeconds),
      args,
    });
    events.push({
      name: 'long-prompt queue',
      ph: 'C',
      pid,
      tid: 0,
      ts: microseconds(endSeconds),
      args: { prompts: queueDepth },
    });
  }
  run.engines.forEach((engine, index) => {
    const tid = firstEngine + index;
    events.push(named('thread_name', tid, `${engine.engineId} (${engine.gpus} GPU)`));
    for (const { startSeconds, endSeconds, activity, running } of engine.timeline) {
      if (activity === 'rollout' && running === 0) continue;
      const dur = microseconds(endSeconds) - microseconds(startSeconds);
      events.push({ name: activity, ph: 'X', pid, tid, ts: microseconds(startSeconds), dur, args: { running } });
    }
  });
  return events;
}

/** The first run of every scheduler of every comparison, as a Chrome trace. */
export function perfettoTrace(comparisons: readonly ComparisonResult[]): {
  traceEvents: TraceEvent[];
  displayTimeUnit: 'ms';
} {
  let pid = 0;
  const traceEvents = comparisons.flatMap(({ workload, schedulers }) =>
    schedulers.flatMap((one) => runEvents(one.runs[0]!, `${workload.name}: ${one.label}`, ++pid)),
  );
  return { traceEvents, displayTimeUnit: 'ms' };
}
