/** Reads the prompts of vLLM's routes. */
import type { Prompt } from '../engine/prompts/prompt.ts';
import { Fields, isTokenIds, refuseField } from '../http/fields.ts';
import { type Json, refuse } from '../http/http.ts';

/** Returns the prompts of `/v1/completions`: a text, token ids, or a list of either. */
export function completionPrompts(body: Json): Prompt[] {
  const { prompt = null } = body;
  if (prompt === null || prompt === '') {
    return refuse('Either prompt or prompt_embeds must be provided and non-empty.', 400, { param: 'prompt' });
  }
  if (typeof prompt === 'string') return [{ text: prompt }];
  if (isTokenIds(prompt)) return [{ tokenIds: prompt }];
  if (!Array.isArray(prompt)) return refuseField('prompt', 'a text, token ids, or a list of these', prompt);
  if (prompt.length === 0) return refuse('prompt: expected a list that is not empty');
  return prompt.map((one: unknown): Prompt => {
    if (typeof one === 'string') return { text: one };
    return isTokenIds(one)
      ? { tokenIds: one }
      : refuseField('prompt', 'a list of texts, or of lists of token ids', prompt);
  });
}

/** Returns the prompt of `/v1/chat/completions`: the contents of its messages. */
export function chatPrompt(body: Json): Prompt {
  const { messages } = body;
  if (!Array.isArray(messages)) return refuseField('messages', 'a list of messages', messages);
  if (messages.length === 0) return refuse('messages: expected a list that is not empty');
  return { text: messages.map((one, at) => contentOf(one, at)).join('\n'), joint: '\n' };
}

function contentOf(message: unknown, at: number): string {
  const path = `messages.${at}`;
  if (typeof message !== 'object' || message === null) return refuseField(path, 'an object', message);
  const fields = new Fields(message as Json, `${path}.`);
  if (fields.string('role') === undefined) refuseField(`${path}.role`, 'a string', undefined);
  const content = fields.raw('content');
  if (content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return refuseField(`${path}.content`, 'a text, or a list of parts', content);
  return content
    .map((part) => (part as { text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join('');
}
