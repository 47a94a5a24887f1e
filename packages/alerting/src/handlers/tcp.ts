// tcp: connects for each event and sends it as a line of JSON.
import { tcpHandler } from '@tidemark/pipeline';
import { connect } from 'node:net';
import { InvalidRequest, Unavailable } from '@tidemark/core';
import { parseAddress } from '@tidemark/settings';
import { printEventJson } from '../event.ts';
import { deliver } from '../handler.ts';

export const tcp = deliver(tcpHandler, {
  validate: (options) =>
    options.address === '' ? 'must provide an address, host:port' : undefined,
  send: (event, options, context) =>
    exchangeLine(options.address, `${printEventJson(event)}\n\n`, context.signal).then(
      () => undefined,
    ),
});

/**
 * Connects, sends, half-closes and returns the answer of the other side until it closes. Rejects
 * with `Unavailable` on failure.
 */
export function exchangeLine(address: string, line: string, signal: AbortSignal): Promise<string> {
  const target = parseAddress(address);
  if (target === undefined) {
    return Promise.reject(
      new InvalidRequest(`invalid address, expected host:port. address=\`${address}\``),
    );
  }
  return new Promise((resolve, reject) => {
    const socket = connect({ host: target.host, port: target.port, signal });
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      if (answer.length < 65_536) answer += text;
    });
    socket.on('end', () => resolve(answer));
    socket.on('error', (cause) =>
      reject(new Unavailable(`${address}: ${cause.message}`, { cause })),
    );
    socket.end(line);
  });
}
