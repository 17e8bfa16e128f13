/** Answers that a model might give to "print the sum of the numbers up to n". */

/** A test case. */
export const test = { input: '1000', expected: '500500' };

/** The answers, by what is the matter with them. Each is the source of a Node program. */
export const programs = {
  correct: 'let sum = 0; for (let i = 1; i <= Number(process.argv[1]); i += 1) sum += i; console.log(sum);',
  formula: 'const n = Number(process.argv[1]); console.log((n * (n + 1)) / 2);',
  wrong: 'let sum = 0; for (let i = 1; i < Number(process.argv[1]); i += 1) sum += i; console.log(sum);',
  failing: 'console.log(total);',
  endless: 'let sum = 0; for (let i = 1; i > 0; i += 1) sum += i % 7; console.log(sum);',
  // What the kernel does to a process when the machine is out of memory.
  outOfMemory: 'process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000);',
} as const;

/** Which answer. */
export type Answer = keyof typeof programs;
