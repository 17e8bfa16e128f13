/** The story of one seed: a server lives and dies, clients come and go, and in the end everything must be right. */
import type { AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { isPolicyError } from '../../../src/errors.ts';
import { registry } from '../../../src/index.ts';
import { type DurableServer, serverOver } from '../../../src/rpc/durable.ts';
import { JsonText, type Link, type PlanJob, type Planning, type RpcServer } from '../../../src/rpc/index.ts';
import type { Store } from '../../../src/rpc/journal/store.ts';
import type { Session } from '../../../src/rpc/session/session.ts';
import { exampleConfigs } from '../examples/configs.ts';
import { Books, type Mark } from './books.ts';
import { type SharedSession, SimulatedClient } from './client.ts';
import type { Common } from './conversation.ts';
import { type Damage, Disk } from './disk.ts';
import { Wire, type WireClient } from './wire.ts';
import { Life, World } from './world.ts';

/** A bug to plant, which the simulation must find. */
export interface Plant {
  /** The store that the server gets in place of the right one. */
  readonly store?: (store: Store, world: World) => Store;
  /** The link that the server gets in place of the right one. */
  readonly link?: (link: Link, world: World) => Link;
  /** Numbers of rules that are not checked, so that others must find the bug. */
  readonly blind?: readonly number[];
}

/** What a seed has led to. */
export interface Told {
  /** Hash of the trace: the same for the same seed. */
  readonly digest: string;
  readonly trace: string;
  readonly occurred: number;
  readonly seen: Readonly<Record<string, number>>;
}

/** A seed that has found something. The message has the command that replays it. */
export class SeedFailure extends Error {
  readonly seed: number;
  readonly trace: string;

  /** Makes the error of a seed. */
  constructor(seed: number, message: string, trace: string, cause: unknown) {
    super(`${message}\nreplay it by: npx tsx bench/rpc/seeds.ts --seed ${seed}`, { cause });
    this.seed = seed;
    this.trace = trace;
  }
}

/** Policies of most sessions: those of others take longer to open, and flexrl to plan. */
const quick = [
  'complete-group-pipelining',
  'group-assembly',
  'long-prompt-queue',
  'reward-dispatch',
  'sandbox-timeout',
  'speculative-admission',
  'tail-batching',
];

/** Seconds after which a world must have come to its end. */
const longestStory = 1000;
/** How stores are damaged: they must be refused, or what is damaged must be set aside. */
export const damages: readonly Damage[] = ['lost', 'torn', 'reordered', 'flipped', 'cut'];

const sessionsOf = ({ sessions }: RpcServer): Session[] => [
  ...{ [Symbol.iterator]: () => sessions[Symbol.iterator]() },
];

class Story {
  readonly world: World;
  readonly #books: Books;
  readonly #disk: Disk<Mark>;
  readonly #plant: Plant;
  readonly #common: Common;
  readonly #wires = new Set<Wire>();
  readonly #fsync: 'always' | 'interval';
  readonly #limits: object;
  readonly #snapshotEvents: number;
  #server: RpcServer | undefined;
  #life = new Life();
  #durable: DurableServer | undefined;
  #version = [1, 0, 0];
  readonly #haste: number;
  /** Whether the store has failed. */
  #isFailed = false;
  #isCalm = false;
  #connections = 0;

  constructor(world: World, plant: Plant) {
    this.world = world;
    this.#plant = plant;
    this.#books = new Books(world, registry.policies as readonly AnyPolicyDefinition[], plant.blind ?? []);
    this.#disk = new Disk(world, this.#books);
    this.#fsync = world.chance(800) ? 'always' : 'interval';
    this.#books.fsync = this.#fsync;
    const pageDecisions = world.pick([2, 8192]);
    this.#limits = {
      pageDecisions,
      maxBacklog: world.pick([12, 65_536]),
      maxOutputBytes: world.pick([2048, 1 << 24]),
      stallSeconds: world.pick([2, 30]),
      keptAnswers: world.pick([1, 8]),
    };
    this.#haste = world.pick([0, 0.0003, 0.003]);
    this.#snapshotEvents = world.pick([2, 7, 10_000]);
    this.#common = {
      world,
      books: this.#books,
      definitions: registry.policies as readonly AnyPolicyDefinition[],
      pageDecisions,
      told: new Map(),
      pages: new Map(),
      busy: 0,
      planOf: ({ planner, input }) => JSON.stringify(registry.plan(planner as never, input as never)),
    };
  }

  /** Plans take their time, and are given up with their connection. */
  #planning(life: Life): Planning {
    return {
      plan: ({ planner, input }: PlanJob) =>
        new Promise((resolve, reject) => {
          this.world.after(
            this.world.seconds(0.001, 1),
            'plan',
            () => {
              try {
                resolve(new JsonText(JSON.stringify(registry.plan(planner as never, input as never))));
              } catch (error) {
                reject(error as Error);
              }
            },
            life,
          );
        }),
      close: () => undefined,
    };
  }

  async tell(): Promise<void> {
    const { world } = this;
    const sessions = Array.from({ length: 1 + world.below(2) }, (_, at) => this.#newSession(at));
    const clients = Array.from(
      { length: 1 + world.below(2) },
      (_, at) =>
        new SimulatedClient(this.#common, {
          name: `c${at}`,
          isFirst: at === 0,
          sessions,
          calls: 2 + world.below(4),
          isCalm: () => this.#isCalm,
          connect: (client, handed) => this.#connect(client, handed),
        }),
    );
    const calm = world.sleep(world.seconds(2, 12), 'calm').then(() => {
      this.#isCalm = true;
      this.#disk.manners = { stalls: 0, failures: 0 };
    });
    const served = this.#serve();
    await Promise.all(clients.map((one) => one.run()));
    await calm;
    await served;
    for (const one of clients) one.leave();
    await this.#end();
  }

  #newSession(at: number): SharedSession {
    const { world } = this;
    const isAny = world.chance(200);
    const definition = world.pick(
      this.#common.definitions.filter(({ id }) => (isAny ? id !== 'flexrl' : quick.includes(id))),
    );
    const config = world.pick(exampleConfigs[definition.id]!);
    const deliver = world.chance(600) ? 'stream' : 'reply';
    const hasTimers = definition.events.some(({ type }) => type === 'timer.fired');
    const timers = deliver === 'stream' && hasTimers && world.chance(800) ? 'server' : 'host';
    return { id: `größe ${at} 会`, definition, open: { policy: definition.id, config, deliver, timers } };
  }

  #connect(client: WireClient, handed: (text: string) => void): Wire | undefined {
    const { world } = this;
    if (this.#server === undefined) return undefined;
    // Small pieces that are slow, too, would never end.
    const [slowest, chunk] = world.pick([
      [0.002, 200],
      [0.02, 800],
      [0.02, 65_536],
      [0.3, 65_536],
    ] as const);
    const manners = {
      slowest,
      chunk,
      systemBytes: world.pick([0, 500, 65_536]),
    };
    const wire = new Wire(`#${(this.#connections += 1)}`, world, this.#life, manners, client, handed);
    this.#wires.add(wire);
    wire.connect(this.#server, this.#plant.link?.(wire, world) ?? wire);
    return wire;
  }

  /** Starts the server again and again, until trouble is over. Resolves with a server that runs. */
  async #serve(): Promise<void> {
    const { world } = this;
    for (;;) {
      await this.#start();
      if (this.#isCalm && this.#durable !== undefined) return;
      const kind = world.chance(250) ? 'stop' : world.chance(500) ? 'kill' : 'machine';
      const isShort = world.chance(300);
      await Promise.race([
        world.sleep(isShort ? world.seconds(0, 0.05) : world.seconds(0.2, 6), 'end'),
        this.#durable?.failed.catch(() => undefined) ?? new Promise(() => undefined),
      ]);
      if (this.#isCalm && this.#durable !== undefined && !this.#isFailed) return;
      await this.#stop(this.#isFailed ? 'kill' : kind);
      await world.sleep(world.seconds(0.001, 1), 'down');
    }
  }

  /** Starts a server, or a start that a crash may interrupt. */
  async #start(): Promise<void> {
    const { world } = this;
    const life = new Life();
    this.#life = life;
    this.#isFailed = false;
    this.#disk.manners = this.#isCalm
      ? { stalls: 0, failures: 0 }
      : { stalls: world.pick([0, 0, 20]), failures: world.pick([0, 0, 0, 20]) };
    await this.#refuseDamage();
    this.#books.isRestoring = true;
    world.note('starts');
    const opening = this.#over(this.#disk.open(life), life).catch((error: Error) => {
      this.#books.broken(8, `a start fails: ${error.message}`);
      return new Promise<never>(() => undefined);
    });
    const isInterrupted = !this.#isCalm && world.chance(150);
    const opened = isInterrupted
      ? await Promise.race([opening, world.sleep(world.seconds(0, 0.02), 'interrupted')])
      : await opening;
    if (opened === undefined) {
      this.world.count('interrupted start');
      return;
    }
    this.#durable = opened;
    this.#books.isRestoring = false;
    this.#books.compare(opened.server.sessions);
    opened.failed.catch(() => {
      if (life === this.#life) this.#isFailed = true;
    });
    this.#server = opened.server;
  }

  #over(store: Store, life: Life): Promise<DurableServer> {
    return serverOver(this.#plant.store?.(store, this.world) ?? store, {
      fsync: this.#fsync,
      snapshotEvents: this.#snapshotEvents,
      version: this.#version.join('.'),
      clock: this.world.clockOf(life, this.#haste),
      limits: this.#limits,
      decisionLog: this.#books,
      planning: this.#planning(life),
    });
  }

  /** A store that has broken its promise is refused, or the sessions are set aside that it has cost; nothing is written to it. */
  async #refuseDamage(): Promise<void> {
    if (!this.world.chance(200)) return;
    const kind = this.world.pick(damages);
    const image = this.#disk.damaged(kind);
    if (image === undefined) return;
    this.world.count(`damage ${kind}`);
    this.#books.isIgnored = true;
    const life = new Life();
    try {
      const { server } = await this.#over(this.#disk.open(life, image), life);
      this.world.count('damage set aside');
      if (server.sessions.aside.size === 0) this.#books.broken(9, `a store with a write ${kind} is taken`);
      this.#books.compare(server.sessions);
    } catch (error) {
      if (kind === 'flipped') this.#books.broken(9, `a store with a record ${kind} leads to ${error}`);
      if (!isPolicyError(error) || error.code !== 'snapshot_mismatch')
        this.#books.broken(9, `a store with a write ${kind} leads to ${error}`);
    }
    life.isAlive = false;
    this.#books.isIgnored = false;
  }

  async #stop(kind: 'stop' | 'kill' | 'machine'): Promise<void> {
    const { world } = this;
    this.world.count(kind);
    world.note(kind);
    this.#server = undefined;
    if (kind === 'stop' && this.#durable !== undefined && !world.chance(150)) {
      await this.#close();
      return;
    }
    // Some stops are cut short.
    if (kind === 'stop' && this.#durable !== undefined) {
      void this.#durable.close();
      await world.sleep(world.seconds(0, 0.02), 'kill while it stops');
    }
    this.#die();
    // After a crash, a later one of the same major version.
    if (world.chance(300)) this.#version[1]! += 1;
    const isMachine = kind === 'machine';
    const mayLose = isMachine && this.#fsync === 'interval';
    if (mayLose) {
      this.#common.told.clear();
      this.#common.pages.clear();
    }
    this.#books.crashed(this.#disk.crash(isMachine), mayLose);
  }

  #die(): void {
    this.#life.isAlive = false;
    this.#durable = undefined;
    for (const one of this.#wires) one.died();
    this.#wires.clear();
  }

  /** An orderly stop; any later version may go on. */
  async #close(): Promise<void> {
    const durable = this.#durable!;
    const { server } = durable;
    if (sessionsOf(server).every(({ isPaused }) => !isPaused)) this.#books.compare(server.sessions);
    await durable.close();
    if (server.connections !== 0 || server.sessions.size !== 0)
      this.#books.broken(10, `a closed server has ${server.connections} connections, ${server.sessions.size} sessions`);
    const waiting = [...this.#life.waiting].map(({ what, at }) => `${what} at ${at}`);
    if (!this.#isFailed && waiting.length > 0) this.#books.broken(10, `a closed server still waits: ${waiting}`);
    this.#die();
    this.#books.crashed(this.#disk.crash(false));
    // After an orderly stop any later version may go on.
    if (!this.#isFailed && this.world.chance(300)) this.#version = [this.#version[0]! + 1, 0, 0];
  }

  /** All is quiet: what must have happened has happened. */
  async #end(): Promise<void> {
    const { world } = this;
    await world.sleep(100, 'quiet');
    const { server } = this.#durable!;
    if (server.connections !== 0) this.#books.broken(10, `${server.connections} connections are left`);
    this.#books.compare(server.sessions);
    for (const session of sessionsOf(server)) {
      const model = this.#books.open(session.id)!;
      const isFull = session.deliver === 'stream' && session.stream.full;
      const due = [...model.armed].filter(([timerId, at]) => at < world.now && model.takesTimer(timerId, world.now));
      if (due.length > 0 && !isFull) this.#books.broken(10, `${session.id}: timers have not fired: ${due}`);
    }
    this.#server = undefined;
    await this.#close();
    if (world.chance(500)) return;
    await this.#start();
    for (const { id } of sessionsOf(this.#durable!.server)) this.#durable!.server.sessions.close(id);
    await this.#close();
    const left = [...this.#disk.image().keys()].filter((key) => key !== 'meta');
    if (left.length > 0) this.#books.broken(10, `the store keeps ${left} of closed sessions`);
  }
}

/** Plays a seed. Throws {@link SeedFailure} for a broken rule. */
export async function playSeed(
  seed: number,
  { plant = {}, traced = false }: { plant?: Plant; traced?: boolean } = {},
): Promise<Told> {
  const world = new World(seed, traced);
  const story = new Story(world, plant);
  try {
    await world.run(story.tell(), longestStory);
  } catch (error) {
    throw new SeedFailure(seed, `seed ${seed}: ${(error as Error).message}`, world.trace, error);
  }
  return { digest: world.digest(), trace: world.trace, occurred: world.occurred, seen: world.seen };
}
