/**
 * What blocks what in environment-slots: programs wait for environments; environments wait for their start, their program or
 * their end.
 */
import type { AwaitedEvent, Gates, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { deadlines } from './programs.ts';
import { type Kind, needsTrial, type Program, type Slot, type SlotsState } from './state.ts';

const timer = (dueAt: number): AwaitedEvent => ({ event: { type: 'timer.fired', timerId: deadlines.timerId }, dueAt });

function programStanding({ environment, slot, since }: Program): Standing {
  if (slot === null) {
    return { stands: `waits for an environment (${environment})`, since, for: [{ what: 'kinds', id: environment }] };
  }
  return { stands: `has environment ${slot.id}`, since: slot.since, for: endOf(slot) };
}

/** What ends the present status of an environment. */
function endOf({ id: slotId, status, requestId, since, due }: Slot): readonly AwaitedEvent[] {
  const late = due === null ? [] : [timer(due)];
  if (status === 'starting') return [{ event: { type: 'slot.ready', slotId }, since }, ...late];
  if (status === 'busy') return [{ event: { type: 'program.closed', requestId }, since }, ...late];
  if (status === 'idle') return late;
  return [{ event: { type: 'slot.released', slotId }, since }, ...late];
}

function slotStanding(one: Slot): Standing {
  const { status, tool, requestId, since } = one;
  const words = { starting: 'starts', idle: 'is idle', ending: 'ends', stopping: 'is being stopped', busy: '' };
  const busy = tool === null ? `has program ${requestId}` : `runs ${tool.name} for program ${requestId}`;
  return { stands: status === 'busy' ? busy : words[status], since, for: endOf(one) };
}

function* room({ slots }: SlotsState, kind: Kind): Iterable<HeldThing | AwaitedEvent> {
  if (needsTrial(kind)) yield timer(kind.retryAt);
  for (const one of slots.values()) if (one.kind === kind) yield { what: 'slots', id: one.id };
}

function kindStanding(state: SlotsState, kind: Kind): Standing {
  const { suspendedAt, total, slots } = kind;
  if (suspendedAt === null) return { stands: `has ${total} of ${slots} environments`, for: room(state, kind) };
  return { stands: 'is suspended, because environments fail', since: suspendedAt, for: room(state, kind) };
}

/** Once a program has its environment, the event that closes the program is awaited. */
export const gates: Gates<SlotsState> = {
  'program.closed': ({ programs }, event) => {
    const slot = programs.get(event.requestId as string)?.slot;
    return slot ? [{ event, since: slot.since }] : [];
  },
};

export const waits: Waits<SlotsState> = {
  programs: {
    ids: ({ programs }) => programs.keys(),
    of: ({ programs }, id) => {
      const found = programs.get(id);
      return found && programStanding(found);
    },
  },
  slots: {
    ids: ({ slots }) => slots.keys(),
    of: ({ slots }, id) => {
      const found = slots.get(id);
      return found && slotStanding(found);
    },
  },
  kinds: {
    ids: ({ kinds }) => kinds.keys(),
    of: (state, id) => {
      const found = state.kinds.get(id);
      return found && kindStanding(state, found);
    },
  },
};
