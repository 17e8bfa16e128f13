/**
 * A client in a process of its own, which can be stopped and killed. Its parent says over IPC what to call; it reports
 * each answer with the times, in nanoseconds of the clock that all processes share.
 */
import { connect } from 'node:net';

const now = () => Number(process.hrtime.bigint());
const waiting = new Map();
let socket;
/** A connection on which nothing more is sent. */
let ended;
let rest = '';
let token;

function gone(from) {
  if (socket !== from) return;
  socket = undefined;
  const lost = [...waiting].map(([id, one]) => ({ id, from: one, isLost: true }));
  waiting.clear();
  process.send([...lost, { gone: true }]);
}

function read(text) {
  const to = now();
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  const reports = [];
  for (const line of lines) {
    const { id, method, params, result, error } = JSON.parse(line);
    if (method !== undefined) reports.push({ method, params, to });
    else if (id === 0) reports.push({ isConnected: true });
    else {
      const [oldest] = waiting.keys();
      reports.push({ id, from: waiting.get(id), to, result, error, isEarly: id !== oldest });
      waiting.delete(id);
    }
  }
  if (reports.length > 0) process.send(reports);
}

function open({ address, token: shown }) {
  const made = connect(address);
  [socket, rest, token] = [made, '', shown];
  made.setEncoding('utf8').on('data', (text) => socket === made && read(text));
  made.on('error', () => undefined).on('close', () => gone(made));
  made.on('connect', () => {
    if (token === undefined) process.send([{ isConnected: true }]);
    else made.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'server.authenticate', params: { token } })}\n`);
  });
}

/** Calls that are sent together go out in one write. */
function send({ calls, leaving }) {
  const from = now();
  const lines = calls.map(({ id, method, params }) => {
    waiting.set(id, from);
    return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  });
  if (socket === undefined || socket === ended) {
    process.send(calls.map(({ id }) => ({ id, from, isLost: true })));
    for (const { id } of calls) waiting.delete(id);
    return;
  }
  const text = lines.join('');
  const made = socket;
  if (leaving === 'end in the middle')
    made.write(text.slice(0, -1 - Math.floor(lines.at(-1).length / 2)), () => made.destroy());
  else if (leaving === 'leave') made.write(text, () => made.destroy());
  else if (leaving === 'half-close') (ended = made).end(text);
  else made.write(text);
}

process.on('message', (message) => {
  if (message.calls !== undefined) send(message);
  else if (message.address !== undefined) open(message);
  else socket?.destroy();
});
process.on('disconnect', () => process.exit());
