// `[deadman]` of the configuration.

/** With `isGlobal` the source of every task gets a deadman. */
export type DeadmanConfig = {
  readonly id: string;
  readonly message: string;
  readonly intervalNanos: bigint;
  readonly threshold: number;
  readonly isGlobal: boolean;
};

export const DEFAULT_DEADMAN: DeadmanConfig = {
  id: "{{ .Group }}:NODE_NAME for task '{{ .TaskName }}'",
  message:
    '{{ .ID }} is {{ if eq .Level "OK" }}alive{{ else }}dead{{ end }}: {{ index .Fields "emitted" | printf "%0.3f" }} points/INTERVAL.',
  intervalNanos: 10_000_000_000n,
  threshold: 0,
  isGlobal: false,
};
