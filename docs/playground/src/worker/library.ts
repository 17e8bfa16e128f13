/** From settings to workloads: bundled files and the reader's own trace, read once. */
import {
  marginalWorkload,
  mixtureWorkload,
  pooledQuantile,
  readTrace,
  readVisionSources,
  readVlmTrace,
  recordedVlmWorkload,
  rolloutpipeWorkload,
  rollpackerWorkload,
  type Trace,
  textVlmWorkload,
  tracedWorkload,
  type VlmWorkload,
  type Workload,
} from 'rollflex/sim';
import type { PoolsSettings } from '../settings/pools.ts';
import type { SynchronousSettings } from '../settings/synchronous.ts';
import { type FileId, type TraceId, traceFiles } from '../settings/traces.ts';
import type { VlmSettings } from '../settings/vlm.ts';
import { Recent } from './keep.ts';
import { type Own, responsesOf } from './own.ts';

/** Where quantiles say nothing of it, as on the command line. */
const usualCorrelation = 0.3;
const responsesOfAPrompt = 8;

/** Bundled files, and what was made of them. */
export class Library {
  readonly #textOf: (id: FileId) => Promise<string>;
  readonly #texts = new Map<FileId, string>();
  readonly #recent = new Recent(24);
  #own: Own | undefined;
  /** Counts the traces that were loaded: a new one makes everything of the old one stale. */
  #ownCount = 0;

  constructor(textOf: (id: FileId) => Promise<string>) {
    this.#textOf = textOf;
  }

  set own(own: Own) {
    this.#own = own;
    this.#ownCount += 1;
  }

  /** Names the lengths: changes with the trace that is loaded. */
  keyOf(id: string): string {
    return id === 'own' ? `own-${this.#ownCount}` : id;
  }

  /** Unpacks files; afterwards everything else is synchronous. */
  async prepare(ids: readonly FileId[]): Promise<void> {
    for (const id of ids) if (!this.#texts.has(id)) this.#texts.set(id, await this.#textOf(id));
  }

  /** Seconds of correct runs of code, a list for each test case. */
  sandboxSeconds(): number[][] {
    return this.#recent.get('sandboxes', () =>
      this.#text('sandboxes')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { seconds: number[] }).seconds),
    );
  }

  synchronous({ t, cap }: Pick<SynchronousSettings, 't' | 'cap'>, seed: number): Workload {
    if (t === 'rollpacker') return this.#made(`${t} ${cap} ${seed}`, () => remembered(rollpackerWorkload(cap, seed)));
    return this.#traced(t, cap, seed);
  }

  pools({ t, cap }: Pick<PoolsSettings, 't' | 'cap'>, seed: number): Workload {
    if (t === 'own' || t in traceFiles) return this.#traced(t as TraceId | 'own', cap, seed);
    return this.#made(`${t} ${seed}`, () => rolloutpipeWorkload(t as Parameters<typeof rolloutpipeWorkload>[0], seed));
  }

  vlm({ t, f, cap }: Pick<VlmSettings, 't' | 'f' | 'cap'>): VlmWorkload {
    const seed = 1;
    if (t === 'text') return textVlmWorkload(this.#traced('deepseek-r1', cap, seed), responsesOfAPrompt);
    if (t !== 'own') {
      const sources = this.#made('sources', () => readVisionSources(this.#text('videos'), this.#text('images')));
      return mixtureWorkload(t, { sources, maxFrames: f, capTokens: cap, seed });
    }
    const own = this.#own;
    if (own?.kind !== 'sequences') return textVlmWorkload(this.#traced('own', cap, seed), responsesOfAPrompt);
    const samples = this.#made(`${this.keyOf(t)} ${f} ${cap}`, () =>
      readVlmTrace(own.text, own.name, { maxFrames: f, capTokens: cap }),
    );
    return recordedVlmWorkload(own.name, samples, seed);
  }

  #text(id: FileId): string {
    return this.#texts.get(id)!;
  }

  #made<T>(key: string, make: () => T): T {
    return this.#recent.get(key, make);
  }

  #traced(id: TraceId | 'own', capTokens: number, seed: number): Workload {
    const { name, trace } = this.#trace(id);
    return this.#made(`${this.keyOf(id)} ${capTokens} ${seed}`, () =>
      remembered(workloadOf(name, trace, capTokens, seed)),
    );
  }

  #trace(id: TraceId | 'own'): { readonly name: string; readonly trace: Trace } {
    if (id === 'own') return responsesOf(this.#own);
    const name = traceFiles[id].replace(/\.jsonl$/, '');
    return this.#made(`trace ${id}`, () => ({ name, trace: readTrace(this.#text(id), traceFiles[id]) }));
  }
}

/** The same workload, each response drawn once: several schedulers, and update after update, ask for the same ones. */
function remembered(workload: Workload): Workload {
  const prompts = new Map<number, ReturnType<Workload['prompt']>>();
  return {
    ...workload,
    prompt: (index) => {
      const known = prompts.get(index);
      if (known !== undefined) return known;
      const prompt = workload.prompt(index);
      const samples: ReturnType<typeof prompt.sample>[] = [];
      const kept = { ...prompt, sample: (k: number) => (samples[k] ??= prompt.sample(k)) };
      prompts.set(index, kept);
      return kept;
    },
  };
}

/** As the command line makes it. */
function workloadOf(name: string, trace: Trace, capTokens: number, seed: number): Workload {
  if (trace.kind === 'prompts') {
    const { prompts, reader } = trace;
    return tracedWorkload({ name, source: `trace (${reader})`, prompts, resampling: 'copula', capTokens, seed });
  }
  return marginalWorkload({
    name,
    source: `quantiles (${trace.reader})`,
    responseTokens: pooledQuantile(trace.rows, 'outputTokens'),
    promptTokens: pooledQuantile(trace.rows, 'inputTokens'),
    correlation: usualCorrelation,
    capTokens,
    seed,
  });
}

/** The files that settings need. */
export function filesOf(t: string, view: string): FileId[] {
  const lengths: FileId[] = t in traceFiles ? [t as TraceId] : [];
  if (view === 'sync') return [...lengths, 'sandboxes'];
  if (view === 'pools') return lengths;
  return t === 'text' ? ['deepseek-r1'] : ['videos', 'images'];
}
