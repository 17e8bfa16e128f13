// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `group-assembly`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  GroupRewarded, GroupUnrewarded, GroupWithdrawn, HostRestarted, PromptCounted, PromptDeferred, PromptFailed,
  PromptFiltered, PromptMerged, PromptReturned, ResponseAccepted, ResponseDropped, RewardFailed, RewardReady,
  RewardRequest, RewardUnused, RoundCompleted, RoundFailed, RoundResumed, RoundRewarded,
} from '../messages/index.ts';

/** Configuration of `group-assembly`, as a caller writes it. */
export interface GroupAssemblyInput {
  /**
   * Whether the host is asked again, by `reward.request`, for rewards that have not come after its restart.
   *
   * @defaultValue `true`
   */
  askAgain?: boolean | undefined;
}

/** Configuration of `group-assembly`, its defaults filled in. */
export interface GroupAssemblyConfig {
  /** Whether the host is asked again, by `reward.request`, for rewards that have not come after its restart. */
  askAgain: boolean;
}

/** What `group-assembly` is told. */
export type GroupAssemblyEvent =
  | HostRestarted | PromptCounted | PromptDeferred | PromptFailed | PromptFiltered | PromptMerged | PromptReturned
  | Reported<RewardFailed> | ResponseAccepted | ResponseDropped | RewardReady | RoundCompleted | RoundFailed;

/** What `group-assembly` asks of the host. */
export type GroupAssemblyCommand = RewardRequest;

/** What `group-assembly` lets others know. */
export type GroupAssemblyNotice =
  | GroupRewarded | GroupUnrewarded | GroupWithdrawn | RewardUnused | RoundResumed | RoundRewarded;

/** What `group-assembly` answers. */
export type GroupAssemblyDecision = GroupAssemblyCommand | GroupAssemblyNotice;

/** All types of `group-assembly`, for its definition. */
export interface GroupAssemblyTypes {
  /** Id of the definition. */
  readonly id: 'group-assembly';
  /** Configuration, as a caller writes it. */
  readonly input: GroupAssemblyInput;
  /** Configuration, its defaults filled in. */
  readonly config: GroupAssemblyConfig;
  /** What it is told. */
  readonly event: GroupAssemblyEvent;
  /** What it answers. */
  readonly decision: GroupAssemblyDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: GroupAssemblyCommand['type'];
}
