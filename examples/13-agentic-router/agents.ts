/** Agents: programs of turns with tools between them, as clients of OpenAI's API see them. */
import { setTimeout as sleep } from 'node:timers/promises';

/** What one agent does. */
export interface AgentOptions {
  /** Of the engines, or of a router in front of them. */
  readonly url: string;
  readonly turns: number;
  /** Characters that every agent begins with, and that a tool adds. */
  readonly systemCharacters: number;
  readonly toolCharacters: number;
  readonly maxTokens: number;
  readonly toolMs: number;
}

/** What became of it. */
export interface AgentResult {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** Engines of its turns, in order. */
  readonly engines: string[];
}

interface Completion {
  readonly choices: readonly [{ readonly message: { readonly content: string } }];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly prompt_tokens_details: { readonly cached_tokens: number } | null;
  };
}

/** Runs an agent to its end. */
export async function agent(name: string, options: AgentOptions): Promise<AgentResult> {
  const { url, turns, systemCharacters, toolCharacters, maxTokens, toolMs } = options;
  const messages = [
    { role: 'system', content: 'You are an agent. '.padEnd(systemCharacters, '.') },
    { role: 'user', content: `This is the task of ${name}.` },
  ];
  const result = { promptTokens: 0, cachedTokens: 0, engines: [] as string[] };
  for (let turn = 0; turn < turns; turn += 1) {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-program-id': name },
      body: JSON.stringify({ messages, max_tokens: maxTokens, ignore_eos: true }),
    });
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
    const { choices, usage } = (await answer.json()) as Completion;
    result.promptTokens += usage.prompt_tokens;
    result.cachedTokens += usage.prompt_tokens_details?.cached_tokens ?? 0;
    result.engines.push(answer.headers.get('x-engine-id') ?? '');
    messages.push({ role: 'assistant', content: choices[0].message.content });
    messages.push({ role: 'tool', content: `turn ${turn} of ${name}: `.padEnd(toolCharacters, '=') });
    await sleep(toolMs);
  }
  await fetch(`${url}/programs/${encodeURIComponent(name)}`, { method: 'DELETE' });
  return result;
}
