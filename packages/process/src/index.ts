// Public face of @tidemark/process: what a process is on its machine. Needs Node.
export { lockDirectory } from './directory-lock.ts';
export type { DirectoryLock } from './directory-lock.ts';
export { bindUrl, isLoopback, listenError, parseBind } from './http/bind-address.ts';
export type { Bind } from './http/bind-address.ts';
export { BorderGuard, isFromBrowser } from './http/border.ts';
export type { BorderRefusal, BorderSettings } from './http/border.ts';
export { PAGE_KEY_HEADER } from './http/client-address.ts';
export { LoginThrottle } from './http/login-throttle.ts';
export { discardBody, receiveBody, unpackedBytes } from './http/request-body.ts';
export type { Allocate } from './http/request-body.ts';
export { collectAll, collectWhenIdle, YoungBuffers } from './idle-collection.ts';
export { makeDirectory } from './make-directory.ts';
export { narrowAndTell, PRIVATE_DIRECTORY, PRIVATE_FILE } from './private-files.ts';
export { countCpuFromStart } from './process-cpu.ts';
export { startProgram } from './start-program.ts';
export { startThread } from './thread.ts';
