/** Runs every example, or those that are named, and compares what it prints with what its page says; exits with 1 if one fails. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { exampleList, printed } from '../scripts/example-list.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const named = process.argv.slice(2);
const examples = exampleList().filter(
  ({ name }) => existsSync(`${folder}${name}/main.ts`) && (named.length === 0 || named.includes(name)),
);

interface Run {
  readonly isWell: boolean;
  readonly output: string;
}

/** What starts processes, or ends its own, has a process of its own. */
function isAlone(name: string): boolean {
  const files = readdirSync(folder + name).filter((file) => file.endsWith('.ts'));
  return files.some((file) => /node:child_process|\bprocess\./.test(readFileSync(`${folder}${name}/${file}`, 'utf8')));
}

function inProcess(main: string): Run {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', main], { encoding: 'utf8' });
  return { isWell: status === 0, output: status === 0 ? stdout : stdout + stderr };
}

/** The others share this one, which loads the package once. */
async function here(main: string): Promise<Run> {
  const { write } = process.stdout;
  let output = '';
  process.stdout.write = ((text: string) => {
    output += text;
    return true;
  }) as typeof write;
  try {
    await import(pathToFileURL(main).href);
    return { isWell: true, output };
  } catch (error) {
    return { isWell: false, output: `${output}${inspect(error)}\n` };
  } finally {
    process.stdout.write = write;
  }
}

let failed = 0;
for (const { name, prints } of examples) {
  const main = `${folder}${name}/main.ts`;
  const { isWell, output } = isAlone(name) ? inProcess(main) : await here(main);
  const isAsSaid = prints === undefined || printed(prints, output);
  const passed = isWell && isAsSaid;
  console.log(`${passed ? 'passed' : 'FAILED'} ${name}`);
  if (passed) continue;
  failed += 1;
  console.error(output);
  if (!isAsSaid) console.error(`its page says that it prints:\n${prints}`);
}
console.log(`${examples.length - failed} of ${examples.length} examples passed`);
if (failed > 0 || examples.length === 0) process.exitCode = 1;
