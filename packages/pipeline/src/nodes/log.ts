// log: writes every point or batch to the task's log.

export type LogOptions = { readonly level: string; readonly prefix: string };
