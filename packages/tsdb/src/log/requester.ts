// The client of a request, for logs.

export type Requester = {
  readonly requestId: string;
  /** Address of the client, without port. */
  readonly remoteAddress: string;
  /** Empty when it is unknown. */
  readonly userName: string;
  readonly path: string;
};
