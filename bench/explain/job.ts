/** A long job of tail batching in simulated time, told event by event: what its host would log. */
import { Heap } from '../../src/core/collections/heap.ts';
import { create, type EventOf, tailBatching } from '../../src/index.ts';
import { uniform } from '../../src/sim/workload/random.ts';

type Event = EventOf<typeof tailBatching>;

const engines = 16;
const rewardSeconds = 2;
/** When a response ends, of its median: lengths are lognormal, with a heavy tail. */
const [medianSeconds, spread] = [30, 1];

interface Due {
  readonly at: number;
  readonly order: number;
  readonly event: Event;
}

/** The policy of the job, and `play`, which sends its next events, at least so many, and stops between two of them. */
export function job(config: { promptsPerRound: number; responsesPerPrompt: number }) {
  const policy = create(tailBatching, { ...config, placement: 'policy' }, { validate: false });
  const due = new Heap<Due>((a, b) => a.at - b.at || a.order - b.order);
  const aborted = new Set<string>();
  let [sent, prompts, rounds, draws] = [0, 0, 0, 0];
  const draw = (): number => Math.max(uniform(7, draws++), 1e-9);
  const plan = (event: Event): void => due.push({ at: event.at, order: draws++, event });
  const normal = (): number => Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw());
  const request = (at: number): void => {
    plan({ type: 'round.requested', at, roundId: `round-${rounds}`, weightVersion: rounds });
    rounds += 1;
  };

  const tell = (event: Event): void => {
    sent += 1;
    const { at } = event;
    if (event.type === 'response.completed')
      plan({ type: 'reward.ready', at: at + rewardSeconds * draw(), requestId: event.requestId, reward: draws % 2 });
    for (const decision of policy.send(event)) {
      if (decision.type === 'request.launch') {
        const { requestId, engineId } = decision;
        plan({ type: 'request.started', at: at + 0.05 * draw(), requestId, engineId: engineId! });
        const seconds = medianSeconds * Math.exp(spread * normal());
        plan({ type: 'response.completed', at: at + seconds, requestId, tokens: Math.ceil(40 * seconds) });
      } else if (decision.type === 'request.abort') {
        aborted.add(decision.requestId);
        plan({ type: 'request.aborted', at: at + 0.1 * draw(), requestId: decision.requestId, tokens: 100 });
      } else if (decision.type === 'prompts.request') {
        const list = Array.from({ length: decision.count }, () => ({
          promptId: `prompt-${prompts++}`,
          ref: 'gsm8k:train',
        }));
        plan({ type: 'prompts.supplied', at: at + 1, roundId: decision.roundId, prompts: list });
      } else if (decision.type === 'round.drained') request(at + 60);
    }
  };

  for (let index = 0; index < engines; index += 1)
    plan({ type: 'engine.added', at: 1.7e9, engineId: `engine-${index}` });
  request(1.7e9);
  return {
    policy,
    play(events: number): void {
      const until = sent + events;
      for (let next = due.pop(); next !== undefined; next = due.pop()) {
        const { event } = next;
        if (event.type === 'response.completed' || event.type === 'request.started') {
          if (aborted.has(event.requestId)) continue;
        } else if (event.type === 'request.aborted') aborted.delete(event.requestId);
        tell(event);
        if (sent >= until) return;
      }
      throw new Error('the job has nothing more to do');
    },
  };
}
