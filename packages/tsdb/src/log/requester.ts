// What logs tell of the request that something happened with.

export type Requester = {
  readonly requestId: string;
  /** Address of the client, without port. */
  readonly remoteAddress: string;
  /** Empty when it is not known. */
  readonly userName: string;
  readonly path: string;
};
