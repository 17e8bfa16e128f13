/** What blocks what in sandbox-timeout: every run waits for its sandbox. */
import type { Waits } from '../../core/why/waits.ts';
import type { TimeoutState } from './state.ts';

export const waits: Waits<TimeoutState> = {
  runs: {
    ids: ({ runs }) => runs.keys(),
    of: ({ runs }, runId) => {
      const found = runs.get(runId);
      return (
        found && {
          stands: `may run in a sandbox for ${found.timeoutSeconds} s`,
          for: [{ event: { type: 'sandbox.finished', runId } }],
        }
      );
    },
  },
};
