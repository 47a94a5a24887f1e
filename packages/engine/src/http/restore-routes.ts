// /storage/restore: receives a backup of the engine in pieces that each fit a request, and restarts
// the engine with it.
import { InvalidRequest } from '@tidemark/core';
import type { RestoreControl } from '../restartable.ts';
import type { RestoreUpload } from '../store/restore-upload.ts';
import type { Api } from './api.ts';

export type Restore = RestoreControl & { readonly upload: RestoreUpload };

const PATH = '/storage/restore';

/**
 * GET returns the result of the last restore. POST begins one and returns its id; PUT with `id`
 * uploads a piece; POST with `id` finishes, and the engine restarts; DELETE with `id` cancels.
 */
export function addRestoreRoutes(api: Api, restore: Restore | undefined): void {
  const needed = (): Restore => {
    if (restore !== undefined) return restore;
    throw new InvalidRequest(
      'the instances of a cluster share their data; it cannot be restored while they run',
    );
  };
  api.on('GET', PATH, () => ({ status: 200, json: restore?.state() ?? { state: 'none' } }));
  api.on('POST', PATH, async ({ query }) => {
    const { upload, restart } = needed();
    const id = query.get('id');
    if (id === '') return { status: 201, json: { id: await upload.open() } };
    const entries = await upload.finish(id);
    // This answer is sent before the server closes.
    restart();
    return { status: 202, json: { state: 'restarting', entries } };
  });
  api.on('PUT', PATH, async ({ query, body }) => {
    await needed().upload.write(query.get('id'), body);
    return { status: 204 };
  });
  api.on('DELETE', PATH, async ({ query }) => {
    await needed().upload.abandon(query.get('id'));
    return { status: 204 };
  });
}
