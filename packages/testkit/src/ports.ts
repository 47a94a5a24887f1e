// Ports for programs of tests that cannot choose one themselves.
import { freePorts } from '@tidemark/process';

/** A port of loopback that nobody listens on, and that the system gives to nobody by itself. */
export async function freePort(transport: 'tcp' | 'udp' = 'tcp'): Promise<number> {
  const [port = 0] = await freePorts(1, transport);
  return port;
}
