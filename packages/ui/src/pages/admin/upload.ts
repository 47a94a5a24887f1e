// Uploads a file in pieces, as both services receive backups: started, sent, finished or cancelled.
import type { tsdb } from '../../api/clients.ts';

type Http = typeof tsdb.http;

/** Far below the limit of a request, large compared to a round trip. */
const PIECE_BYTES = 4 << 20;

/** Sends files one after another; returns the service's final answer. */
export async function upload<T>(
  http: Http,
  files: readonly Blob[],
  options: {
    readonly path: string;
    /** Parameters of the first request. */
    readonly search?: Readonly<Record<string, string | undefined>>;
    readonly signal: AbortSignal;
    readonly tell: (progress: { readonly doneBytes: number; readonly totalBytes: number }) => void;
  },
): Promise<T> {
  const { path, search = {}, signal, tell } = options;
  const { id } = await http.json<{ readonly id: string }>(path, { method: 'POST', search, signal });
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  let doneBytes = 0;
  try {
    for (const file of files) {
      for (let at = 0; at < file.size; at += PIECE_BYTES) {
        const body = new Uint8Array(await file.slice(at, at + PIECE_BYTES).arrayBuffer());
        await http.send(path, { method: 'PUT', search: { id }, body, signal });
        doneBytes += body.length;
        tell({ doneBytes, totalBytes });
      }
    }
    return await http.json<T>(path, { method: 'POST', search: { id }, signal });
  } catch (error) {
    // The user needs the original error; the server cleans up what is left by itself.
    await http.sendRaw(path, { method: 'DELETE', search: { id } }).catch(() => undefined);
    throw error;
  }
}
