/** Control routes of the mock engine: its clock, its faults, and its counters. */
import { z } from 'zod';
import { parse } from '../core/machine/validate.ts';
import type { MockCluster } from './engine/cluster.ts';
import { faultSchema } from './faults.ts';
import { type Call, type Routes, refuse, reply } from './http/http.ts';
import type { Pacer } from './http/pacer.ts';
import { speedSchema } from './options.ts';

const clockSchema = z.union([
  z.strictObject({ speed: speedSchema }),
  z.strictObject({ advanceSeconds: z.number().nonnegative() }),
  z.strictObject({ advanceTo: z.number().nonnegative() }),
]);

export function ownRoutes(cluster: MockCluster, pacer: Pacer): Routes {
  const clock = () => {
    const next = cluster.nextAt();
    return { seconds: cluster.now, speed: pacer.speed, nextEventAt: Number.isFinite(next) ? next : null };
  };
  return {
    'GET /clock': ({ response }) => reply(response, clock()),
    'POST /clock': ({ body, response }) => {
      const command = read(clockSchema, body);
      if ('speed' in command) pacer.speed = command.speed;
      else if (pacer.speed !== 0) refuse('time is advanced by hand only while it stands: {"speed": 0} first');
      else cluster.advanceTo('advanceTo' in command ? command.advanceTo : cluster.now + command.advanceSeconds);
      reply(response, clock());
    },
    'POST /fault': ({ body, response }) => reply(response, takeFault(cluster, body)),
    'GET /stats': ({ response }) => reply(response, statsOf(cluster)),
  };
}

function takeFault(cluster: MockCluster, body: Call['body']): unknown {
  const fault = read(faultSchema, body);
  const { engine, at } = fault;
  if (engine !== undefined && engine >= cluster.engines.length) {
    refuse(`engine: expected a number from 0 to ${cluster.engines.length - 1}, got ${engine}`);
  }
  const apply = (): void => cluster.fault(fault);
  if (at === undefined || at <= cluster.now) apply();
  else cluster.agenda.at(at, apply);
  return { fault: fault.fault, at: Math.max(at ?? 0, cluster.now) };
}

/** Returns the counters and the load of each engine, at the simulated time of the cluster. */
function statsOf(cluster: MockCluster): unknown {
  return {
    seconds: cluster.now,
    engines: cluster.engines.map((engine) => {
      const { number, isUp, isHanging, weightVersion, counts, work } = engine;
      const { busySeconds, decodeSteps, preemptions, recomputedTokens } = work;
      const done = { ...counts, inFlight: counts.inFlight, busySeconds, decodeSteps, preemptions, recomputedTokens };
      return { number, isUp, isHanging, weightVersion, ...engine.load(), ...done };
    }),
  };
}

function read<T>(schema: z.ZodType<T>, body: unknown): T {
  try {
    return parse(schema, body, 'invalid_input');
  } catch (error) {
    return refuse((error as Error).message);
  }
}
