// The interface for modules with endpoints, and their responses.
import type { DataAccess } from '../access/data-access.ts';
import type { RequestUser } from '../access/request.ts';
import type { QueryParams } from '../formats/params.ts';

export type ApiMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request as endpoints see it. */
export type ApiRequest = {
  readonly method: string;
  /** Values of the path's parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryParams;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Path and query as the client sent them, for links to the request itself. */
  readonly url: string;
  /** The start of links to stable and to preview endpoints. */
  readonly base: string;
  readonly preview: string;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  readonly address: string;
  /** The client's user; `undefined` without authentication. */
  readonly user?: RequestUser | undefined;
  /** The data that the client of the request may see. */
  readonly data: DataAccess;
};

/** The response of an endpoint: JSON by default. */
export type ApiResponse =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: number; readonly text: string; readonly contentType: string }
  | {
      readonly status: 200;
      readonly stream: NodeJS.ReadableStream;
      readonly contentType: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly status: 204 };

export type ApiHandler = (request: ApiRequest) => Promise<ApiResponse> | ApiResponse;

/** The interface for modules with endpoints. Paths are relative to the base path. */
export interface Api {
  on(method: ApiMethod, path: string, handler: ApiHandler): void;
  /** The same under the preview base path only. */
  onPreview(method: ApiMethod, path: string, handler: ApiHandler): void;
  /** At the root, outside the base paths. */
  onRoot(method: ApiMethod, path: string, handler: ApiHandler): void;
}
