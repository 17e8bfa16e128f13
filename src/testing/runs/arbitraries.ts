/** Arbitraries of fast-check for inputs of policies and planners. All of them shrink. */
import fc from 'fast-check';
import type { AnyEvent, EventOf } from '../../core/machine/definition.ts';
import type { PlacedEngine, Prompt, VocabularyEvent } from '../../schemas/index.ts';
import { type Malformed, malformedCopies } from './malformed.ts';
import { likelyEvents } from './run.ts';
import { tapes } from './search.ts';
import type { Tested } from './tested.ts';

/** The machines of a job. Each GPU belongs to one server and to one engine. */
export interface Cluster {
  /** Servers and their GPUs, in the format of settings named `servers`. */
  readonly servers: readonly { readonly serverId: string; readonly gpuIds: readonly string[] }[];
  /** Engines, each of which is one tensor-parallel group on GPUs of one server. */
  readonly engines: readonly PlacedEngine[];
  /** The servers as nodes that preprocess samples, with the ranks of their GPUs, from 0. */
  readonly nodes: readonly { readonly nodeId: string; readonly hostMemoryBytes: number; readonly ranks: number[] }[];
}

/** Bounds of clusters. */
export interface ClusterBounds {
  /** Most servers, by default 4; at least 1. */
  readonly servers?: number;
  /** Most GPUs in a server, by default 8: the number is a power of two. */
  readonly gpusPerServer?: number;
}

const powersUpTo = (most: number): number[] =>
  Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, n) => 2 ** n);

/** Makes clusters: all servers have the same number of GPUs, which the tensor-parallel degree divides. */
export function clusters({ servers: most = 4, gpusPerServer = 8 }: ClusterBounds = {}): fc.Arbitrary<Cluster> {
  return fc
    .record({
      servers: fc.integer({ min: 1, max: most }),
      gpus: fc.constantFrom(...powersUpTo(gpusPerServer)),
      tp: fc.constantFrom(...powersUpTo(gpusPerServer)),
      kvCapacityTokens: fc.integer({ min: 1, max: 1_000_000 }),
      hostMemoryBytes: fc.integer({ min: 1, max: 2 ** 40 }),
    })
    .map(({ servers, gpus, tp, kvCapacityTokens, hostMemoryBytes }) => {
      const all = Array.from({ length: servers }, (_, server) => ({
        serverId: `server-${server}`,
        gpuIds: Array.from({ length: gpus }, (_, gpu) => `server-${server}/gpu-${gpu}`),
      }));
      const degree = Math.min(tp, gpus);
      const engines = all.flatMap(({ serverId, gpuIds }) =>
        Array.from({ length: gpus / degree }, (_, index) => ({
          engineId: `${serverId}/engine-${index}`,
          serverId,
          gpuIds: gpuIds.slice(index * degree, (index + 1) * degree),
          kvCapacityTokens,
        })),
      );
      const nodes = all.map(({ serverId, gpuIds }, server) => {
        return { nodeId: serverId, hostMemoryBytes, ranks: gpuIds.map((_, gpu) => server * gpus + gpu) };
      });
      return { servers: all, engines, nodes };
    });
}

/**
 * Makes the events that describe a cluster to a policy, all at one time (in seconds): `engine.added`, `engines.placed`,
 * `node.added`.
 */
export function clusterEvents({ engines, nodes }: Cluster, at = 0): VocabularyEvent[] {
  return [
    ...engines.map(({ engineId }): VocabularyEvent => ({ type: 'engine.added', at, engineId })),
    { type: 'engines.placed', at, engines: engines.map((one) => ({ ...one, gpuIds: [...one.gpuIds] })) },
    ...nodes.map((node): VocabularyEvent => ({ type: 'node.added', at, ...node, ranks: [...node.ranks] })),
  ];
}

/** Bounds of batches of prompts. */
export interface PromptBounds {
  /** Most prompts, by default 32. */
  readonly most?: number;
  /** Domains of the prompts; none if absent. */
  readonly domains?: readonly string[];
  /** Most tokens of a prompt, by default 4096. */
  readonly promptTokens?: number;
}

/** Makes batches of prompts with distinct ids, for `prompts` of `round.opened` and `prompts.supplied`. */
export function promptBatches({
  most = 32,
  domains = [],
  promptTokens = 4096,
}: PromptBounds = {}): fc.Arbitrary<Prompt[]> {
  const one = fc.record({
    tokens: fc.integer({ min: 1, max: promptTokens }),
    domain: domains.length === 0 ? fc.constant(undefined) : fc.constantFrom(...domains),
  });
  return fc.array(one, { maxLength: most }).map((all) =>
    all.map(({ tokens, domain }, index) => ({
      promptId: `p${index}`,
      promptTokens: tokens,
      ...(domain === undefined ? undefined : { domain }),
    })),
  );
}

/** Bounds of lengths. */
export interface LengthBounds {
  /** Least number of lengths, by default 0. */
  readonly least?: number;
  /** Largest number of lengths, by default 64. */
  readonly most?: number;
  /** Tokens of the longest, by default 32,768. */
  readonly longest?: number;
}

/**
 * Makes lengths in tokens with a long tail, as responses have: mostly short, few near the longest, some equal. The lengths fit
 * the field `lengths` of flex-ulysses and micro-batches.
 */
export function sequenceLengths({ least = 0, most = 64, longest = 32_768 }: LengthBounds = {}): fc.Arbitrary<number[]> {
  const length = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: Math.max(1, Math.floor(longest / 16)) }) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: longest }) },
    { weight: 1, arbitrary: fc.constantFrom(1, longest) },
  );
  return fc.array(length, { minLength: least, maxLength: most, size: 'max' });
}

/** The definition of what is tested, alone or beside its `arbitrary`. */
export type DefinitionOf<T extends Tested> = T extends { readonly definition: infer D } ? D : T;

/**
 * Makes streams of likely events for a policy, by its `arbitrary`. The streams include late, repeated and refused events.
 *
 * @param most - most events, by default 60
 */
export function eventStreams<T extends Tested>(
  tested: T,
  config: unknown,
  most = 60,
): fc.Arbitrary<EventOf<DefinitionOf<T>>[]> {
  return fc
    .tuple(tapes(), fc.integer({ min: 1, max: most }))
    .map(([tape, length]) => likelyEvents(tested, config, tape, length) as EventOf<DefinitionOf<T>>[]);
}

/** A stream of valid events, and a malformed event, which the policy must refuse without any change. */
export interface MalformedStream extends Malformed {
  /** The valid events that precede the malformed one. */
  readonly before: readonly AnyEvent[];
}

/**
 * Makes streams that end in a malformed event: it has an unknown key or a value of another type at any place.
 *
 * @param most - most events, by default 60
 */
export function malformedStreams(tested: Tested, config: unknown, most = 60): fc.Arbitrary<MalformedStream> {
  return fc.tuple(eventStreams(tested, config, most), fc.nat()).map(([events, choice]) => {
    const all = malformedCopies(events.at(-1)!);
    return { before: events.slice(0, -1), ...all[choice % all.length]! };
  });
}
