/** Advances the simulated time as the wall clock and the speed demand. */
import type { MockCluster } from '../engine/cluster.ts';
import type { Speed } from '../options.ts';

/** Milliseconds between two updates of streams. */
const tickMs = 5;
/** Longest delay of a timer in Node. */
const longestMs = 2 ** 31 - 1;

/** Moves the time of a cluster. */
export class Pacer {
  readonly #cluster: MockCluster;
  #speed: Speed;
  /** Wall-clock time at the last change of speed, from which simulated time is counted. */
  #sinceMs = performance.now();
  #sinceSeconds = 0;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #activeAtMs = 0;
  #stopped = true;

  constructor(cluster: MockCluster, speed: Speed) {
    this.#cluster = cluster;
    this.#speed = speed;
  }

  get speed(): Speed {
    return this.#speed;
  }

  set speed(speed: Speed) {
    this.touch();
    this.#speed = speed;
    this.#sinceMs = performance.now();
    this.#sinceSeconds = this.#cluster.now;
    this.arm();
  }

  /** Advances the cluster to the present time. */
  touch(): void {
    const speed = this.#speed;
    if (this.#stopped || typeof speed !== 'number' || speed === 0) return;
    this.#cluster.advanceTo(this.#sinceSeconds + ((performance.now() - this.#sinceMs) / 1000) * speed);
  }

  /** Records that clients have done something, or received something to react to. */
  active(): void {
    this.#activeAtMs = performance.now();
  }

  /** Sets a timer for the next event. Called after every change. */
  arm(): void {
    this.#cancel();
    const waitMs = this.#stopped ? undefined : this.#waitMs();
    if (waitMs === undefined) return;
    // A timer waits at least one millisecond.
    if (waitMs <= 0) this.#immediate = setImmediate(() => this.#tick());
    else this.#timer = setTimeout(() => this.#tick(), Math.min(longestMs, waitMs));
  }

  /** Starts the simulated time. */
  start(): void {
    this.#sinceMs = performance.now();
    this.#sinceSeconds = this.#cluster.now;
    this.#stopped = false;
    this.arm();
  }

  /** Stops the simulated time for good. */
  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
  }

  #waitMs(): number | undefined {
    const cluster = this.#cluster;
    const speed = this.#speed;
    if (speed === 0) return undefined;
    const next = cluster.nextAt();
    if (speed === 'max') {
      if (next === Number.POSITIVE_INFINITY) return undefined;
      return this.#activeAtMs + cluster.options.settleMs - performance.now();
    }
    const untilNextMs = ((next - cluster.now) / speed) * 1000;
    if (cluster.streams) return Math.min(tickMs, untilNextMs);
    return untilNextMs === Number.POSITIVE_INFINITY ? undefined : untilNextMs;
  }

  #tick(): void {
    if (this.#speed === 'max') this.#jump();
    else this.touch();
    this.arm();
  }

  /** Advances from event to event until a client receives something, at most for a few milliseconds. */
  #jump(): void {
    const cluster = this.#cluster;
    const startedAt = performance.now();
    if (startedAt < this.#activeAtMs + cluster.options.settleMs) return;
    const before = this.#activeAtMs;
    do {
      const next = cluster.nextAt();
      if (next === Number.POSITIVE_INFINITY) return;
      const most = cluster.streams ? cluster.now + cluster.options.maxJumpSeconds : next;
      cluster.advanceTo(Math.min(next, most));
    } while (this.#activeAtMs === before && !cluster.streams && performance.now() - startedAt < tickMs);
  }
}
