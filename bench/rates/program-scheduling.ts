/**
 * Shows what program-scheduling takes for a turn, the decision where it runs (`turn.requested`) and all of its four events, against
 * the number of engines: 8 and 64, with 75 programs each, and with room for all programs or for a third of them.
 */
import { create, programScheduling } from '../../src/index.ts';
import type { ProgramSchedulingEvent } from '../../src/policies/program-scheduling/index.ts';
import { machine, median } from '../support.ts';

const programsPerEngine = 75;
const context = 8000;

interface Taken {
  readonly decision: number;
  readonly turn: number;
}

/** Microseconds of so many turns of all programs, in turn. */
function microseconds(engines: number, kvCapacityTokens: number, validate: boolean, turns: number): Taken {
  const policy = create(programScheduling, { kvCapacityTokens }, { validate });
  let at = 0;
  let inDecisions = 0;
  let routed = 0;
  let running: string[] = [];
  const send = (event: ProgramSchedulingEvent): void => {
    for (const one of policy.send(event)) if (one.type === 'turn.route') running.push(one.requestId);
  };
  const generated = new Map<string, number>();
  for (let index = 0; index < engines; index += 1) send({ type: 'engine.added', at, engineId: `engine-${index}` });
  const ids = Array.from({ length: engines * programsPerEngine }, (_, index) => `prompt-${index >> 3}/${index & 7}#0`);
  const contextTokens = (id: string): number => context + 3 * (generated.get(id) ?? 0);
  for (const [index, requestId] of ids.entries()) {
    send({ type: 'program.opened', at, requestId, promptId: `prompt-${index >> 3}`, promptTokens: 1000 });
    send({ type: 'turn.requested', at, requestId, contextTokens: context });
  }
  const start = performance.now();
  while (routed < turns) {
    const batch = running;
    running = [];
    for (const requestId of batch) {
      at += 0.002;
      const tokens = (generated.get(requestId) ?? 0) + 10;
      generated.set(requestId, tokens);
      send({ type: 'turn.finished', at, requestId, tokens, cachedTokens: contextTokens(requestId) - 20 });
      send({ type: 'tool.started', at, requestId, tool: 'bash' });
    }
    for (const requestId of batch) {
      at += 0.002;
      send({ type: 'tool.finished', at, requestId, outcome: 'success' });
      const event: ProgramSchedulingEvent = {
        type: 'turn.requested',
        at,
        requestId,
        contextTokens: contextTokens(requestId),
      };
      const before = performance.now();
      send(event);
      inDecisions += performance.now() - before;
      routed += 1;
    }
  }
  return { decision: (inDecisions / routed) * 1000, turn: ((performance.now() - start) / routed) * 1000 };
}

console.log(machine());
microseconds(8, 1_000_000, false, 50_000);
for (const engines of [8, 64]) {
  for (const [name, share] of [
    ['room for all', 2],
    ['room for a third', 1 / 3],
  ] as const) {
    const capacity = Math.round(programsPerEngine * context * share);
    for (const validate of [false, true]) {
      const runs = Array.from({ length: 3 }, () => microseconds(engines, capacity, validate, 50_000));
      const [decision, turn] = [median(runs.map((one) => one.decision)), median(runs.map((one) => one.turn))];
      const how = validate ? 'validated' : 'trusted  ';
      console.log(
        `${String(engines).padStart(2)} engines, ${name.padEnd(16)} ${how}: ${decision.toFixed(1)} µs a decision, ${turn.toFixed(1)} µs a turn`,
      );
    }
  }
}
