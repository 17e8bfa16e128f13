/** The engines behind a router: whether they are there, and how much they have to do. */
import { Agent } from 'node:http';
import type { Programs } from './programs.ts';

/** An engine. */
export interface Engine {
  readonly engineId: string;
  readonly url: string;
  readonly agent: Agent;
  isUp: boolean;
}

/** What an engine tells of its load. */
export interface Load {
  readonly kvCapacityTokens: number;
  readonly kvUsedTokens: number;
  readonly running: number;
  readonly waiting: number;
  readonly preemptions: number;
}

/** An engine that does not answer for so long counts as gone. A busy one is slow. */
const answerMs = 5000;

/** All of them. What becomes of them is told to the policy. */
export class Engines {
  readonly all: readonly Engine[];
  readonly #programs: Programs;
  readonly #apiKey: string | undefined;
  readonly #seconds: number;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;

  /** @param seconds - between two looks at an engine */
  constructor(
    urls: readonly string[],
    programs: Programs,
    apiKey: string | undefined,
    seconds: number,
    now: () => number,
  ) {
    this.#programs = programs;
    this.#apiKey = apiKey;
    this.#seconds = seconds;
    this.#now = now;
    this.all = urls.map((url, at) => ({
      engineId: `engine-${at}`,
      url,
      agent: new Agent({ keepAlive: true, maxFreeSockets: 256 }),
      isUp: false,
    }));
  }

  /** Looks at all of them, and again and again until it is stopped. */
  async start(): Promise<void> {
    await Promise.all(this.all.map((one) => this.#look(one)));
    this.#timer = setTimeout(() => void this.start(), this.#seconds * 1000).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    for (const { agent } of this.all) agent.destroy();
  }

  named(engineId: string): Engine {
    return this.all.find((one) => one.engineId === engineId)!;
  }

  /** Looks whether an engine is there that has failed a request; if it is not, the policy routes its turns again. */
  async check(engine: Engine): Promise<boolean> {
    const isThere = await this.#get(engine, '/health').then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere && !engine.isUp) {
      engine.isUp = true;
      this.#programs.send({ type: 'engine.added', at: this.#now(), engineId: engine.engineId });
    }
    if (!isThere && engine.isUp) {
      engine.isUp = false;
      this.#programs.lose(engine.engineId);
    }
    return isThere;
  }

  async #look(engine: Engine): Promise<void> {
    if (!(await this.check(engine))) return;
    // A load is advice: without it the policy counts by itself.
    const load = await this.#load(engine).catch(() => undefined);
    if (load === undefined || !engine.isUp) return;
    this.#programs.send({ type: 'engine.reported', at: this.#now(), engineId: engine.engineId, ...load });
  }

  async #load(engine: Engine): Promise<Load | undefined> {
    const loads = await this.#get(engine, '/v1/loads?include=core');
    if (loads.ok) return sglangLoad(await loads.json());
    const metrics = await this.#get(engine, '/metrics');
    return metrics.ok ? vllmLoad(await metrics.text()) : undefined;
  }

  #get(engine: Engine, path: string): Promise<Response> {
    const headers: Record<string, string> = {};
    if (this.#apiKey !== undefined) headers.authorization = `Bearer ${this.#apiKey}`;
    return fetch(new URL(path, engine.url), { headers, signal: AbortSignal.timeout(answerMs) });
  }
}

/** Reads `/v1/loads` of SGLang; data-parallel ranks are added up. */
export function sglangLoad(answer: unknown): Load | undefined {
  const { loads } = answer as { readonly loads?: readonly Record<string, number>[] };
  if (loads === undefined || loads.length === 0) return undefined;
  const sum = (name: string): number => loads.reduce((all, one) => all + (one[name] ?? 0), 0);
  return {
    kvCapacityTokens: sum('max_total_num_tokens'),
    kvUsedTokens: sum('num_used_tokens'),
    running: sum('num_running_reqs'),
    waiting: sum('num_waiting_reqs'),
    // SGLang does not count them here.
    preemptions: 0,
  };
}

/** Reads `/metrics` of vLLM; `undefined` if they do not tell how large the cache is. */
export function vllmLoad(metrics: string): Load | undefined {
  const samples = (name: string) => [...metrics.matchAll(new RegExp(`^vllm:${name}\\{(.*)\\} (\\S+)$`, 'gm'))];
  const sum = (name: string): number => samples(name).reduce((all, [, , value]) => all + Number(value), 0);
  let kvCapacityTokens = 0;
  for (const [, labels] of samples('cache_config_info')) {
    const labelled = (name: string): number => Number(new RegExp(`(?:^|,)${name}="(\\d+)"`).exec(labels!)?.[1]);
    kvCapacityTokens += labelled('num_gpu_blocks') * labelled('block_size');
  }
  if (!(kvCapacityTokens > 0)) return undefined;
  const engines = samples('kv_cache_usage_perc').length;
  return {
    kvCapacityTokens,
    kvUsedTokens: Math.round((sum('kv_cache_usage_perc') / engines) * kvCapacityTokens),
    running: sum('num_requests_running'),
    waiting: sum('num_requests_waiting'),
    preemptions: sum('num_preemptions_total'),
  };
}
