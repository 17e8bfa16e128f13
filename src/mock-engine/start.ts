/** Starts engines on HTTP ports, and a router with the control routes in front of them. */
import type { ConnectionFault } from './engine/apply-fault.ts';
import { type ClusterParts, MockCluster } from './engine/cluster.ts';
import type { MockEngine } from './engine/mock-engine.ts';
import type { RouteContext } from './generating.ts';
import { EngineServer } from './http/engine-server.ts';
import { Listener } from './http/listen.ts';
import { Pacer } from './http/pacer.ts';
import type { MockEngineInput } from './options.ts';
import { Router } from './router.ts';
import { sglangApi } from './sglang/api.ts';
import { vllmApi } from './vllm/api.ts';

/** Address and ports to listen on. */
export interface Ports {
  /** Address to listen on, default `127.0.0.1`. */
  readonly host?: string;
  /** Port of the first engine; the ports of other engines follow. With 0, the default, any free ports are taken. */
  readonly port?: number;
  /** Port of the router and the control routes; 0, the default, takes any free port. */
  readonly controlPort?: number;
}

/** Parts of a mock engine: response lengths, costs of an engine, options, and ports. */
export interface MockEngineStart extends ClusterParts, Ports {
  /** Engines, ports, lengths and faults; see {@link mockEngineOptionsSchema}. */
  readonly options?: MockEngineInput;
  /** Called when an engine cannot restart after a crash because its port is in use; by default the process gets the error. */
  readonly onError?: (error: Error) => void;
}

/** Running engines, with their addresses. */
export interface RunningMockEngine {
  /** Address of the router, which also has the control routes. */
  readonly url: string;
  /** Addresses of the engines. */
  readonly engineUrls: readonly string[];
  /** The engines, for control in simulated time. */
  readonly cluster: MockCluster;
  /** Stops all engines for good, and closes the connections. */
  stop(): Promise<void>;
}

/**
 * Starts engines.
 *
 * @throws PolicyError `invalid_config` for invalid options; the error of the system if it cannot listen
 */
export async function startMockEngine(start: MockEngineStart): Promise<RunningMockEngine> {
  const { options = {}, host = '127.0.0.1', port = 0, controlPort = 0, onError = throwLater } = start;
  const cluster = new MockCluster(options, start);
  const pacer = new Pacer(cluster, cluster.options.speed);
  const servedEngines = cluster.engines.map((engine) => serve(engine, cluster, pacer, host, port));
  const workers = servedEngines.map(({ listener, server }) => ({
    server,
    get url() {
      return listener.url;
    },
  }));
  const router = new Router(workers, cluster, pacer);
  const front = new Listener((request, response) => router.take(request, response), host, controlPort);
  const listeners = [...servedEngines.map(({ listener }) => listener), front];
  const stop = async (): Promise<void> => {
    pacer.stop();
    await Promise.all(servedEngines.map(({ settled }) => settled()));
    await Promise.all(listeners.map((one) => one.kill()));
  };
  cluster.onFault((fault, engine) => servedEngines[engine.number]!.disturb(fault, onError));
  try {
    for (const listener of listeners) await listener.listen();
  } catch (error) {
    await stop();
    throw error;
  }
  pacer.start();
  return { url: front.url, engineUrls: servedEngines.map(({ listener }) => listener.url), cluster, stop };
}

interface ServedEngine {
  readonly server: EngineServer;
  readonly listener: Listener;
  disturb(fault: ConnectionFault, onError: (error: Error) => void): void;
  /** Resolves once no engine is starting or stopping. */
  settled(): Promise<void>;
}

function serve(engine: MockEngine, cluster: MockCluster, pacer: Pacer, host: string, firstPort: number): ServedEngine {
  const stand: RouteContext = { engine, cluster, pacer, server: () => server };
  const api = cluster.options.api === 'sglang' ? sglangApi(stand) : vllmApi(stand);
  const server: EngineServer = new EngineServer(engine, api, pacer, cluster);
  const port = firstPort === 0 ? 0 : firstPort + engine.number;
  const listener = new Listener((request, response) => server.take(request, response), host, port);
  // Engines start and stop in sequence, because a port must be free before it is used again.
  let turn: Promise<void> = Promise.resolve();
  return {
    server,
    listener,
    disturb: (fault, onError) => {
      server.disturb(fault);
      if (fault.kind !== 'down' && fault.kind !== 'up') return;
      turn = turn.then(() => (fault.kind === 'down' ? listener.kill() : listener.listen())).catch(onError);
    },
    settled: () => turn,
  };
}

function throwLater(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
