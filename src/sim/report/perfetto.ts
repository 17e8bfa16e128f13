/** Writes runs as a Chrome trace (chrome://tracing, ui.perfetto.dev): schedulers are processes, and engines are threads. */
import type { ComparisonResult, EngineResult, RunResult } from '../comparison/result.ts';

interface TraceEvent {
  readonly name: string;
  /** Kind of entry: a span (`X`), a name of a process or thread (`M`), or a counter (`C`). */
  readonly ph: 'X' | 'M' | 'C';
  readonly pid: number;
  readonly tid: number;
  /** Time in microseconds. */
  readonly ts: number;
  readonly dur?: number;
  readonly args?: Readonly<Record<string, unknown>>;
}

const microseconds = (seconds: number): number => Math.round(seconds * 1e6);
/** Thread ids of engines start here; lower ids are for rounds and counters. */
const firstEngine = 10;

function naming(pid: number, tid: number, what: 'process_name' | 'thread_name', text: string): TraceEvent {
  return { name: what, ph: 'M', pid, tid, ts: 0, args: { name: text } };
}

function span(
  pid: number,
  tid: number,
  name: string,
  { startSeconds, endSeconds }: { startSeconds: number; endSeconds: number },
  args: Record<string, unknown>,
): TraceEvent {
  const ts = microseconds(startSeconds);
  // Both ends are rounded, so that adjacent spans have no gap between them.
  return { name, ph: 'X', pid, tid, ts, dur: microseconds(endSeconds) - ts, args };
}

/** Returns the rounds, and the queue length after each round. */
function roundEvents(run: RunResult, pid: number): TraceEvent[] {
  const queue = (seconds: number, prompts: number): TraceEvent => ({
    name: 'long-prompt queue',
    ph: 'C',
    pid,
    tid: 0,
    ts: microseconds(seconds),
    args: { prompts },
  });
  const events = [queue(0, 0)];
  for (const step of run.steps) {
    const { prompts, keptTokens, abortedTokens, maxResponseTokens, preemptions, deferredPrompts, bubbleRatio } = step;
    const args = { prompts, keptTokens, abortedTokens, maxResponseTokens, preemptions, deferredPrompts, bubbleRatio };
    events.push(span(pid, 1, `${step.roundId} (${step.kind})`, step, args), queue(step.endSeconds, step.queueDepth));
  }
  return events;
}

/** Returns a counter of running sequences on all engines: the sum over engines of the means of their segments. */
function runningCounter(engines: readonly EngineResult[], pid: number): TraceEvent[] {
  const changes = engines
    .flatMap((engine) => engine.timeline)
    .filter((one) => one.running > 0)
    .flatMap((one) => [
      { ts: microseconds(one.startSeconds), change: one.running },
      { ts: microseconds(one.endSeconds), change: -one.running },
    ])
    .sort((a, b) => a.ts - b.ts);
  const events: TraceEvent[] = [];
  let sequences = 0;
  changes.forEach(({ ts, change }, index) => {
    sequences += change;
    if (changes[index + 1]?.ts === ts) return;
    // A sum of fractions that should be zero may differ from zero by rounding errors.
    const args = { sequences: Math.max(0, Math.round(sequences * 100) / 100) };
    events.push({ name: 'running sequences', ph: 'C', pid, tid: 0, ts, args });
  });
  return events;
}

function engineEvents(engine: EngineResult, pid: number, tid: number): TraceEvent[] {
  const name = `${engine.engineId} (${engine.gpus} GPU${engine.gpus === 1 ? '' : 's'})`;
  const spans = engine.timeline
    .filter(({ activity, running }) => activity !== 'rollout' || running > 0)
    .map((one) => span(pid, tid, one.activity, one, one.activity === 'rollout' ? { running: one.running } : {}));
  return [naming(pid, tid, 'thread_name', name), ...spans];
}

/**
 * Returns a Chrome trace in JSON for the first run of every scheduler in every comparison: spans for rounds and engine
 * activities, and counters for running sequences and the long-prompt queue. Idle time of an engine is a gap.
 */
export function perfettoTrace(comparisons: readonly ComparisonResult[]): {
  traceEvents: TraceEvent[];
  displayTimeUnit: 'ms';
} {
  let pid = 0;
  const traceEvents = comparisons.flatMap(({ workload, schedulers }) =>
    schedulers.flatMap(({ label, runs }) => {
      const run = runs[0]!;
      pid += 1;
      return [
        naming(pid, 0, 'process_name', `${workload.name}: ${label}`),
        naming(pid, 1, 'thread_name', 'rounds'),
        ...roundEvents(run, pid),
        ...runningCounter(run.engines, pid),
        ...run.engines.flatMap((engine, index) => engineEvents(engine, pid, firstEngine + index)),
      ];
    }),
  );
  return { traceEvents, displayTimeUnit: 'ms' };
}
