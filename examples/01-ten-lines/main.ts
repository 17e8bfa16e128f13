import assert from 'node:assert/strict';
import { create, tailBatching } from 'rollflex';

const tail = create(tailBatching, { promptsPerRound: 1, responsesPerPrompt: 2, promptSpeculation: 2 });
const prompts = [{ promptId: 'quick' }, { promptId: 'slow' }];
tail.on('decision', ({ type, reason }) => console.log(type, reason.code));
tail.send({ type: 'round.requested', at: 0, roundId: 'step-1', weightVersion: 1 });
tail.send({ type: 'prompts.supplied', at: 0, roundId: 'step-1', prompts });
tail.send({ type: 'response.completed', at: 4, requestId: 'quick/0#0', tokens: 310 });
const last = tail.send({ type: 'response.completed', at: 5, requestId: 'quick/1#0', tokens: 420 });
assert(last.some((one) => one.type === 'prompt.deferred' && one.prompt.promptId === 'slow'));
