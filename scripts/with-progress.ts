/** Runs a command that says nothing for long, and shows that it is at work: `tsx scripts/with-progress.ts building tsup --silent`. */
import { spawn } from 'node:child_process';
import { Progress } from '../src/cli/terminal/progress.ts';

const [text, command, ...args] = process.argv.slice(2);
if (text === undefined || command === undefined) throw new Error('usage: with-progress.ts <what> <command> [args…]');
const progress = new Progress({ text, isQuiet: false });
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
child.once('error', (error) => {
  progress.stop();
  console.error(error.message);
  process.exitCode = 1;
});
child.once('exit', (code) => {
  progress.stop();
  process.exitCode = code ?? 1;
});
