/** What the author of a recipe declares, and the state of a recipe. */
import type { z } from 'zod';
import type { DecisionMessage, Of as Described, EventMessage } from '../../schemas/vocabulary.ts';
import type {
  AnyDecision,
  AnyEvent,
  AnyPolicyDefinition,
  DecisionOf,
  DefinitionBase,
  DefinitionTypes,
  Ledger,
  PolicyDefinitionOf,
} from '../machine/definition.ts';
import type { Origin } from './recipe-waits.ts';

/** The parts of a recipe; the keys are their names. */
export type Parts = Readonly<Record<string, AnyPolicyDefinition>>;

/** An event for one part. */
export interface Delivery {
  /** Name of the part that gets the event. */
  readonly part: string;
  /** The event that the part gets. */
  readonly event: AnyEvent;
  /**
   * Whether the event is delivered before all pending events (default false: after them), because other parts need it before they
   * continue.
   */
  readonly first?: boolean;
  /**
   * Deliveries to make instead if the part refuses the event, or is off: another part may hold the subject of the event. An empty
   * list skips the event. Without it, an event from outside is refused as the part does; an event from inside that a part refuses is
   * a defect of the recipe, which the property kit looks for, and ends the policy with `internal`.
   */
  readonly otherwise?: readonly Delivery[] | undefined;
  /** The same as an empty `otherwise`. */
  readonly ifTaken?: boolean;
}

/** Name of a part that gets the message unchanged, or a delivery of another event. */
export type Recipient = string | Delivery;

/** Exception to the routing of a decision, which otherwise follows from the messages of the parts. */
export interface Route<D extends AnyDecision = AnyDecision, Config = never> {
  /** Whether the decision leaves the recipe (default: if the recipe lists it); a function if this depends on the configuration. */
  readonly out?: boolean | ((config: Config) => boolean);
  /**
   * Parts that get the decision, in this order: a list, or a function where the decision becomes another event or its fields
   * determine the parts. The default is `recipients`: the other parts that take such events, in the order of `parts`.
   */
  readonly to?:
    | readonly string[]
    | ((decision: D, config: Config, recipients: readonly string[]) => readonly Recipient[]);
}

/** The state of a recipe: its configuration, and the states of its parts. */
export interface RecipeState<Config = unknown> {
  /** The configuration of the recipe. */
  readonly config: Config;
  /** State of each part, by its name. */
  readonly parts: Record<string, unknown>;
  /** Recipients of each event and decision with this configuration. */
  readonly wiring: Wiring;
}

/** Recipients in the order of `parts`. Events from outside are looked up by type, decisions by part and then by type. */
export interface Wiring {
  readonly off: readonly string[];
  readonly outside: ReadonlyMap<string, readonly string[]>;
  readonly inside: Readonly<Record<string, ReadonlyMap<string, Wire>>>;
}

export interface Wire {
  readonly out: boolean;
  readonly recipients: readonly string[];
  /** Chooses the parts where they depend on the fields of the decision. */
  readonly to:
    | ((decision: AnyDecision, config: never, recipients: readonly string[]) => readonly Recipient[])
    | undefined;
}

/** The saved state of a recipe: each part by its name, with its own id and version. */
export interface SavedRecipe {
  /** Saved state of each part, by its name, with the version of its policy. */
  readonly parts: Readonly<Record<string, { policy: string; version: number; state: unknown }>>;
}

/** Definition of a recipe with these types. */
export type RecipeDefinition<T extends DefinitionTypes> = PolicyDefinitionOf<T, RecipeState<T['config']>, SavedRecipe>;

/** Exceptions to the routing of decisions, by part, then by decision. */
export type Routes<P extends Parts, Config = never> = {
  readonly [Name in keyof P]?: {
    readonly [T in DecisionOf<P[Name]>['type']]?: Route<Extract<DecisionOf<P[Name]>, { readonly type: T }>, Config>;
  };
};

/** Specification that the author of a recipe passes to `defineRecipe`. */
export interface RecipeSpec<
  Input,
  Config,
  EW extends EventMessage,
  DW extends DecisionMessage,
  Id extends string,
  P extends Parts = Parts,
> extends DefinitionBase {
  readonly id: Id;
  /** Schema of the recipe's flat configuration; the schema refuses unknown keys. */
  readonly config: z.ZodType<Config, Input>;
  /** Policies of the recipe; routes use their keys as names. */
  readonly parts: P;
  /** Makes the configuration of each part from the flat one of the recipe. */
  configure(config: Config): Readonly<Record<string, unknown>>;
  /** Events that come from outside; all others are refused. */
  readonly events: readonly EW[];
  /** Decisions that leave the recipe; all others stay inside. */
  readonly decisions: readonly DW[];
  /** Returns the parts that the configuration switches off: they get no events, and the `otherwise` of a delivery takes their place. */
  readonly off?: (config: Config) => readonly string[];
  /**
   * Chooses the parts that get an event from outside, in this order; parts that are off are left out. Without this function the event goes to `recipients`: the
   * parts that take such events, in the order of `parts`.
   */
  readonly deliver?: (event: OfMessage<EW>, config: Config, recipients: readonly string[]) => readonly Recipient[];
  /**
   * Returns the events that will follow inside and that a part may refuse: then the event from outside is refused. `parts`
   * has the states of the parts by name; the function may read but not change them.
   */
  readonly expects?: (
    event: OfMessage<EW>,
    config: Config,
    parts: Readonly<Record<string, unknown>>,
  ) => readonly Delivery[];
  /** Exceptions to the routing of decisions, by part, then by decision; all other routes follow from the messages of the parts. */
  readonly routes: Routes<P, Config>;
  /**
   * Origins of events from inside that are not decisions of a part, for `policy.why`: by the type of the event, or by receiving
   * part and type, as in `training/round.completed`.
   */
  readonly origins?: Readonly<Record<string, Origin>>;
  /** Has no effect any more: what a part may refuse follows from the part. */
  readonly vouches?: Readonly<Record<string, readonly string[]>>;
  /** Migrations of the saved state from version k to k + 1, by k; each part migrates its own state. */
  readonly migrations?: Readonly<Record<number, (saved: unknown) => unknown>>;
  /** Ledgers that must balance over all parts after every event (law 2). */
  readonly ledgers: readonly Ledger<SavedRecipe, OfMessage<EW>, OfMessage<DW> & AnyDecision, Config>[];
}

export type OfMessage<W> = Described<W> & AnyEvent;
