/** The machines that a host without memory reports. */
import type { Desk, Report } from './obedience.ts';

type Named = Readonly<Record<string, unknown>>;

const list = (value: unknown): readonly Named[] => (Array.isArray(value) ? value : []);

/** Reports engines, nodes, reward workers and replicas from the configuration, or one of each if the configuration names none. */
export function machines({ config, takes, engines, arranged }: Desk): Report[] {
  const workers = ['rule', 'sandbox', 'judge'].map((kind) => ({
    type: 'reward-worker.added',
    workerId: `host-${kind}`,
    kind,
    slots: 2,
  }));
  const nodes = list(config.nodes);
  const known = [...new Set([...list(config.engines).map((one) => one.engineId), ...engines.values(), ...arranged])];
  // A policy with GPUs in its configuration makes all engines from these GPUs.
  const engineIds = config.servers === undefined && known.length === 0 ? ['host-engine'] : known;
  const all: Report[] = [
    ...engineIds.map((engineId) => ({ type: 'engine.added', engineId })),
    ...(nodes.length > 0 ? nodes : [{ nodeId: 'host-node', hostMemoryBytes: 1e6, ranks: [0, 1] }]).map((node) => ({
      type: 'node.added',
      ...node,
    })),
    ...workers,
    // The configuration of a recipe has the environments of a part under the same name.
    ...Object.entries((config.slots ?? {}) as Readonly<Record<string, number>>).map(([environment, slots]) => ({
      type: 'slots.changed',
      environment,
      slots,
    })),
    ...[...list(config.replicas), ...list(config.trainingReplicas)].map(({ id }) => ({
      type: 'replica.added',
      replica: id,
    })),
  ];
  return all.filter(({ type }) => takes.has(type));
}
