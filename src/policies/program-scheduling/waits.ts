/** What blocks what in program-scheduling: turns wait for their engines, tools for their environments, the rest for room. */
import type { AwaitedEvent, Gates, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { deadlines } from './admission.ts';
import type { Program, ProgramState } from './state.ts';

/** The room on engines, for which programs wait. All engines are one thing here, because each running program may make room. */
const rooms: readonly HeldThing[] = Object.freeze([{ what: 'room', id: 'engines' }]);

/** What makes room: the programs that occupy it now, or an engine, or the timer. */
function* room({ engines, timerAt }: ProgramState): Iterable<HeldThing | AwaitedEvent> {
  let isOpen = false;
  for (const { status } of engines.values()) isOpen ||= status === 'open';
  if (!isOpen) yield { event: { type: 'engine.added' } };
  if (timerAt !== null) yield { event: { type: 'timer.fired', timerId: deadlines.timerId }, dueAt: timerAt };
  for (const { members } of engines.values()) {
    for (const { requestId } of members) yield { what: 'programs', id: requestId };
  }
}

function standing(one: Program): Standing {
  const { requestId, phase, since, engineId, paused, tool, routes } = one;
  const next = (type: string, by?: string): readonly AwaitedEvent[] => [
    { event: { type, requestId }, since, ...(by === undefined ? undefined : { by }) },
  ];
  switch (phase) {
    case 'running':
      return { stands: `runs a turn on engine ${engineId}`, since, for: next('turn.finished', engineId!) };
    case 'asked': {
      const how = paused ? 'is paused, and has asked' : routes === 0 ? 'is held back, and has asked' : 'has asked';
      return { stands: `${how} for a turn`, since, for: rooms };
    }
    case 'tool':
      return { stands: `waits for its tool ${tool}${paused ? ', paused' : ''}`, since, for: next('tool.finished') };
    default:
      return { stands: `is between turns${paused ? ', paused' : ''}`, since, for: next('turn.requested') };
  }
}

/** The end of a program is awaited since its last turn was routed, or since it has continued otherwise. */
export const gates: Gates<ProgramState> = {
  'program.closed': ({ programs }, event) => {
    const program = programs.get(event.requestId as string);
    return program === undefined ? [] : [{ event, since: program.since }];
  },
};

export const waits: Waits<ProgramState> = {
  programs: {
    ids: ({ programs }) => programs.keys(),
    of: (state, id) => {
      const found = state.programs.get(id);
      return found && standing(found);
    },
  },
  room: {
    ids: ({ waitsEnd }) => (waitsEnd.size > 0 ? ['engines'] : []),
    of: (state, id) => (id === 'engines' ? { stands: 'have no room', for: room(state) } : undefined),
  },
};
