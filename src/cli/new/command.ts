/** `rollflex new`: makes a folder with a host, a policy or a trainer that runs and tests itself. */
import { Argument, Command } from 'commander';
import { print } from '../terminal/output.ts';
import { kinds, makeFolder, type NewKind } from './make.ts';

export function newCommand(): Command {
  return new Command('new')
    .addArgument(new Argument('<kind>', 'what it begins with').choices(Object.keys(kinds)))
    .argument('<name>', 'the folder, and the name of its package')
    .addHelpText(
      'after',
      `
host     TypeScript: carries out the commands of tail batching, and tests that it answers each of them
policy   TypeScript: a policy of your own, its laws, and how it does in the simulator
trainer  Python: an asyncio loop that can be killed at any moment and goes on

Examples
  rollflex new host my-host && cd my-host && npm install && npm start && npm test
  rollflex new policy my-policy
  rollflex new trainer my_trainer`,
    )
    .action((kind: NewKind, name: string) => {
      const { files, next } = makeFolder(kind, name);
      print(`${name}: ${files.join(', ')}\nnext: cd ${name} && ${next}`);
    });
}
