// What logs say about the client of a request.

export type Requester = {
  readonly requestId: string;
  /** Address of the client, without port. */
  readonly remoteAddress: string;
  /** Empty when it is not known. */
  readonly userName: string;
  readonly path: string;
};
