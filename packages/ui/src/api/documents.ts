// Documents of the service that stores them: the database, or the engine if it runs alone.
import type { DocumentClient } from '@tidemark/client';

import { engine, tsdb } from './clients.ts';
import { services } from './connection.ts';

export function documents(): DocumentClient {
  return services.tsdb.value.state === 'absent' ? engine.documents : tsdb.documents;
}

/** An id for a new document: its title, made unique. */
export function newId(title: string): string {
  const words = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 60);
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return `${words === '' ? 'untitled' : words}-${number.toString(36)}`;
}
