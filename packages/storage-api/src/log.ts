// Where storage reports what happens in the background.
export type LogLevel = 'info' | 'warn' | 'error';

export type StorageLog = (
  level: LogLevel,
  message: string,
  details?: Readonly<Record<string, unknown>>,
) => void;
