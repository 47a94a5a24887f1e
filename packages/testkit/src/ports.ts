// Ports for programs of tests that cannot choose one themselves.
import { freePorts } from '@tidemark/process';

/** A free port of loopback that the system does not assign by itself. */
export async function freePort(transport: 'tcp' | 'udp' = 'tcp'): Promise<number> {
  const [port = 0] = await freePorts(1, transport);
  return port;
}
