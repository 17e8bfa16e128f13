/** The options of `rollflex serve`, and its help. Options for limits are made from their schema. */
import { Command, Option } from 'commander';
import { z } from 'zod';
import { decisionLogSchema } from '../../logs/write/options.ts';
import { durableSchema } from '../../rpc/durable.ts';
import { limitsSchema } from '../../rpc/methods/limits.ts';
import { between, whole } from '../terminal/arguments.ts';
import { option } from '../terminal/options.ts';
import { runServe, type ServeOptions } from './run.ts';

const explained = `
Protocol
  JSON-RPC 2.0, one message a line (UTF-8), batches allowed. rpc.discover answers with
  the OpenRPC document: methods, events, decisions and settings.

  {"jsonrpc":"2.0","id":1,"method":"session.open","params":{"policy":"tail-batching",
   "config":{"promptsPerRound":2,"responsesPerPrompt":2}}}
  {"jsonrpc":"2.0","id":2,"method":"session.send","params":{"session":"s1","events":[
   {"type":"round.requested","roundId":"r1","weightVersion":1}]}}
  (each on one line)

Who may use it
  --stdio   whoever started it; the server leaves when its input ends
  --socket  the user who started it: only the owner may open the socket
  --port    whoever has the token: the first call of a connection must be
            server.authenticate {"token": …}, any other closes it. The line is not
            encrypted: keep it on the machine, or in a network that you trust.

Examples
  rollflex serve --stdio
  rollflex serve --socket /run/user/1000/rollflex.sock
  rollflex serve --port 7411 --token-file token --metrics-port 9411
  rollflex serve --stdio --state-dir ~/rollflex-state
  rollflex serve --stdio --log-dir ~/rollflex-log
  rollflex serve --stdio --policies ./mine.js    your own definitions, beside those shipped

With --dashboard a page shows who has to act, rounds, engines, rates and refusals; its URL is
printed on standard error. It does not begin --watch, which costs more: without it, what is
overdue is known for as long as the page's server has followed the events.

Sessions are kept in memory, or with --state-dir on disk as well: then what was answered
survives a crash of the server, and the next one with the same directory goes on from it.

With --log-dir events and decisions are written down for rollflex replay, rollflex shadow and
rollflex simulate --from-log; a log that the disk does not take never holds up a session.`;

interface Shape {
  readonly type: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default: number;
  readonly description: string;
}

/** Returns an option for each number of a schema: `maxMessageBytes` as `--max-message-bytes <n>`. */
function numberOptions(schema: z.ZodType): (readonly [option: Option, usual: number])[] {
  const { properties } = z.toJSONSchema(schema, { io: 'input' }) as unknown as { properties: Record<string, Shape> };
  const numbers = Object.entries(properties).filter(([, { type }]) => type === 'integer' || type === 'number');
  return numbers.map(([name, { type, minimum, maximum, default: usual, description }]) => {
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const parser = type === 'integer' ? whole(minimum!, maximum!) : between(0.001, maximum!);
    return [new Option(`--${flag} <n>`, description).argParser(parser), usual];
  });
}

const described = (name: 'fsync' | 'snapshotEvents'): string => durableSchema.shape[name].description!;

export function serveCommand(): Command {
  const command = new Command('serve')
    .option('--stdio', 'serve one client on standard input and output')
    .option('--socket <path>', 'listen at a Unix socket')
    .option('--port <n>', 'listen at a TCP port, 0 for any that is free; needs --token-file', whole(0, 65_535))
    .option('--host <address>', 'address of --port', '127.0.0.1')
    .option(
      '--token-file <file>',
      'a file with the token that clients must show, at least 16 characters; for its owner alone (chmod 600)',
    )
    .option('--state-dir <dir>', 'keep sessions in this directory: what was answered survives a crash')
    .addOption(new Option('--fsync <when>', described('fsync')).choices(['always', 'interval']))
    .option('--snapshot-events <n>', described('snapshotEvents'), whole(1, 10_000_000))
    .option('--log-dir <dir>', 'write events and decisions down in this directory')
    .option(
      '--watch',
      'follow what is owed, for session.why; what is overdue goes to standard error, the log and the metrics',
    )
    .addOption(option('policies'))
    .option('--metrics-port <n>', 'serve GET /metrics (Prometheus) and GET /healthz here', whole(0, 65_535))
    .option('--metrics-host <address>', 'address of --metrics-port', '127.0.0.1')
    .option(
      '--dashboard <port>',
      'a page of the running job, to look at only; 0 for any port that is free',
      whole(0, 65_535),
    )
    .option('--dashboard-host <address>', 'address of --dashboard (default: 127.0.0.1)')
    .option(
      '--dashboard-key-file <file>',
      'a file with the key of the page, which others than this machine need; it only reads (default: a random key in the URL)',
    );
  // These options need --log-dir, and are refused without it: with a default value, nobody would see that an option was given.
  for (const [option, usual] of numberOptions(decisionLogSchema)) {
    option.description = `${option.description} (default: ${usual})`;
    command.addOption(option);
  }
  for (const [option, usual] of numberOptions(limitsSchema)) command.addOption(option.default(usual));
  return command.addHelpText('after', explained).action(async (options: ServeOptions) => {
    await runServe(options);
  });
}
