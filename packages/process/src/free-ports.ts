// Free ports for programs that cannot choose one themselves.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * Different free ports of loopback. They are below the range that the system assigns to outgoing
 * connections and to servers without a fixed port, so neither can take one before its process
 * listens.
 */
export async function freePorts(
  count: number,
  transport: 'tcp' | 'udp' = 'tcp',
): Promise<readonly number[]> {
  const isFree = transport === 'tcp' ? isFreeTcp : isFreeUdp;
  const end = firstEphemeralPort();
  const start = Math.max(FIRST_UNPRIVILEGED_PORT, end - PORTS_CHOSEN_FROM);
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(start, end);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

const FIRST_UNPRIVILEGED_PORT = 1024;

const PORTS_CHOSEN_FROM = 20_000;

/** Start of the range from which Linux assigns ports; other systems start no lower. */
function firstEphemeralPort(): number {
  const usual = 32_768;
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
  } catch {
    // Another system, or one without this file.
    return usual;
  }
}

function isFreeTcp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function isFreeUdp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => socket.close(() => resolve(false)));
    socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
  });
}
