import { describe, expect, test } from 'vitest';
import { readVisionSources } from '../../../../src/sim/vlm-formulas/workload/sources.ts';
import { readVlmTrace } from '../../../../src/sim/vlm-formulas/workload/trace.ts';

describe('readVlmTrace', () => {
  test('reads text, images and videos; frames and responses are cut', () => {
    const lines = [
      '{"promptTokens":120,"responseTokens":300}',
      '',
      '{"responseTokens":5000,"images":2,"visualTokens":900,"width":1000,"height":500}',
      '{"responseTokens":10,"frames":64}',
      '{"responseTokens":10,"frames":200,"visualTokens":20000}\r',
    ];
    const samples = readVlmTrace(lines.join('\n'), 'mine.jsonl', { maxFrames: 100, capTokens: 1024 });
    const [text, image, video, long] = samples;
    expect(samples).toHaveLength(4);
    expect(text).toEqual({
      kind: 'text',
      textTokens: 120,
      responseTokens: 300,
      frames: 0,
      visualTokens: 0,
      megapixels: 0,
    });
    expect(image).toMatchObject({ kind: 'image', frames: 2, visualTokens: 900, responseTokens: 1024, megapixels: 0.5 });
    expect(video).toMatchObject({ kind: 'video', frames: 64, visualTokens: 64 * 127, megapixels: 2.0736 });
    expect(long).toMatchObject({ frames: 100, visualTokens: 10_000 });
  });

  test.each<[string, string, RegExp]>([
    ['no JSON', 'hello', /^mine:1: expected a JSON object/],
    ['no response', '{"promptTokens":1}', /^mine:1\.responseTokens: expected/],
    ['an unknown field', '{"responseTokens":1,"pixels":3}', /^mine:1\.pixels: expected no other keys/],
    [
      'images without their tokens',
      '{"responseTokens":1,"images":1}',
      /^mine:1\.visualTokens: expected how many tokens/,
    ],
    ['images and frames', '{"responseTokens":1,"images":1,"frames":2,"visualTokens":9}', /images or frames, not both/],
    ['tokens of nothing', '{"responseTokens":1,"visualTokens":9}', /images or frames that have them/],
    ['a negative count', '{"responseTokens":1,"frames":-2}', /^mine:1\.frames: expected number > 0, got -2/],
    ['an empty file', '\n', /^mine: expected at least one sequence, got "none"/],
  ])('refuses %s', (_, line, message) => {
    expect(() => readVlmTrace(line, 'mine')).toThrow(message);
    expect(() => readVlmTrace(line, 'mine')).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});

test('sources name the file and line that is broken', () => {
  expect(() => readVisionSources('{"frames":1,"width":1}', '')).toThrow(/^videos:1\.height: expected/);
  const good = '{"frames":1,"width":1,"height":1,"textTokens":1}';
  expect(() => readVisionSources(good, '{"rps":1}')).toThrow(/^images:1\.image_tokens: expected/);
  expect(() => readVisionSources(good, '')).toThrow(/expected a client with a rate above 0/);
});
