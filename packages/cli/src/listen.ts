// Binds a server, with readable errors.
import type { Server } from 'node:http';

import { bindUrl, listenError } from '@tidemark/process';
import type { Bind } from '@tidemark/process';

/** Listens; a port in use or forbidden gives a readable error. */
export function listen(server: Server, bind: Bind): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, bind)));
    const place = bind.host === '' ? { port: bind.port } : bind;
    server.listen(place, () => resolve());
  });
}

/** The URL of a listening server on this machine. */
export function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = address !== null && typeof address !== 'string' ? address.port : 0;
  return bindUrl('http', { host, port });
}
