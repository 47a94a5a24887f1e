// The reachability of the API: the address that it listens on, and the conditions for listening
// there.
import { assert, InvalidRequest } from '@tidemark/core';
import { isLoopback } from '@tidemark/process';
import { parseAddress } from '@tidemark/settings';
import type { EngineConfig } from './config.ts';

/** Host and port of a configured address; `:9092` means all interfaces. */
export function listenAddress(text: string): { readonly host: string; readonly port: number } {
  const address = parseAddress(text);
  assert(address !== undefined, 'the address was checked with the configuration');
  return { host: text.startsWith(':') ? '0.0.0.0' : address.host, port: address.port };
}

/** Whether only this machine or authenticated users can reach the API. */
export function isTrusted(config: EngineConfig): boolean {
  const { host } = listenAddress(config.http.bindAddress);
  return config.http.authEnabled || isLoopback(host);
}

/**
 * Handlers may run programs and write files: an engine must not be reachable from elsewhere without
 * authentication by accident. Throws `InvalidRequest`.
 */
export function checkExposure(config: EngineConfig): void {
  if (isTrusted(config) || config.http.insecureNoAuth) return;
  throw new InvalidRequest(
    `refusing to listen on ${config.http.bindAddress} without authentication; set http.auth-enabled = true, listen on 127.0.0.1, or insist with --insecure-no-auth`,
  );
}
